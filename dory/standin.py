"""``python -m dory.standin``: the former name of ``python -m dory.offline``."""

import runpy

if __name__ == "__main__":
    runpy.run_module("dory.offline", run_name="__main__")
