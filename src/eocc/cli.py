"""The command line: ``eocc demo``."""

import argparse
from collections.abc import Sequence

from eocc import __version__
from eocc.demo import DEMO_SETS, demo


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(prog="eocc", description="Entropic one-class classification.")
    parser.add_argument("--version", action="version", version=f"eocc {__version__}")
    commands = parser.add_subparsers(dest="command", required=True, metavar="COMMAND")
    show = commands.add_parser("demo", help="train and test on a data set that comes with scikit-learn")
    show.add_argument("--dataset", choices=sorted(DEMO_SETS), default="breast-cancer", help="default: %(default)s")
    show.add_argument("--seed", type=_seed, default=0, help="of the split and of the search; default: %(default)s")
    wanted = parser.parse_args(arguments)
    print(demo(wanted.dataset, wanted.seed))
    return 0


def _seed(text: str) -> int:
    if not text.isdecimal():
        raise argparse.ArgumentTypeError(f"{text!r} is not an integer >= 0")
    return int(text)
