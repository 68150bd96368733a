"""``eocc reproduce``."""

from typing import Any

import click

from eocc.cli import options
from eocc.cli.app import command, say, usage
from eocc.cli.studies import check_available, request_of, run_and_write, study_options

STUDIES = ("uci-low", "uci-high", "iam")


@command
@click.argument("study", type=options.Names("study", (*STUDIES, "figures", "all")))
@click.option("--datasets", default="", metavar="NAME,...", help="Data sets by acronym; all of the study by default.")
@study_options("results")
def reproduce(study: str, **given: Any) -> None:
    """Run the paper's comparisons next to its published figures.

    Finished runs are kept in the folder, so an interrupted command continues where it stopped. Data are taken from the
    folder in EOCC_DATA, from packages that ship them, or from their public homes.

    Example: eocc reproduce uci-low --systems EOCC-1,1-NN --datasets I --output results
    """
    from eocc.experiments import studies
    from eocc.experiments.figures import draw_examples

    wanted = list(STUDIES) if study == "all" else [study] if study in STUDIES else []
    with usage():
        request = request_of(given)
        if wanted:
            studies.check_names(request, [source for name in wanted for source in studies.STUDIES[name]])
    planned = [studies.plan_study(name, studies.TITLES[name], studies.STUDIES[name], request) for name in wanted]
    check_available(planned)
    for plan in planned:
        if plan.cells or len(wanted) == 1:
            run_and_write(plan, request)
    if study in ("figures", "all"):
        for path in draw_examples(request.folder / "figures"):
            say(f"Written: {path}")
