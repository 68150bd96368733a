"""What answers from a person are worth: asked rows against random ones, and against other detectors that ask.

    pip install 'eocc[bench,plot]'
    python benchmarks/asking.py results [--sets 24] [--repetitions 4]    a file per set and repetition, then tables
    python benchmarks/asking.py results --tables docs/images/asking.png  the tables of docs/guides/asking.md, and its
picture

The sets are those of `further_sets.py` with enough rows. Of the constants only the reach of an answer and the ridge of
the regression were chosen with a look at them. Half of the normal rows train, at most 400. A quarter, at most 270, and
outliers make the pool, 10 % of which are outliers. The rest tests. Answers are the true labels. Files that are there
already are kept, so that a run can be continued.
"""

import argparse
import json
import warnings
from pathlib import Path

import numpy as np
from coniferest.aadforest import AADForest
from coniferest.label import Label
from coniferest.pineforest import PineForest
from further_sets import tables as read_tables
from sklearn.cluster import KMeans
from sklearn.ensemble import HistGradientBoostingClassifier, IsolationForest, RandomForestClassifier
from sklearn.linear_model import LogisticRegression
from sklearn.metrics import roc_auc_score
from sklearn.svm import SVC
from timing import table

from eocc import SurpriseClassifier

BUDGETS = (5, 10, 20, 40)
ROUND = 5  # forests, and the model that is asked in rounds, learn after so many answers
SHARE, MOST_TRAINING, MOST_POOL, MOST_TEST = 0.1, 400, 270, 500
LEAST_TRAINING, LEAST_POOL_OUTLIERS = 40, 3
WRONG = 0.1
N_KNOWN = 100


class Task:
    """Rows that train, a pool, and rows that test; `kinds` splits the outliers of pool and test into two groups."""

    def __init__(self, X, is_normal, repetition):
        self.rng = np.random.default_rng([repetition, len(X)])
        normal, outliers = (self.rng.permutation(np.flatnonzero(which)) for which in (is_normal, ~is_normal))
        n = min(MOST_TRAINING, len(normal) // 2)
        m = min(MOST_POOL, (len(normal) - n) // 2)
        k = min(round(m * SHARE / (1 - SHARE)), len(outliers) // 3)
        self.training, self.normal_test = X[normal[:n]], X[normal[n + m :][:MOST_TEST]]
        self.pool, self.is_normal = X[np.append(normal[n : n + m], outliers[:k])], np.repeat([True, False], [m, k])
        self.outlier_test = X[outliers[k:][:MOST_TEST]]
        self.is_large_enough = n >= LEAST_TRAINING and k >= LEAST_POOL_OUTLIERS

    def auc(self, score):
        """Return the AUC of a function that is higher for outliers, on the test rows."""
        y = np.repeat([0, 1], [len(self.normal_test), len(self.outlier_test)])
        return float(roc_auc_score(y, score(np.vstack([self.normal_test, self.outlier_test]))))

    def with_new_kind(self):
        """Return whether the outliers split into two groups; the pool then holds one of them, the test the other."""
        groups = KMeans(2, n_init=5, random_state=0).fit_predict(
            self.scaled(np.vstack([self.pool[~self.is_normal], self.outlier_test]))
        )
        k = int((~self.is_normal).sum())
        common = np.bincount(groups[:k], minlength=2).argmax()
        kept = np.append(np.flatnonzero(self.is_normal), np.flatnonzero(~self.is_normal)[groups[:k] == common])
        self.pool, self.is_normal = self.pool[kept], self.is_normal[kept]
        self.outlier_test = self.outlier_test[groups[k:] != common]
        return len(self.outlier_test) >= 10

    def scaled(self, rows):
        scale = self.training.std(axis=0)
        return np.clip((rows - self.training.mean(axis=0)) / np.where(scale > 0, scale, 1.0), -20, 20)


def answers_of(task, asked, wrong):
    """Return the answers to the pool's rows `asked`: True for normal; some are wrong if `wrong` says so."""
    return task.is_normal[asked] ^ wrong[asked]


# Every method yields a function that scores rows, higher for outliers, after each of BUDGETS answers.
def asked_at_once(task, clf, wrong):
    for budget in BUDGETS:
        yield taught(task, clf, np.array([query.index for query in clf.queries(task.pool, budget)]), wrong)


def asked_in_rounds(task, clf, wrong):
    asked, model = np.empty(0, int), clf
    while len(asked) < max(BUDGETS):
        left = np.setdiff1d(np.arange(len(task.pool)), asked)
        new = [left[query.index] for query in model.queries(task.pool[left], ROUND)] if len(left) else []
        asked = np.append(asked, np.array([*new, *np.setdiff1d(left, new)[: ROUND - len(new)]], int))
        model = taught(task, clf, asked, wrong).model
        if len(asked) in BUDGETS or not len(left):
            yield Scorer(model)
        if not len(left):
            asked = np.zeros(max(BUDGETS))


def in_order(order_of):
    """Return a method that asks the first rows of an order of the pool."""

    def method(task, clf, wrong):
        order = order_of(task, clf)
        for budget in BUDGETS:
            yield taught(task, clf, order[:budget], wrong)

    return method


class Scorer:
    """A taught model's scores, higher for outliers."""

    def __init__(self, model):
        self.model = model

    def __call__(self, rows):
        return -self.model.decision_function(rows)


def taught(task, clf, asked, wrong):
    return Scorer(clf.teach(task.pool[asked], answers_of(task, asked, wrong)))


def by_forest(task, clf, wrong):
    """A random forest asks where it is least sure; before it knows an outlier, an isolation forest asks."""
    asked, Z = np.empty(0, int), task.scaled(task.pool)
    unlabelled = IsolationForest(random_state=0).fit(task.scaled(task.training))
    score, forest = (lambda rows: -unlabelled.score_samples(task.scaled(rows))), None
    while len(asked) < min(max(BUDGETS), len(Z)):
        sure = unlabelled.score_samples(Z) if forest is None else np.abs(forest.predict_proba(Z)[:, 1] - 0.5)
        sure[asked] = np.inf
        asked = np.append(asked, np.argsort(sure, kind="stable")[:ROUND])
        y = ~answers_of(task, asked, wrong)
        if y.any():
            forest = RandomForestClassifier(100, class_weight="balanced", random_state=0)
            forest.fit(np.vstack([task.scaled(task.training), Z[asked]]), np.append(np.zeros(len(task.training)), y))
            score = lambda rows, forest=forest: forest.predict_proba(task.scaled(rows))[:, 1]  # noqa: E731
        if len(asked) in BUDGETS:
            yield score


def by_conifers(kind):
    """Return a method that asks the strangest rows by a forest of coniferest, which learns from the answers."""

    def method(task, clf, wrong):
        asked, data = np.empty(0, int), np.vstack([task.training, task.pool])
        forest = kind(n_jobs=1, random_seed=0).fit(data)
        while len(asked) < min(max(BUDGETS), len(task.pool)):
            normality = forest.score_samples(task.pool)
            normality[asked] = np.inf
            asked = np.append(asked, np.argsort(normality, kind="stable")[:ROUND])
            labels = np.where(answers_of(task, asked, wrong), Label.R, Label.A)
            forest = kind(n_jobs=1, random_seed=0).fit_known(data, task.pool[asked], labels)
            if len(asked) in BUDGETS:
                yield lambda rows, forest=forest: -forest.score_samples(rows)

    return method


def by_ssdo(task, clf, wrong):
    """SSDO of anomatools learns from the answers that `queries` asks for; it knows that training rows are normal."""
    from anomatools.models import SSDO

    for budget in BUDGETS:
        asked = np.array([query.index for query in clf.queries(task.pool, budget)])
        y = np.append(-np.ones(len(task.training)), np.zeros(len(task.pool)))
        y[len(task.training) + asked] = np.where(answers_of(task, asked, wrong), -1, 1)
        model = SSDO().fit(task.scaled(np.vstack([task.training, task.pool])), y)
        yield lambda rows, model=model: model.decision_function(task.scaled(rows))


METHODS = {
    "asked": asked_at_once,
    "asked, five at a time": asked_in_rounds,
    "random": in_order(lambda task, clf: np.random.default_rng(len(task.pool)).permutation(len(task.pool))),
    "most surprising": in_order(lambda task, clf: np.argsort(clf.decision_function(task.pool), kind="stable")),
    "nearest the limit": in_order(lambda task, clf: np.argsort(np.abs(clf.decision_function(task.pool)))),
    "random forest, unsure": by_forest,
    "PineForest": by_conifers(PineForest),
    "AADForest": by_conifers(AADForest),
    "SSDO, same answers": by_ssdo,
}
RIVALS = ("random forest, unsure", "PineForest", "AADForest", "SSDO, same answers")
FEW = ("asked", "random", "random forest, unsure", "PineForest")


def curves(task, names, wrong):
    """Return the AUC after 0 and after each number of answers, by method; and false-alarm rates of ours."""
    clf = SurpriseClassifier().fit(task.training)
    found = {"no answers": [task.auc(Scorer(clf))]}
    for name in names:
        scorers = list(METHODS[name](task, clf, wrong))
        scorers += scorers[-1:] * (len(BUDGETS) - len(scorers))  # the pool is smaller than the budget
        found[name] = [task.auc(score) for score in scorers]
        if name == "asked":
            models = [clf, *(score.model for score in scorers)]
            found["false alarms"] = [float((model.predict(task.normal_test) == -1).mean()) for model in models]
    return found


def all_answers(task):
    """Return the AUC after the answers to all rows of the pool."""
    clf = SurpriseClassifier().fit(task.training)
    return task.auc(taught(task, clf, np.arange(len(task.pool)), np.zeros(len(task.pool), bool)))


def known_outliers(task):
    """Return the AUC of ours and of classifiers with N_KNOWN outliers, on the other test rows; {} if there are few."""
    if len(task.outlier_test) < 2 * N_KNOWN:
        return {}
    known, task.outlier_test = task.outlier_test[:N_KNOWN], task.outlier_test[N_KNOWN:]
    rows, y = np.vstack([task.training, known]), np.repeat([1, -1], [len(task.training), N_KNOWN])
    found = {"without labels": task.auc(Scorer(SurpriseClassifier().fit(task.training)))}
    found["SurpriseClassifier"] = task.auc(Scorer(SurpriseClassifier().fit(rows, y)))
    classifiers = {
        "logistic regression": LogisticRegression(class_weight="balanced", max_iter=5000),
        "random forest": RandomForestClassifier(200, class_weight="balanced", random_state=0),
        "boosting": HistGradientBoostingClassifier(class_weight="balanced", random_state=0),
        "SVM": SVC(class_weight="balanced", probability=False),
    }
    for name, one in classifiers.items():
        one.fit(task.scaled(rows), y == -1)
        score = one.decision_function if hasattr(one, "decision_function") else lambda Z: one.predict_proba(Z)[:, 1]  # noqa: B023
        found[name] = task.auc(lambda new, score=score: score(task.scaled(new)))
    return found


def measure(X, is_normal, repetition):
    """Return all figures of one set and repetition; None if it has too few rows."""
    task = Task(X, is_normal, repetition)
    if not task.is_large_enough:
        return None
    right = np.zeros(len(task.pool), bool)
    found = {"truthful": curves(task, METHODS, right), "all answers": all_answers(task)}
    found["wrong"] = curves(task, FEW, task.rng.random(len(task.pool)) < WRONG)
    found["known"] = known_outliers(task)
    task = Task(X, is_normal, repetition)
    if task.with_new_kind():
        found["new kind"] = curves(task, FEW, np.zeros(len(task.pool), bool))
    return found


def mean_curves(results, part):
    """Return the mean AUC by method after 0 and after each number of answers, and of how many results.

    That of rivals after 0 answers is NaN: the model without answers is ours.
    """
    parts = [one[part] for one in results.values() if one.get(part)]
    names = [name for name in parts[0] if name not in ("no answers", "false alarms")]
    free = float(np.mean([one["no answers"][0] for one in parts]))
    means = {name: np.mean([one[name] for one in parts], axis=0).tolist() for name in names}
    return {name: [np.nan if name in RIVALS else free, *values] for name, values in means.items()}, len(parts)


def curve_table(results, part):
    means, n = mean_curves(results, part)
    head = [f"{part}, {n} runs", "0", *map(str, BUDGETS)]
    body = ([name, *("" if np.isnan(value) else f"{value:.3f}" for value in values)] for name, values in means.items())
    return table([head, *body])


def changes_by_set(results, method):
    """Return how much 10 answers change the mean AUC of each set."""
    by_set = {}
    for name, one in results.items():
        change = one["truthful"][method][BUDGETS.index(10)] - one["truthful"]["no answers"][0]
        by_set.setdefault(name.rsplit("-", 1)[0], []).append(change)
    return {name: float(np.mean(changes)) for name, changes in by_set.items()}


def report(results):
    """Print the tables of docs/guides/asking.md."""
    print(f"{len({name.rsplit('-', 1)[0] for name in results})} sets, {len(results)} runs\n")
    for part in ("truthful", "wrong", "new kind"):
        print(curve_table(results, part), "\n")
    print(f"answers to all rows of the pool: {np.mean([one['all answers'] for one in results.values()]):.3f}\n")
    for method in ("asked", "asked, five at a time"):
        changes = changes_by_set(results, method)
        worse = {name: round(change, 4) for name, change in changes.items() if change < -0.005}
        print(f"{method}: 10 answers add {np.mean(list(changes.values())):.4f}, at most {max(changes.values()):.3f}")
        print(f"worse by more than 0.005: {len(worse)} of {len(changes)} sets {worse}\n")
    rates = np.mean([one["truthful"]["false alarms"] for one in results.values()], axis=0)
    print(table([["false alarms after", "0", *map(str, BUDGETS)], ["rate", *(f"{rate:.3f}" for rate in rates)]]), "\n")
    known = [one["known"] for one in results.values() if one["known"]]
    rows = [[name, f"{np.mean([one[name] for one in known]):.3f}"] for name in known[0]]
    print(table([[f"{N_KNOWN} known outliers, {len(known)} runs", "AUC"], *rows]))


def draw(results, path):
    """Draw the curves."""
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(1, 3, figsize=(13, 4.8), sharex=True)
    titles = {"truthful": "true answers", "wrong": "one in ten answers is wrong", "new kind": "the test has new kinds"}
    for one, (part, title) in zip(axes, titles.items(), strict=True):
        for name, values in mean_curves(results, part)[0].items():
            width, colour = 2.5 if name.startswith("asked") else 1.2, f"C{list(METHODS).index(name)}"
            one.plot([0, *BUDGETS], values, marker="o", label=name, lw=width, color=colour, zorder=1 + width)
        one.set(title=title, xlabel="answers")
    axes[0].set_ylabel("mean AUC")
    figure.legend(*axes[0].get_legend_handles_labels(), loc="lower center", ncols=5, fontsize=9)
    figure.tight_layout(rect=(0, 0.12, 1, 1))
    figure.savefig(path, dpi=110)


def main():
    arguments = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    arguments.add_argument("folder", type=Path)
    arguments.add_argument("--sets", type=int, default=99)
    arguments.add_argument("--repetitions", type=int, default=4)
    arguments.add_argument("--tables", type=Path, metavar="PICTURE", help="only report what is in the folder")
    given = arguments.parse_args()
    given.folder.mkdir(parents=True, exist_ok=True)
    if given.tables is None:
        warnings.simplefilter("ignore")  # of other libraries
        for repetition in range(given.repetitions):
            for name, (X, is_normal, _) in sorted(read_tables().items())[: given.sets]:
                path = given.folder / f"{name}-{repetition}.json"
                if not path.exists() and (found := measure(X, is_normal, repetition)) is not None:
                    path.write_text(json.dumps(found))
    results = {path.stem: json.loads(path.read_text()) for path in sorted(given.folder.glob("*.json"))}
    report(results)
    if given.tables is not None:
        draw(results, given.tables)


if __name__ == "__main__":
    main()
