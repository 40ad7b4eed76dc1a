"""The profiles of all property tests. ``house``: the same examples on every run, and no judgement by the clock. ``fuzz``: ever new ones."""

from hypothesis import HealthCheck, settings

settings.register_profile("house", derandomize=True, deadline=None, max_examples=60, stateful_step_count=40)
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
