"""``eocc reproduce``."""

from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from eocc.cli.app import app, one_of, say, usage
from eocc.cli.studies import Budget, Jobs, Limit, Out, Runs, Seed, Systems, request_of, run_and_write
from eocc.experiments.figures import draw_examples
from eocc.experiments.studies import STUDIES, TITLES, Request, check_names, plan_study

NAMES = (*STUDIES, "figures", "all")


@app.command()
def reproduce(
    study: Annotated[str, typer.Argument(help="One of " + ", ".join(NAMES) + ".", callback=one_of("study", NAMES))],
    runs: Runs = 10,
    seed: Seed = 0,
    jobs: Jobs = 1,
    systems: Systems = "",
    datasets: Annotated[str, typer.Option(help="Acronyms with commas between them; all of the study by default.")] = "",
    budget: Budget = "",
    limit: Limit = "30m",
    out: Out = Path("results"),
) -> None:
    """Run the paper's comparisons and set our figures beside the published ones.

    Finished cells are kept in the folder: an interrupted run goes on where it stopped. The data are looked for in the
    folder that EOCC_DATA names, in the packages that ship them, then at their public homes.

    Example: eocc reproduce uci-low --runs 2 --systems EOCC-1,1-NN --datasets I --out results
    """
    wanted = list(STUDIES) if study == "all" else [study] if study in STUDIES else []
    with usage():
        request = request_of(runs, seed, jobs, systems, datasets, budget, limit, out)
        if wanted:
            check_names(request, [source for name in wanted for source in STUDIES[name]])
    planned = [plan_study(name, TITLES[name], STUDIES[name], _share(request, len(wanted))) for name in wanted]
    for plan in planned:
        if plan.cells or len(wanted) == 1:
            run_and_write(plan, request)
    if study in ("figures", "all"):
        for path in draw_examples(out / "figures"):
            say(f"Drawn: {path}")


def _share(request: Request, n_studies: int) -> Request:
    """Return the request with its budget shared between the studies."""
    return request if request.budget is None else replace(request, budget=request.budget / n_studies)
