"""The command line, ``eocc COMMAND``: one file per command. Nothing heavy is imported before a command runs."""

from eocc.cli.app import app, main

__all__ = ["app", "main"]
