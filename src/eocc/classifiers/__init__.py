"""The one-class classifiers behind scikit-learn's interface. One file per classifier, one row here."""

from eocc.foundation.registry import Registry

CLASSIFIERS = Registry(
    "eocc.classifiers",
    {
        "EntropicOneClassClassifier": "entropic.EntropicOneClassClassifier",
        "SurpriseClassifier": "surprise.SurpriseClassifier",
    },
)
