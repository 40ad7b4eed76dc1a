"""``python -m dory.standin``: the former name of ``python -m dory.offline``."""

import sys

from dory.offline.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
