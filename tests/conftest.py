"""One profile for all property tests: the same examples on every run, and no judgement by the clock."""

from hypothesis import settings

settings.register_profile("house", derandomize=True, deadline=None, max_examples=60)
settings.load_profile("house")
