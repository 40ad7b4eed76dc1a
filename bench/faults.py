"""``python -m bench.faults``: the former name of ``python -m stress.faults``."""

import runpy

if __name__ == "__main__":
    runpy.run_module("stress.faults", run_name="__main__")
