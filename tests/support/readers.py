"""Everything that reads the text of models, people and tools, each as a function of one text. It
may refuse the text with one of ``REFUSALS``.
"""

from collections.abc import Callable, Mapping
from datetime import UTC, date, datetime
from functools import partial

from dory.chat import live_view, render
from dory.config import loader
from dory.errors import DoryError
from dory.extensions import tools
from dory.extensions.cascade.event_texts import middle_cut
from dory.extensions.diary import reading as diary
from dory.extensions.dream import deliberate, guards, history
from dory.extensions.dream import edits as dream_edits
from dory.extensions.dream import prompt as dream_prompt
from dory.extensions.notes import links, note_file, properties
from dory.extensions.notes import names as note_names
from dory.extensions.people import relationships
from dory.identity import context, heard_entry, life
from dory.llm import cache_monitor, openai_format, stream
from dory.offline import prompt_reader
from dory.search import passages, ranking, snippets
from dory.storage import live, rooms
from dory.text import (
    addressing,
    answers,
    characters,
    claims,
    credential_files,
    diffs,
    edit_blocks,
    edits,
    formatting,
    front_matter,
    grounding,
    hidden_arguments,
    imitations,
    json_calls,
    loose_json,
    names,
    pages,
    redaction,
    references,
    shown,
    slash,
    summary_answers,
    thoughts,
    tokenizer,
    tool_usage,
)
from dory.turn import extract, segments
from dory.types import Line

REFUSALS = (DoryError, ValueError)

_TOOLS = tools()
_USAGES = [tool.usage for tool in _TOOLS]
_KNOWN = {tool.name for tool in _TOOLS}
_HIDDEN = {tool.name for tool in _TOOLS if tool.hidden}
_ROOMS = ["dev", "kitchen"]
_NAMES = ["otto-5d41402a", "otto-7d793037", "iris-0cc175b9"]
_INSTRUCTION = "\n".join(f"Write line {number} of what they said." for number in range(40))
_AT = datetime(2026, 1, 1, 10, tzinfo=UTC)


def _entry(text: str, kind: str = "response") -> context.Entry:
    return context.Entry(1, 1, kind, "2026-01-01 10:00", references.escape(text))


_ENTRIES = tuple(_entry(f"[USER:ada 2026-01-01 10:00] it leaves at {n}", "heard") for n in range(9))


def _changed(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """``text`` and another text that has some of its lines."""
    lines = text.splitlines(keepends=True)
    other = "".join(line if number % 3 else f"- {line}" for number, line in enumerate(lines))
    return {"MEMORY.md": text}, {"MEMORY.md": other}


def _streamed(text: str) -> object:
    answer = openai_format.Answer()
    for at in range(0, len(text), 200):
        answer.add({"choices": [{"delta": {"content": text[at : at + 200]}}]})
        if answer.due():
            answer.looping()
            answer.imitating()
    return answer.parts(), answer.thinks


def _stream(text: str) -> object:
    content = text.encode()
    return list(stream.chunks(content[at : at + 200] for at in range(0, len(content), 200)))


def _edited(text: str) -> object:
    half = text[: len(text) // 2]
    return edits.edited(text, half, "other", "MEMORY.md")


def _line(text: str) -> Line:
    return Line("dev", "AGENT", "otto-5d41402a", "2026-01-01 10:00:00Z", text, 0)


def _wide(text: str) -> object:
    shown = [live.Live("otto", "writes", text), live.Live("iris", "thinks", text)]
    return live_view.rows_of(shown, 80, 20), live_view.doings(shown, [])


READERS: Mapping[str, Callable[[str], object]] = {
    "answers.parse": lambda text: answers.parse(text, _USAGES, _KNOWN, _ROOMS),
    "answers.saying": lambda text: answers.saying(text, _USAGES, _ROOMS),
    "hidden_arguments.kept": lambda text: hidden_arguments.kept(
        text, _USAGES, _HIDDEN, _KNOWN, _ROOMS
    ),
    "thoughts.split": thoughts.split,
    "thoughts.spoken": thoughts.spoken,
    "thoughts.unended": thoughts.unended,
    "thoughts.as_thought": thoughts.as_thought,
    "thoughts.without_thoughts": thoughts.without_thoughts,
    "imitations.begun": imitations.begun,
    "imitations.cleaned": imitations.cleaned,
    "imitations.quoted": imitations.quoted,
    "edit_blocks.all_in": edit_blocks.all_in,
    "edits.edited": _edited,
    "json_calls.unwrapped": json_calls.unwrapped,
    "json_calls.decoded": json_calls.decoded,
    "loose_json.read": lambda text: loose_json.read(text, 0),
    "loose_json.read, unfinished": lambda text: loose_json.read(text, 0, True),
    "loose_json.arguments": lambda text: loose_json.arguments(f"({text}", 0),
    "tool_usage.message": tool_usage.message,
    "tool_usage.room_in": lambda text: tool_usage.room_in(text, _ROOMS),
    "diffs.unified": lambda text: diffs.unified(*_changed(text)),
    "diffs.subject": lambda text: diffs.subject(*_changed(text)),
    "diffs.tally": lambda text: diffs.tally(*_changed(text)),
    "diffs.carried": lambda text: diffs.carried(text, text.replace("a", "b", 3)),
    "diffs.in_conflict": lambda text: diffs.in_conflict(text.encode()),
    "diffs.count": diffs.count,
    "formatting.one_line": formatting.one_line,
    "formatting.bounded": lambda text: formatting.bounded(text, 200),
    "redaction.redact": lambda text: redaction.redact(text, ["sk-secret-of-a-key", "a" * 40]),
    "formatting.tokens": formatting.tokens,
    "formatting.table": lambda text: formatting.table([[text, text]]),
    "references.escape": lambda text: references.unescape(references.escape(text)),
    "references.quote": lambda text: references.unquote(references.quote(text)),
    "references.gists": references.gists,
    "references.live": references.live,
    "references.named_hash": references.named_hash,
    "claims.claim": claims.claim,
    "grounding.grounded": lambda text: grounding.grounded(text, text[::-1], ["ada"]),
    "grounding.copied": lambda text: grounding.copied(text, _INSTRUCTION, text),
    "summary_answers.cleaned": summary_answers.cleaned,
    "summary_answers.wrong": lambda text: summary_answers.wrong(text, _USAGES),
    "tokenizer.words": lambda text: list(tokenizer.words(text)),
    "tokenizer.folded": tokenizer.folded,
    "tokenizer.query_words": lambda text: tokenizer.query_words(text, 40),
    "tokenizer.stems": lambda text: tokenizer.Stemmer().stems(tokenizer.folded(text).split()),
    "addressing.addressed": lambda text: addressing.addressed(text, _NAMES),
    "addressing.named": lambda text: addressing.named(text, _NAMES),
    "front_matter.split": front_matter.split,
    "names.meant": lambda text: names.meant(text, _NAMES),
    "names.near": lambda text: names.near(text, _NAMES),
    "pages.wanted": pages.wanted,
    "shown.speaks": shown.speaks,
    "shown.announces": shown.announces,
    "slash.is_command": lambda text: slash.is_command(f"/{text}"),
    "credential_files.is_secret": credential_files.is_secret,
    "passages.cut": lambda text: list(passages.cut(text)),
    "snippets.snippet": lambda text: snippets.snippet(text, {"a": 1.0, "dev": 2.0}, None),
    "ranking.is_question": ranking.is_question,
    "segments.read_ranges": lambda text: segments.read_ranges(text, [_ENTRIES]),
    "segments.read_summary": lambda text: segments.read_summary(text, _ENTRIES),
    "extract.draft": lambda text: extract.draft((_entry(text),), _ENTRIES),
    "extract.source": lambda text: extract.source([_entry(text), _entry(text, "compacted")]),
    "context.parse": context.parse,
    "context.read_epoch": lambda text: context.read_epoch(text.encode()),
    "heard_entry.read": heard_entry.read,
    "life.references": lambda text: list(life.references([text.encode()], "heard")),
    "rooms.laid_out": rooms.laid_out,
    "rooms.clean_name": rooms.clean_name,
    "prompt_reader.said": lambda text: [
        list(prompt_reader.said(_entry(text, kind))) for kind in ("heard", "compacted")
    ],
    "prompt_reader.calls": lambda text: prompt_reader.calls(_entry(text)),
    "prompt_reader.original": lambda text: prompt_reader.original(_entry(text, "uncompacted")),
    "openai_format.Answer": _streamed,
    "openai_format.words": lambda text: openai_format.words({"error": {"message": text}}),
    "openai_format.too_long": openai_format.too_long,
    "stream.chunks": _stream,
    "cache_monitor.shared": lambda text: cache_monitor.shared(text, text[:-1]),
    "middle_cut": lambda text: middle_cut(text, 200),
    "diary.written": diary.written,
    "relationships.read": lambda text: relationships.read(f"ada friend; {text}"),
    "dream_edits.revised": lambda text: dream_edits.revised(text, "MEMORY.md", [("a", "b")]),
    "dream_edits.fitted": lambda text: dream_edits.fitted(
        text, text[: len(text) // 2], "MEMORY.md", [("", text)]
    ),
    "dream_prompt.shortened": lambda text: dream_prompt.shortened(history.Item(1, "", text), 500),
    "guards.check_share": lambda text: guards.check_share("MEMORY.md", *_changed(text)),
    "deliberate.resembling": lambda text: deliberate.resembling(
        [deliberate.Dated("MEMORY.md", text, _AT) for _ in range(deliberate.SHOWN + 1)], text
    ),
    "history.parse": lambda text: history.parse(text.encode()),
    "links.linked": lambda text: list(links.linked(text)),
    "links.tags": lambda text: links.tags("", text),
    "note_file.read": note_file.read,
    "note_names.made_of": note_names.made_of,
    "properties.split": properties.split,
    "properties.without": lambda text: properties.without(text, "a"),
    "loader.read_yaml": loader.read_yaml,
    "characters.visible": characters.visible,
    "render.message": lambda text: render.message(_line(text)),
    "live_view": _wide,
    "diary.real_day": partial(diary.real_day, today=date(2026, 1, 1)),
}
