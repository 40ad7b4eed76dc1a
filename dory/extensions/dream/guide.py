"""What guides an agent's Dreams: ``dream.md`` in its folder, which people may write, else ``prompts/dream.md``, the same for all."""

from dory.errors import DoryError, FormatError
from dory.identity.identity import Identity
from dory.storage import files
from dory.text import prompt_files

NAME = "dream.md"
LIMIT = 16_000
"""Bytes of a guide of the agent's own: it stands in every request of a Dream."""


class Guide:
    """The guide of one identity."""

    def __init__(self, me: Identity) -> None:
        self._me, self._own = me, me.folder / NAME

    def text(self) -> str:
        """The guide, without secrets. Raises ``FormatError`` when it is too long or cannot be read."""
        if not self._own.exists():
            return prompt_files.prompt("dream")
        try:
            content = files.read_from(self._own, 0, LIMIT + 1)
        except OSError as error:
            raise FormatError(f"{NAME} cannot be read ({error.strerror}): put a text file in its place, or remove it") from error
        if len(content) > LIMIT:
            raise FormatError(f"{NAME} may have {LIMIT} bytes: shorten it, or remove it to go back to prompts/{NAME}")
        return self._me.redact(content.decode("utf-8", "replace"))

    def command(self, argument: str) -> str:
        """The guide and where it stands, or the beginning of one of its own. Raises ``DoryError`` when it has one already."""
        where = f"agents/{self._me.hash}/{NAME}"
        if argument.strip() not in ("", "init"):
            raise DoryError("write /dream-prompt to see how Dreams are guided, /dream-prompt init to make a guide of the agent's own")
        if not argument.strip():
            return f"{where if self._own.exists() else f'prompts/{NAME}, for all; /dream-prompt init makes one of its own'}:\n\n{self.text()}"
        if self._own.exists():
            raise DoryError(f"{where} is there already: edit it, or remove it to go back to prompts/{NAME}")
        files.replace(self._own, f"{prompt_files.prompt('dream')}\n".encode())
        return f"{where} guides the next Dream: edit it as you like; remove it to go back to prompts/{NAME}"
