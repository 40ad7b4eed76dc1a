"""``python -m dory.recall``: a short name for ``dory.cli.recall``."""

import sys

from dory.cli.recall import main

if __name__ == "__main__":
    sys.exit(main())
