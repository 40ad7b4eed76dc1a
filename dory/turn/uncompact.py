"""UNCOMPACT: from a reference back to the original, and later to the summary again."""

from collections.abc import Iterable

from dory.constants import PIN_TURNS
from dory.errors import BlobError, ToolError
from dory.identity.context import Entry, compacted
from dory.identity.identity import Identity
from dory.identity.state import Opened
from dory.text import formatting, references
from dory.turn.extension import Outcome
from dory.types import Blob


def open_original(identity: Identity, argument: str, hard_limit: int) -> Outcome:
    """The original behind a hash or a pasted reference, if the context stays below ``hard_limit``
    tokens with it. Raises ``ToolError``.
    """
    hash = references.named_hash(argument)
    if hash is None:
        raise ToolError(
            f"{argument[:70]!r} is no reference: write UNCOMPACT and the hash behind ◱hash="
        )
    try:
        blob = identity.blobs.get(hash)
    except BlobError as error:
        raise ToolError(str(error)) from error
    until = identity.state.turn + PIN_TURNS
    for entry, opened in identity.state.opened.items():
        if opened.hash == blob.hash:
            opened.until = until
            return Outcome(
                f"it stands in the context already, at #{entry}; it stays for {PIN_TURNS} more"
                " turns"
            )
    if identity.tokens(identity.context.characters + len(blob.body)) > hard_limit:
        part = f"READ_FILE blobs/{blob.hash[:2]}/{blob.hash}.md 1-200"
        raise ToolError(
            f"the original has {len(blob.body)} characters, too many for your context now: read a"
            f" part of it with {part}"
        )
    gist = formatting.one_line(blob.gist)  # another program may have written that blob
    return Outcome(
        blob.body,
        blob.hash,
        Opened(blob.hash, gist, identity.context.summary_of(blob.hash) or gist, until),
    )


def add_opened(identity: Identity, outcome: Outcome) -> Entry:
    """Put the original at the end of the context, since what stands before must not change. Raises
    ``ValueError`` if the ``outcome`` opens nothing, ``BlobError`` if the original is gone.
    """
    opened = outcome.opened
    if opened is None:
        raise ValueError("that outcome opens nothing")
    blob = identity.blobs.get(opened.hash)
    entry = identity.add("uncompacted", references.reference(blob.hash, blob.gist), as_quoted(blob))
    identity.state.opened[str(entry.first)] = opened
    return entry


def as_quoted(blob: Blob) -> str:
    """A blob's body as it may stand in an entry: stretches of context keep their references live,
    everything else is escaped.
    """
    if blob.kind == "context":
        return references.quote(blob.body.removesuffix("\n"))
    return references.escape(blob.body)


def pinned(identity: Identity) -> list[int]:
    """The ids of the entries that must stay: opened originals for their turns, and what the agent
    heard and said since it woke, while it is awake.
    """
    state = identity.state
    opened = [int(entry) for entry, opened in state.opened.items() if state.turn <= opened.until]
    if not state.awake:
        return opened
    exchange = [
        entry.first
        for entry in identity.context
        if entry.kind in ("heard", "response") and entry.first >= state.woke_at
    ]
    return exchange + opened


def fold(identity: Identity, entries: Iterable[Entry]) -> int:
    """Fold every opened original among ``entries`` that is no longer pinned back to its summary;
    returns how many. No model is asked.
    """
    count = 0
    stays = pinned(identity)
    for entry in list(entries):
        opened = identity.state.opened.get(str(entry.first))
        if opened and entry.kind == "uncompacted" and entry.first not in stays:
            identity.context.replace(
                [entry],
                [compacted(entry.first, entry.last, opened.hash, opened.gist, opened.summary)],
            )
            identity.log("folded", opened.gist, opened.hash)
            del identity.state.opened[str(entry.first)]
            count += 1
    return count
