"""Compare the figures that pages quote with docs/results/*.csv: run it after the tables were made anew.

python benchmarks/claims.py           prints every figure that is stale, and a fact that a sentence says; exits with 1
                                      if one is stale
python benchmarks/claims.py --table   prints the table of docs/results/index.md
"""

import re
import sys
from pathlib import Path

import pandas as pd

from eocc.experiments.cells import SYSTEMS

ROOT = Path(__file__).parents[1]
UCI, FURTHER, GRAPHS = ("uci-low", "uci-high"), ("further-sets",), ("iam",)
RAW, SCALED = "normalisation == 'raw'", "normalisation == 'unit-variance'"
ALL = "normalisation != 'unit variance of all rows'"
NO_SP = f"{ALL} and dataset != 'SP'"
# Pages, the headings of their columns of mean AUCs, and what each averages.
QUOTED = {
    "27 sets, columns as they are": (FURTHER, RAW), "27 sets, columns scaled first": (FURTHER, SCALED),
    "13 UCI sets": (UCI, ALL), "6 graph sets": (GRAPHS, ALL),
}  # fmt: skip
PLAIN = {"mean AUC": ALL, "raw": RAW, "normalised": SCALED}
PAGES = dict.fromkeys(("README.md", "docs/which.md"), QUOTED) | {
    "docs/results/index.md": {name: (UCI, form) for name, form in {**PLAIN, "without SP": NO_SP}.items()},
    "docs/results/further_sets.md": {name: (FURTHER, form) for name, form in PLAIN.items()},
}
# What pages call a system, by how it begins; others have their own name.
CALLED = {
    "SurpriseClassifier, with labels": "Surprise_10%", "SurpriseClassifier": "Surprise", "RegionClassifier": "Regions",
    "EOCC-1 as published": "EOCC-1", "EOCC-2, with labels": "EOCC-2_10%",
}  # fmt: skip
LABELLED = (
    "Surprise_10%",
    "EOCC-2",
    "EOCC-2_10%",
    "MPM as printed",
    "EOCC-1 (one region allowed)",
    "EOCC-1 (p = 1)",
)  # or not ranked


def means(studies, form):
    """Return the mean AUC of every system over the sets of these studies, without variants of sets."""
    found = pd.concat([pd.read_csv(ROOT / "docs" / "results" / f"{study}.csv") for study in studies])
    found = found[(found["figure"] == "auc") & ~found["dataset"].str.contains("(", regex=False)]
    return found.query(form).groupby("system")["mean"].mean()


def tables_in(text):
    """Yield the cells of each line of a table, by the headings of their columns."""
    heading = []
    for line in text.splitlines():
        cells = [re.sub(r"[*`]", "", cell).strip() for cell in line.split("|")[1:-1]]
        if len(cells) > 1 and len(cells) == len(heading):
            yield dict(zip(heading, cells, strict=True))
        heading = heading if len(cells) == len(heading) else cells


def expected(system, averages):
    """Return what a cell should say of a system."""
    if system == "best other method":
        rivals = averages.drop(["Surprise", "Regions", *LABELLED], errors="ignore")
        return f"{rivals.max():.3f} ({rivals.idxmax()})"
    name = next((own for start, own in CALLED.items() if system.startswith(start)), system.removesuffix(" (leaks)"))
    name = name if name in averages else name.removesuffix("_10%")  # graph sets come with graphs to validate on
    return f"{averages[name]:.3f}" if name in averages else "a figure, but the table has none"


def comparison_table():
    """Yield the lines of the table of mean AUCs and average ranks on the UCI sets."""
    found = pd.concat([pd.read_csv(ROOT / "docs" / "results" / f"{study}.csv") for study in UCI])
    is_counted = (found["figure"] == "auc") & ~found["dataset"].str.contains("(", regex=False)
    found = found[is_counted & found["normalisation"].isin(["raw", "unit-variance"])]
    cells = found.pivot(index=["dataset", "normalisation"], columns="system", values="mean").dropna(how="all")
    variants = [name for name, system in SYSTEMS.items() if system.variant_of]
    labelled = {"EOCC-2": "has seen test rows", "EOCC-2_10%": "knows outliers", "Surprise_10%": "knows outliers"}
    ranked = cells.drop(columns=[*variants, *labelled], errors="ignore").round(9).fillna(-1)
    without = ranked.index.get_level_values("dataset") != "SP"
    ranks = [(-some).rank(axis=1).mean() for some in (ranked, ranked[without])]
    yield f"| system | mean AUC | raw | normalised | average rank of {ranked.shape[1]} | without SP | rank |"
    yield "|---|---|---|---|---|---|---|"
    forms = cells.index.get_level_values("normalisation")
    for system, mean in cells.mean().sort_values(ascending=False).items():
        column = cells[system]
        figures = [mean, *(column[forms == form].mean() for form in ("raw", "unit-variance")), column[without].mean()]
        average, raw, scaled, no_sp = (f"{figure:.3f}" for figure in figures)
        placed = [f"{rank[system]:.1f}" if system in rank else "" for rank in ranks]
        placed[0] = placed[0] or labelled.get(system, "not ranked")
        called = {"Surprise": "**Surprise**", "Regions": "**Regions**", "EOCC-2": "EOCC-2 (leaks)"}.get(system, system)
        missing = (
            ""
            if column.notna().all()
            else f" (without {', '.join(sorted({d for d, _ in cells.index[column.isna()]}))})"
        )
        yield f"| {called}{missing} | {average} | {raw} | {scaled} | {placed[0]} | {no_sp} | {placed[1]} |"


def main():
    if "--table" in sys.argv:
        print("\n".join(comparison_table()))
        return 0
    stale = []
    for page, headings in PAGES.items():
        seen = set()
        for cells in tables_in((ROOT / page).read_text()):
            system = next(iter(cells.values()))
            for heading in (one for one in headings if re.match(r"0\.\d{3}", cells.get(one, ""))):
                seen.add(heading)
                should = expected(system, means(*headings[heading]))
                if cells[heading].lower() != should.lower():
                    stale.append(f"{page}: {system}, {heading}: {cells[heading]}, should be {should}")
        stale += [f"{page}: no column {heading!r}" for heading in headings if heading not in seen]
    averages = means(UCI, ALL).drop([*LABELLED, "Regions"], errors="ignore")
    ahead = averages[averages.round(3) > round(averages["Surprise"], 3)] - averages["Surprise"]
    print("\n".join(stale) or "no figure is stale")
    print(f"UCI: {len(ahead)} of {len(averages) - 1} other methods are ahead of Surprise, by up to {ahead.max():.3f}")
    return bool(stale)


if __name__ == "__main__":
    sys.exit(main())
