"""Dory: a long-lived agent that forgets gracefully. CONTRIBUTING.md lists the packages and their
layers.
"""

import sys

__version__ = "0.1.0"
"""The one place of the version; pyproject.toml reads it here."""

if sys.version_info < (3, 11):  # noqa: UP036 - people meet it with the Python that they have
    sys.stderr.write(
        "Dory needs Python 3.11 or newer: `make run PYTHON=python3.11` sets it up with one\n"
    )
    sys.exit(2)
