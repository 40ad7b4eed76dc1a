"""The life in a process of its own, with a trap: ``python -m bench.cascade.victim POINT OCCURRENCE
HOME EVENTS SEED``.

``stress.chaos.points`` says what a point is. An empty one never comes.
"""

import sys
from pathlib import Path

from bench.cascade.life import Life
from stress.chaos.points import Trap


def main() -> None:
    """Live until the trap or the end."""
    point, occurrence, home, events, seed = sys.argv[1:]
    Trap(point, int(occurrence)).lay()
    Life(Path(home), int(seed)).live(int(events))


if __name__ == "__main__":
    main()
