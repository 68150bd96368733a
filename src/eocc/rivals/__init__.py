"""Other one-class classifiers: those of the published comparison, and those in use today.

Each is a scikit-learn outlier detector: fit(X) on targets, score_samples (higher = more normal), predict (+1 or -1),
and `rejection_rate`, the share of training targets that the threshold may reject. `RIVALS` lists them by the names in
the published tables.
"""

from eocc.foundation.registry import Registry

RIVALS = Registry(
    "eocc.rivals",
    {
        "Gauss": "gauss.Gauss",
        "MoG": "mixture_of_gaussians.MixtureOfGaussians",
        "Naive Parzen": "naive_parzen.NaiveParzen",
        "Parzen": "parzen.Parzen",
        "k-Means": "k_means.KMeansDescription",
        "1-NN": "nearest_neighbour.NearestNeighbour",
        "k-NN": "k_nearest_neighbours.KNearestNeighbours",
        "Auto-encoder": "auto_encoder.AutoEncoder",
        "PCA": "principal_components.PrincipalComponents",
        "SOM": "self_organising_map.SelfOrganisingMap",
        "MST_CD": "spanning_tree_description.SpanningTreeDescription",
        "k-Centres": "k_centres.KCentres",
        "SVDD": "support_vector_description.SupportVectorDescription",
        "MPM": "minimax_probability_machine.MinimaxProbabilityMachine",
        "LPDD": "linear_programming_description.LinearProgrammingDescription",
        "CHAMELEON": "chameleon.ChameleonDescription",
        "One-class SVM": "one_class_svm.OneClassSupportVectorMachine",
        "Isolation forest": "isolation_forest.IsolationForestRival",
        "LOF": "local_outlier_factor.LocalOutlierFactorRival",
        "Robust covariance": "robust_covariance.RobustCovariance",
        "KNN (PyOD)": "pyod_knn.PyodKNN",
        "ECOD (PyOD)": "pyod_ecod.PyodECOD",
        "GEM": "geometric_entropy.GeometricEntropyMinimisation",
    },
)
__getattr__, __all__ = RIVALS.exports("base.DistanceRival", "base.Rival")
