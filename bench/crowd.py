"""``python -m bench.crowd``: the former name of ``python -m stress.crowd``."""

import runpy

if __name__ == "__main__":
    runpy.run_module("stress.crowd", run_name="__main__")
