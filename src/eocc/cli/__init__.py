"""The command line, ``eocc COMMAND``: one file a command."""

from eocc.cli import compare, demo, explain, fit, inspect, plan, plot, report, reproduce, score  # noqa: F401  # add theirs
from eocc.cli.app import app, main

__all__ = ["app", "main"]
