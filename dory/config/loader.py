"""Settings as people write them: each value read from its text, YAML, and the layers ``dory.yaml``,
an agent's own settings, environment and flags, of which the later wins. What the settings mean is
decided by ``config/settings.py``.

Whatever is wrong with a value is raised as a ``ValueError`` of a few words. They never quote a key
or an address, which may hold one. They also quote nothing after a colon: in ``api_key:sk-…``, with
its space forgotten, a key is part of a name.
"""

import math
import os
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from dataclasses import Field, dataclass
from pathlib import Path
from typing import Any, NamedTuple

from dory import regular_files
from dory.errors import ConfigError
from dory.text.typed_commands import program

MOST = 10**9
"""The largest number that a setting may have: a clock of the system, or a program in C behind an
endpoint, surely takes it.
"""

FORMER_SETTINGS = {"faculties": "extensions"}
"""Settings that had another name before. The old name is still read, and the person is told."""

ALIKE = 0.6
"""How alike two names must be, from 0 to 1, for the one to be a slip of the other."""

NAMED = ("owners", "private_rooms")
"""Lists of names, which may also be one text with commas between, as in a flag."""

LIMITS = ("spend_per_hour", "spend_per_day")
"""Numbers that may also be ``none``, which is 0: no limit."""

_HIDDEN = ("api_key", "base_url")
_SWITCH = {"on": True, "true": True, "yes": True, "off": False, "false": False, "no": False}


def typed(name: str, default: object, value: object) -> Any:
    """The value of a setting from its text, of the type of its default; an empty text is the
    default. Numbers must be finite, and text must be encodable. Raises ``ValueError``.
    """
    if isinstance(default, tuple):
        texts = _texts(name, value)
        if name in NAMED:
            return tuple(part.strip() for text in texts for part in text.split(",") if part.strip())
        return texts
    read, kind = _reader(default)
    try:
        if not isinstance(value, str):
            raise ValueError
        if not value and read is not str:
            return default
        value.encode()
        result = 0.0 if name in LIMITS and value.lower() == "none" else read(value)
        if isinstance(result, float) and not math.isfinite(result):
            raise ValueError
        return result
    except (ValueError, KeyError):
        shown = f", not {quoted(value)}" if isinstance(value, str) and name not in _HIDDEN else ""
        raise ValueError(f"{name} must be {kind}{shown}") from None


def _reader(default: object) -> tuple[Callable[[str], Any], str]:
    """The function that reads a setting with this default, and what it takes in words."""
    if isinstance(default, bool):
        return lambda text: _SWITCH[text.lower()], "on or off"
    if isinstance(default, str):
        return str, "text"
    if isinstance(default, int):
        return int, "a whole number"
    return float, "a number"


def _texts(name: str, value: object) -> tuple[str, ...]:
    """One text, or a list of texts; empty ones are left out."""
    if isinstance(value, str) and value:
        return (typed(name, "", value),)
    texts = value or []
    if not isinstance(texts, list):
        raise ValueError(f"{name} must be a list of texts")
    return tuple(typed(name, "", text) for text in texts if text)


def filled(given: object, known: Collection[Field[Any]]) -> dict[str, Any]:
    """The fields that a mapping of texts names, each of its type. Raises ``ValueError``."""
    if not isinstance(given, Mapping):
        names = ", ".join(field.name for field in known)
        raise ValueError(f"must hold {names}, each with its value")
    defaults = {field.name: field.default for field in known}
    for key in given:
        if key not in defaults:
            raise ValueError(f"unknown key {quoted(str(key))}{meant(str(key), defaults)}")
    return {name: typed(name, defaults[name], value) for name, value in given.items()}


def merged(below: object, above: object) -> object:
    """A nested setting from two layers. In two mappings ``above`` wins name by name, so a part may
    be given alone.
    """
    if not (isinstance(below, Mapping) and isinstance(above, Mapping)):
        return above
    return {**below, **{name: merged(below.get(name), value) for name, value in above.items()}}


def quoted(text: str) -> str:
    """The beginning of what somebody wrote, for an error; nothing of what follows a colon."""
    before, colon, _ = text.partition(":")
    return repr(f"{before}:…"[:70] if colon else text[:70])


def flow(shown: Mapping[str, str]) -> str:
    """A mapping as it may stand in dory.yaml, on one line; names and values are written already."""
    return f"{{{', '.join(f'{name}: {value}' for name, value in shown.items())}}}"


def written(value: object) -> str:
    """A text, a number or a list of texts as it may stand in dory.yaml."""
    import json  # not for --help

    return json.dumps(value, ensure_ascii=False)


def nearest(given: str, known: Collection[str]) -> str:
    """The known name that somebody may have meant; empty if none is like it. What follows a colon
    is a value whose space was forgotten.
    """
    import difflib  # not for --help

    name = given.partition(":")[0]
    return next(iter(difflib.get_close_matches(name, known, n=1, cutoff=ALIKE)), "")


def meant(given: str, known: Collection[str]) -> str:
    """The end of an error: the known name that somebody may have meant; empty if none is like
    it.
    """
    near = nearest(given, known)
    return f"; did you mean {quoted(near)}?" if near else ""


def bounded(name: str, number: float, least: float = 0, most: float = MOST) -> None:
    """Raise ``ValueError`` when a number is too small or too large."""
    if number < least:
        raise ValueError(f"{name} must be at least {least}, not {number}")
    if number > most:
        raise ValueError(f"{name} must be at most {most}, not {number}")


def read_yaml(text: str) -> Any:
    """What ``text`` holds, every value as text: a name may be 'no', a model 4.10, a key 0123.
    Raises ``ValueError`` with a few words that quote nothing, because a line may hold a key.
    """
    import yaml

    from dory.text.plain_yaml import PlainLoader

    class UniqueLoader(PlainLoader):
        """Refuses a name that stands twice: the first value would be ignored silently."""

        def construct_mapping(self, node: yaml.MappingNode, deep: bool = False) -> dict[Any, Any]:
            mapping = super().construct_mapping(node, deep)
            if len(mapping) < len(node.value):
                line = node.start_mark.line + 1
                raise ValueError(f"a name stands twice in what begins in line {line}")
            return mapping

    try:
        return yaml.load(text, UniqueLoader)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise ValueError(f"line {line}") from error
    except (yaml.YAMLError, ValueError, OverflowError, RecursionError) as error:
        # a character that does not exist, a thousand brackets
        raise ValueError(" ".join(str(error).split())) from error


class Value(NamedTuple):
    """What one place gives for one setting."""

    name: str
    value: object
    where: str
    """As an error calls the place: ``dory.yaml``, ``DORY_MODEL``, ``--model``."""
    layer: str


@dataclass(frozen=True)
class Layer:
    """One place that gives settings. ``content`` is by the names as they are spelt there. ``file``
    is the name of the file, if it is one.
    """

    name: str
    content: Mapping[str, Any]
    file: str = ""

    @property
    def complaint(self) -> str:
        """How an error about an unknown name begins."""
        kinds = {ENVIRONMENT: "unknown environment variable", FLAGS: "unknown flag"}
        return kinds.get(self.name) or f"{self.file}: unknown setting"

    def spell(self, name: str) -> str:
        """A setting's name as this place spells it."""
        return f"DORY_{name.upper()}" if self.name == ENVIRONMENT else name

    def plain(self, spelling: str) -> str:
        """What a person has in mind who spells it so here."""
        if self.name == ENVIRONMENT:
            return spelling.removeprefix("DORY_").lower()
        return spelling

    def where(self, spelling: str) -> str:
        """Where a value stands, for an error. A former name is told, because the error itself has
        the present one.
        """
        if self.name == FLAGS:
            return f"--{spelling.replace('_', '-')}"
        if self.name == ENVIRONMENT:
            return spelling
        return f"{self.file}: {spelling}" if spelling in FORMER_SETTINGS else self.file


HOME, OWN, ENVIRONMENT, FLAGS = "dory.yaml", "the agent's own settings", "environment", "flags"
"""The names of the layers. A later one wins."""


def home_layer(file: Path) -> Layer:
    """``dory.yaml``. Raises ``ConfigError``."""
    content = {str(key): value for key, value in from_file(file, file.name).items()}
    return Layer(HOME, content, file.name)


def environment_layer(environment: Mapping[str, str]) -> Layer:
    """The variables that begin with ``DORY_``."""
    variables = {
        variable: text
        for variable, text in environment.items()
        if variable.startswith("DORY_") and variable != "DORY_HOME"
    }
    return Layer(ENVIRONMENT, variables)


def flags_layer(flags: Mapping[str, Any]) -> Layer:
    """The flags that were given, by the names of their settings."""
    return Layer(FLAGS, {spelling: str(value) for spelling, value in flags.items()})


def values(
    known: Collection[str], layers: Sequence[Layer], warn: Callable[[str], None]
) -> Iterator[Value]:
    """Every setting that is given, in the order of the ``layers``: a later one wins. ``warn`` gets
    one line for each former name. Raises ``ConfigError`` for a name that is not ``known``, or that
    stands beside its former name.
    """
    for layer in layers:
        for spelling, name in _named(layer, known, warn):
            yield Value(name, layer.content[spelling], layer.where(spelling), layer.name)


def _named(
    layer: Layer, known: Collection[str], warn: Callable[[str], None]
) -> Iterator[tuple[str, str]]:
    """Each spelling in one layer, and the setting that it means."""
    settings = {layer.spell(name): name for name in known}
    former = {layer.spell(old): new for old, new in FORMER_SETTINGS.items() if new in known}
    for spelling in layer.content:
        if spelling in settings:
            yield spelling, settings[spelling]
        elif spelling in former:
            current = layer.spell(former[spelling])
            if current in layer.content:
                raise ConfigError(f"{spelling} is called {current} now: remove the former name")
            warn(f"setting {spelling!r} is called {current!r} now")
            yield spelling, former[spelling]
        else:
            near = nearest(layer.plain(spelling), known)
            hint = f"; did you mean {layer.spell(near)!r}?" if near else ""
            listing = f"{program('agent.py')} --settings"
            raise ConfigError(f"{layer.complaint} {quoted(spelling)}{hint} ('{listing}' lists all)")


def from_file(file: Path, shown: str) -> dict[Any, Any]:
    """What a file of settings holds; nothing if there is none. ``shown`` is what an error calls it.
    Raises ``ConfigError``.
    """
    try:
        text = regular_files.content(os.path.realpath(file)).decode("utf-8")
    except (FileNotFoundError, NotADirectoryError):
        return {}  # whoever writes first will say that the home is no folder
    except (OSError, UnicodeDecodeError) as error:
        raise ConfigError(f"{shown} cannot be read ({error}): mend it or remove it") from error
    try:
        content = read_yaml(text)
    except ValueError as error:
        raise ConfigError(f"{shown} is not YAML ({error}): mend it or remove it") from error
    if isinstance(content, dict | None):
        return content or {}
    raise ConfigError(f"{shown} must hold lines such as 'context_limit: 40000'")
