"""``python -m dory.backup``: a short name for ``dory.cli.backup``."""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys

from dory.cli.backup import main

if __name__ == "__main__":
    sys.exit(main())
