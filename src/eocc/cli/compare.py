"""``eocc compare``."""

from pathlib import Path
from typing import Annotated

import typer

from eocc.cli.app import app, say
from eocc.cli.studies import Budget, Jobs, Limit, Out, Runs, Seed, Systems, request_of, run_and_write
from eocc.experiments.studies import plan_study
from eocc.experiments.user_table import read_table_source


@app.command()
def compare(
    path: Annotated[Path, typer.Argument(help="A CSV file with a header: columns of numbers and one of labels.")],
    target_column: Annotated[str, typer.Option(help="The column that says what a row is.")],
    target: Annotated[str, typer.Option(help="Its value for targets; all else is not a target.")],
    runs: Runs = 10,
    seed: Seed = 0,
    jobs: Jobs = 1,
    systems: Systems = "",
    budget: Budget = "",
    limit: Limit = "30m",
    out: Out = Path("comparison"),
) -> None:
    """Compare all systems on your own data, by the same protocol: raw and normalised, the same splits for all.

    Example: eocc compare parts.csv --target-column state --target good --systems EOCC-1,1-NN,Gauss --runs 3
    """
    source = read_table_source(path, target_column, target)
    say(f"{source.name}: {sum(source.is_target)} targets, {len(source.is_target) - sum(source.is_target)} others, "
        f"{len(source.rows[0])} features.")  # fmt: skip
    request = request_of(runs, seed, jobs, systems, "", budget, limit, out)
    run_and_write(plan_study(source.name, f"Comparison on {path.name}", [source], request), request)
