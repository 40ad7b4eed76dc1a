"""Dory: a long-lived agent that forgets gracefully. The rooms of the house and their floors are
listed in CONTRIBUTING.md.
"""

import sys

if sys.version_info < (3, 11):  # noqa: UP036 - people meet it with the Python that they have
    sys.stderr.write(
        "Dory needs Python 3.11 or newer: `make run PYTHON=python3.11` sets it up with one\n"
    )
    sys.exit(2)
