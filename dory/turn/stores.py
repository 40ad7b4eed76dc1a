"""Which store a fact belongs in: the short table of ``prompts/stores.md``, with a line for each
store in use. It is the one place that says so; Dreams go by the same rule (``prompts/dream.md``).
"""

from dory.config.settings import Config
from dory.text import prompt_files

STORES = {
    "MEMORY.md": "",
    "USER.md": "dream",
    "notes": "notes",
    "long-term memory": "memories",
    "diary": "diary",
    "soul": "soul",
}
"""Each store, and the extension that it goes with; MEMORY.md is always there."""


def table(config: Config) -> str:
    """The lines of the stores in use; empty if there is only one, for then nothing is to choose."""
    heading, *lines = prompt_files.prompt("stores").splitlines()
    used = [
        line
        for line in lines
        if not (extension := STORES[line.removeprefix("- ").partition(":")[0]])
        or config.has(extension)
    ]
    return "\n".join([heading, *used]) if len(used) > 1 else ""
