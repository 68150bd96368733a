"""The one-class classifiers behind scikit-learn's interface. One file per classifier, one row here."""

from eocc.base.registry import Registry

CLASSIFIERS = Registry(
    "eocc.classifiers",
    {
        "EntropicOneClassClassifier": "entropic.EntropicOneClassClassifier",
        "RegionClassifier": "regions.RegionClassifier",
        "SurpriseClassifier": "surprise.SurpriseClassifier",
    },
)
# The methods by the names of the command line and of the PyOD adapter: the class, and the arguments that are fixed.
METHODS: dict[str, tuple[str, dict[str, str]]] = {
    "surprise": ("SurpriseClassifier", {}),
    "regions": ("RegionClassifier", {}),
    "eocc-1": ("EntropicOneClassClassifier", {"synthesis": "entropy"}),
    "eocc-2": ("EntropicOneClassClassifier", {"synthesis": "validation"}),
}
