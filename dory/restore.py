"""``python -m dory.restore``: a short name for ``dory.cli.restore``."""

from dory.process import requirements

if __name__ == "__main__":
    requirements.check()

import sys

from dory.cli.restore import main

if __name__ == "__main__":
    sys.exit(main())
