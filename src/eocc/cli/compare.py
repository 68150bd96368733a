"""``eocc compare``."""

from pathlib import Path
from typing import Annotated

import typer

from eocc.cli.app import app, say, usage
from eocc.cli.reading import Data, Drop, InputFormat, Named, SkipIncomplete, read_all
from eocc.cli.studies import Budget, Jobs, Limit, Out, Runs, Seed, Systems, request_of, run_and_write
from eocc.experiments.sources import TableSource
from eocc.experiments.studies import check_names, plan_study


@app.command()
def compare(
    data: Data,
    target_column: Annotated[str, typer.Option(help="The column that says what a row is.")],
    target: Annotated[str, typer.Option(help="Its value for targets; all else is not a target.")],
    input_format: InputFormat = "",
    drop: Drop = "",
    skip_incomplete: SkipIncomplete = False,
    runs: Runs = 10,
    seed: Seed = 0,
    jobs: Jobs = 1,
    systems: Systems = "",
    budget: Budget = "",
    limit: Limit = "30m",
    out: Out = Path("comparison"),
) -> None:
    """Compare all systems on a table of your own, by the same protocol: raw and normalised, the same splits for all.

    All columns but the target's must hold numbers, without gaps.

    Example: eocc compare parts.csv --target-column state --target good --systems EOCC-1,1-NN,Gauss --runs 3
    """
    with usage():
        request = request_of(runs, seed, jobs, systems, "", budget, limit, out)
        check_names(request, ())
    left_out = Named() if skip_incomplete else None
    read = read_all(data, input_format, target_column, target, drop, "euclidean", left_out)
    name = f"{data.stem}-comparison"  # not the data's own name: they may lie in the same folder
    source = TableSource(name, tuple(map(tuple, read.patterns.tolist())), tuple(read.is_target.tolist()))
    n_targets = sum(source.is_target)
    say(f"{n_targets} targets, {len(source.is_target) - n_targets} others.")
    run_and_write(plan_study(name, f"Comparison on {data.name}", [source], request), request)
