"""SurpriseClassifier and the simple methods that it is compared with on made-up shapes and on clumps."""

import numpy as np
from sklearn.covariance import LedoitWolf
from sklearn.metrics import roc_auc_score
from sklearn.neighbors import LocalOutlierFactor, NearestNeighbors
from sklearn.preprocessing import StandardScaler
from timing import table, table_line

from eocc import SurpriseClassifier
from eocc.rivals import RIVALS


class Mahalanobis:
    """Distance from the mean by the covariance of Ledoit and Wolf, in columns of unit variance."""

    def fit(self, X):
        self.scaler = StandardScaler().fit(X)
        self.covariance = LedoitWolf().fit(self.scaler.transform(X))
        return self

    def score_samples(self, X):
        return -self.covariance.mahalanobis(self.scaler.transform(X))


METHODS = {
    "Surprise": SurpriseClassifier,
    "1-NN": RIVALS["1-NN"],
    "Isolation forest": lambda: RIVALS["Isolation forest"](random_state=0),
    "ECOD": RIVALS["ECOD (PyOD)"],
    "Mahalanobis": Mahalanobis,
    "LOF": RIVALS["LOF"],
}


def own_scores(name, model, X):
    """Return the scores of the training rows, higher for normal ones; left out where the method can do it."""
    if name == "1-NN":
        return -NearestNeighbors(n_neighbors=1).fit(X).kneighbors()[0][:, 0]
    if name == "LOF":
        return LocalOutlierFactor().fit(X).negative_outlier_factor_
    return model.score_samples(X)  # SurpriseClassifier leaves them out


def result(training, normal_rows, outliers, methods, is_outlier=None):
    """Return the AUC of each method, and the false alarms of SurpriseClassifier.

    The AUC is that of new rows; or of the training rows, if `is_outlier` says which of them are outliers.
    """
    aucs, rows = [], np.vstack([normal_rows, outliers])
    y = np.repeat([1, 0], [len(normal_rows), len(outliers)]) if is_outlier is None else ~is_outlier
    for name in methods:
        model = METHODS[name]().fit(training)
        scores = model.score_samples(rows) if is_outlier is None else own_scores(name, model, training)
        aucs.append(roc_auc_score(y, scores))
        if name == "Surprise":
            alarms = (model.predict(normal_rows) == -1).mean()
    return [*aucs, alarms]


def head(what, methods):
    return table([[what, *methods, "best", "false alarms at 0.05"]])


def line(name, values, methods):
    best = methods[int(np.argmax(values[:-1]))]
    return table_line([name, *(f"{auc:.3f}" for auc in values[:-1]), best, f"{values[-1]:.3f}"])
