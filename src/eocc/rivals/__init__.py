"""The rivals: the other one-class classifiers of the published comparison, and those in use today.

Each is a scikit-learn outlier estimator: fit(X) on targets, score_samples higher = more normal, predict +1 or -1, and
`rejection_rate`, the fraction of training targets that the threshold may reject. `RIVALS` holds them by the names of
the published tables.
"""

from eocc.rivals.auto_encoder import AutoEncoder
from eocc.rivals.base import DistanceRival, Rival
from eocc.rivals.chameleon import ChameleonDescription
from eocc.rivals.gauss import Gauss
from eocc.rivals.isolation_forest import IsolationForestRival
from eocc.rivals.k_centres import KCentres
from eocc.rivals.k_means import KMeansDescription
from eocc.rivals.k_nearest_neighbours import KNearestNeighbours
from eocc.rivals.linear_programming_description import LinearProgrammingDescription
from eocc.rivals.local_outlier_factor import LocalOutlierFactorRival
from eocc.rivals.minimax_probability_machine import MinimaxProbabilityMachine
from eocc.rivals.mixture_of_gaussians import MixtureOfGaussians
from eocc.rivals.naive_parzen import NaiveParzen
from eocc.rivals.nearest_neighbour import NearestNeighbour
from eocc.rivals.one_class_svm import OneClassSupportVectorMachine
from eocc.rivals.parzen import Parzen
from eocc.rivals.principal_components import PrincipalComponents
from eocc.rivals.pyod_ecod import PyodECOD
from eocc.rivals.pyod_knn import PyodKNN
from eocc.rivals.robust_covariance import RobustCovariance
from eocc.rivals.self_organising_map import SelfOrganisingMap
from eocc.rivals.spanning_tree_description import SpanningTreeDescription
from eocc.rivals.support_vector_description import SupportVectorDescription

__all__ = [
    "RIVALS",
    "AutoEncoder",
    "ChameleonDescription",
    "DistanceRival",
    "Gauss",
    "IsolationForestRival",
    "KCentres",
    "KMeansDescription",
    "KNearestNeighbours",
    "LinearProgrammingDescription",
    "LocalOutlierFactorRival",
    "MinimaxProbabilityMachine",
    "MixtureOfGaussians",
    "NaiveParzen",
    "NearestNeighbour",
    "OneClassSupportVectorMachine",
    "Parzen",
    "PrincipalComponents",
    "PyodECOD",
    "PyodKNN",
    "Rival",
    "RobustCovariance",
    "SelfOrganisingMap",
    "SpanningTreeDescription",
    "SupportVectorDescription",
]

RIVALS: dict[str, type[Rival]] = {
    "Gauss": Gauss,
    "MoG": MixtureOfGaussians,
    "Naive Parzen": NaiveParzen,
    "Parzen": Parzen,
    "k-Means": KMeansDescription,
    "1-NN": NearestNeighbour,
    "k-NN": KNearestNeighbours,
    "Auto-encoder": AutoEncoder,
    "PCA": PrincipalComponents,
    "SOM": SelfOrganisingMap,
    "MST_CD": SpanningTreeDescription,
    "k-Centres": KCentres,
    "SVDD": SupportVectorDescription,
    "MPM": MinimaxProbabilityMachine,
    "LPDD": LinearProgrammingDescription,
    "CHAMELEON": ChameleonDescription,
    "One-class SVM": OneClassSupportVectorMachine,
    "Isolation forest": IsolationForestRival,
    "LOF": LocalOutlierFactorRival,
    "Robust covariance": RobustCovariance,
    "KNN (PyOD)": PyodKNN,
    "ECOD (PyOD)": PyodECOD,
}
