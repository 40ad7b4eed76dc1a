"""``python -m bench.chaos``: the former name of ``python -m stress.chaos``."""

import runpy

if __name__ == "__main__":
    runpy.run_module("stress.chaos", run_name="__main__")
