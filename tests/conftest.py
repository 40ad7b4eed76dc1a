"""The profiles of all property tests. ``house``: the same examples on every run, and no judgement by the clock. ``fuzz``: ever new ones.

And signals as a terminal would have them: under ``nohup``, or as a job in the background, they come ignored, and every program that a test
starts would rightly ignore them, too. Likewise the size of a terminal: it is that of the one a test makes, not of the one pytest reports to.
"""

import os
import signal

from hypothesis import HealthCheck, settings

settings.register_profile("house", derandomize=True, deadline=None, max_examples=30, stateful_step_count=40)
settings.register_profile(
    "fuzz",
    deadline=None,
    max_examples=2000,
    stateful_step_count=80,
    print_blob=True,
    database=None,
    suppress_health_check=[HealthCheck.too_slow],
)
settings.load_profile("house")

for variable in ("COLUMNS", "LINES"):
    os.environ.pop(variable, None)
signal.signal(signal.SIGHUP, signal.SIG_DFL)
signal.signal(signal.SIGINT, signal.default_int_handler)
