"""``python -m dory.recall``: a short name for ``dory.cli.recall``."""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys

from dory.cli.recall import main

if __name__ == "__main__":
    sys.exit(main())
