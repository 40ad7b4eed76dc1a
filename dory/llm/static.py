"""Vectors of texts in this process, without a server: the small static model that the package
``wordllama`` ships in its wheel (the extra ``[embeddings]``). The vector of a text is the mean of
the vectors of its tokens, so it tells what a text is about, and nothing of the order of words.

Only the package's two data files are read. To import it would set up logging for the whole process
and load much that is not needed. Its vectors are made so that their first numbers serve alone; with
more of them, no search was better.
"""

from collections.abc import Sequence
from functools import cache
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from dory.errors import ModelRefused
from dory.text import formatting

EXTRA = "pip install 'dory-agent[embeddings]'"
DIMENSION = 64
"""Numbers in a vector."""
_NEEDED = ("wordllama", "tokenizers", "safetensors")
_WEIGHTS = Path("weights", "l2_supercat_256.safetensors")
_TOKENIZER = Path("tokenizers", "l2_supercat_tokenizer_config.json")


def installed() -> bool:
    """Whether the extra is there."""
    return all(find_spec(name) for name in _NEEDED)


class StaticEmbeddings:
    """The embedded model, an ``Embedder``. Its files are read with the first text."""

    name = f"wordllama-l2-supercat-{DIMENSION}"

    def embed(self, texts: Sequence[str]) -> list[list[float]]:
        """Return the vectors of ``texts``; zeros for a text without tokens. Raises
        ``ModelRefused`` if the files cannot be read.
        """
        import numpy

        tokenizer, weights = _model()
        encoded = tokenizer.encode_batch(
            [formatting.encodable(text) for text in texts], add_special_tokens=False
        )
        zeros = [0.0] * DIMENSION
        return [
            weights[text.ids].mean(axis=0, dtype=numpy.float32).tolist() if text.ids else zeros
            for text in encoded
        ]


@cache
def _model() -> tuple[Any, Any]:
    """The tokenizer, and a matrix of 16-bit floats with a row for each token."""
    try:
        from safetensors import safe_open  # type: ignore[import-not-found,unused-ignore]
        from tokenizers import Tokenizer  # type: ignore[import-not-found,unused-ignore]

        package = find_spec("wordllama")
        folder = Path(((package and package.submodule_search_locations) or [""])[0])
        if not (folder / _TOKENIZER).is_file():
            raise FileNotFoundError(f"{_TOKENIZER} is missing")
        with safe_open(folder / _WEIGHTS, framework="numpy") as tensors:
            (key,) = tensors.keys()
            weights = tensors.get_slice(key)[:, :DIMENSION]
    except (ImportError, OSError, ValueError) as error:
        raise ModelRefused(f"the model of wordllama cannot be read ({error}): {EXTRA}") from error
    tokenizer = Tokenizer.from_file(str(folder / _TOKENIZER))
    tokenizer.no_padding()
    tokenizer.no_truncation()
    return tokenizer, weights
