"""``python -m eocc``: the same as the command ``eocc``."""

import sys

from eocc.cli import main

if __name__ == "__main__":
    sys.exit(main())
