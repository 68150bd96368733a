"""Other one-class classifiers: those of the published comparison, and those in use today.

Each is a scikit-learn outlier detector: fit(X) on targets, score_samples (higher = more normal), predict (+1 or -1),
and `rejection_rate`, the share of training targets that the threshold may reject. `RIVALS` lists them by the names in
the published tables.
"""

from eocc.base.registry import Registry

RIVALS = Registry(
    "eocc.rivals",
    {
        "Gauss": "densities.Gauss",
        "MoG": "densities.MixtureOfGaussians",
        "Naive Parzen": "densities.NaiveParzen",
        "Parzen": "densities.Parzen",
        "k-Means": "reconstructions.KMeansDescription",
        "1-NN": "neighbours.NearestNeighbour",
        "k-NN": "neighbours.KNearestNeighbours",
        "Auto-encoder": "reconstructions.AutoEncoder",
        "PCA": "reconstructions.PrincipalComponents",
        "SOM": "reconstructions.SelfOrganisingMap",
        "MST_CD": "neighbours.SpanningTreeDescription",
        "k-Centres": "reconstructions.KCentres",
        "SVDD": "boundaries.SupportVectorDescription",
        "MPM": "boundaries.MinimaxProbabilityMachine",
        "LPDD": "boundaries.LinearProgrammingDescription",
        "CHAMELEON": "reconstructions.ChameleonDescription",
        "One-class SVM": "boundaries.OneClassSupportVectorMachine",
        "Isolation forest": "boundaries.IsolationForestRival",
        "LOF": "neighbours.LocalOutlierFactorRival",
        "Robust covariance": "densities.RobustCovariance",
        "KNN (PyOD)": "neighbours.PyodKNN",
        "ECOD (PyOD)": "densities.PyodECOD",
        "GEM": "neighbours.GeometricEntropyMinimisation",
    },
)
__getattr__, __all__ = RIVALS.exports("base.DistanceRival", "base.Rival")
