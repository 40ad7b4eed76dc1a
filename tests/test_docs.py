"""The documentation is held to its word: every command, option, make target, slash command,
setting, tool line and file that it names exists, and all of them are documented.
"""

import re
import subprocess
import sys
import tomllib
from collections.abc import Iterator
from dataclasses import fields
from functools import cache
from pathlib import Path
from textwrap import dedent

import pytest
import yaml

from agent import Agent
from dory.config.profiles import OFFLINE
from dory.config.settings import Config
from dory.extensions import checked
from dory.identity import listing
from dory.offline import OfflineModel
from dory.process.signals import ShutdownSignal
from dory.text.prompt_files import ROOT
from tests.support.household import Household
from tests.support.processes import agent

PAGES = [ROOT / "README.md", ROOT / "CONTRIBUTING.md", *sorted((ROOT / "docs").glob("*.md"))]
SITE = {path.name for path in PAGES if path.parent == ROOT / "docs"}
README_LIMIT = 150
COMMAND = re.compile(r"python (?:(\w+\.py)|-m ([a-z_]+\.[a-z_.]+))([^`#|\n]*)")
INSTALLED = re.compile(r"(?:^    |`)dory ([a-z]+)([^`#|\n]*)", re.MULTILINE)
FOREIGN = {"mkdocs", "pytest"}
"""Programs of others in ``python -m``."""
NOT_COMMANDS = {"ada", "embeddings", "quit", "exit"}
"""``@ada`` is a person, ``/embeddings`` an endpoint; ``/quit`` and ``/exit`` leave the chat."""
OPTION = re.compile(r"(?<![\w-])--[a-z][a-z-]*")
OLD_WORDS = re.compile(
    r"\b(?:facult(?:y|ies)|stand-in|walls|purse|gauge|waterfall)\b", re.IGNORECASE
)
PAGE_IN_CODE = re.compile(r"docs/([\w-]+\.(?:md|svg))")


def text_of(path: Path) -> str:
    return path.read_text(encoding="utf-8")


def everything() -> str:
    return "\n".join(map(text_of, PAGES))


def page(name: str) -> str:
    return text_of(ROOT / "docs" / name)


@cache
def help_of(*program: str) -> str:
    """What a program says of its options: ``agent.py``, or ``-m``, ``dory.recall``."""
    command = [sys.executable, *program, "--help"]
    return subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True).stdout


def commands() -> Iterator[tuple[tuple[str, ...], str]]:
    """Every program that the pages name, as it is started, and the arguments that they give it."""
    for file, module, arguments in COMMAND.findall(everything()):
        if module.partition(".")[0] not in FOREIGN:
            yield ((file,) if file else ("-m", module.rstrip("."))), arguments


def has(option: str, help_text: str) -> bool:
    return re.search(rf"{option}\b(?!-)", help_text) is not None


def slug(heading: str) -> str:
    """The anchor of a heading, as mkdocs and the usual hosts make it."""
    return re.sub(r"[\s-]+", "-", re.sub(r"[^\w\s-]", "", heading).strip().lower())


def anchors(path: Path) -> set[str]:
    return {slug(heading) for heading in re.findall(r"^#+ (.+)", text_of(path), re.MULTILINE)}


def rows(text: str, first: str) -> list[list[str]]:
    """The cells of the table whose header begins with ``first``."""
    table = re.search(rf"^\| {first} \|.*\n\|[-|]+\n((?:\|.*\n)+)", text, re.MULTILINE)
    assert table, first
    return [[cell.strip() for cell in row.strip("|").split("|")] for row in table[1].splitlines()]


@pytest.fixture(scope="module")
def living(tmp_path_factory: pytest.TempPathFactory) -> Agent:
    """An agent with every extension that is on by default."""
    house = Household(tmp_path_factory.mktemp("documented"), checked(Config(model=OFFLINE)))
    return Agent(house.me, house.config, OfflineModel(), verbose=False, stop=ShutdownSignal())


def test_the_readme_can_be_read_in_three_minutes() -> None:
    assert len(text_of(ROOT / "README.md").splitlines()) <= README_LIMIT


def test_the_readme_names_the_programs_and_how_to_install() -> None:
    readme = text_of(ROOT / "README.md")
    for name in ("make run", "make test", "make demo", "agent.py", "chat.py", "clean.py", "pipx"):
        assert name in readme, name


@pytest.mark.parametrize("path", [*PAGES, ROOT / "CHANGELOG.md"], ids=lambda path: path.name)
def test_every_link_leads_somewhere(path: Path) -> None:
    for target, anchor in re.findall(r"\]\((?!https?:)([^)#]*)#?([^)]*)\)", text_of(path)):
        place = (path.parent / target) if target else path
        assert place.is_file(), target
        assert not anchor or anchor in anchors(place), f"{target}#{anchor}"


@pytest.mark.parametrize("name", sorted(SITE))
def test_the_pages_of_the_site_link_only_to_each_other(name: str) -> None:
    for target in re.findall(r"\]\((?!https?:)([^)#]+)", page(name)):
        assert (ROOT / "docs" / target).parent == ROOT / "docs", target


def test_every_page_is_in_the_navigation_and_on_the_first_page() -> None:
    site = yaml.safe_load(text_of(ROOT / "mkdocs.yml"))
    in_navigation = set(re.findall(r"'([\w-]+\.md)'", str(site["nav"])))
    assert in_navigation == SITE
    assert set(re.findall(r"\]\(([\w-]+\.md)\)", page("index.md"))) == SITE - {"index.md"}


def test_the_options_of_every_command_exist() -> None:
    for program, arguments in commands():
        known = help_of(*program)
        for option in OPTION.findall(arguments.partition(" -- ")[0]):
            assert has(option, known), f"{' '.join(program)} {option}"


def test_the_commands_of_the_installed_program_exist_and_are_all_documented() -> None:
    script = tomllib.loads(text_of(ROOT / "pyproject.toml"))["project"]["scripts"]["dory"]
    module, function = script.split(":")
    start = (
        "-c",
        f"import sys; sys.argv[0] = 'dory'; from {module} import {function} as run; run()",
    )
    known = help_of(*start)
    named = dict(INSTALLED.findall(page("commands.md")))
    for name, arguments in named.items():
        assert re.search(rf"^\s+{name}\b", known, re.MULTILINE), name
        for option in OPTION.findall(arguments):
            assert has(option, help_of(*start, name)), f"dory {name} {option}"
    listed = re.findall(r"^  ([a-z]+)  ", known.partition("Commands:")[2], re.MULTILINE)
    assert set(listed) <= set(named)


def test_the_options_outside_of_commands_belong_to_some_program() -> None:
    known = "".join(help_of(*program) for program in sorted({program for program, _ in commands()}))
    for path in PAGES:
        rest = INSTALLED.sub("", COMMAND.sub("", text_of(path)))
        for code in re.findall(r"`([^`\n]+)`", rest):
            for option in OPTION.findall(code):
                assert has(option, known), f"{path.name}: {option}"


def test_the_make_targets_exist() -> None:
    targets = set(re.findall(r"^([a-z-]+):", text_of(ROOT / "Makefile"), re.MULTILINE))
    for path in PAGES:
        for name in re.findall(r"(?:^    |`)make ([a-z][a-z-]*)", text_of(path), re.MULTILINE):
            assert name in targets, f"{path.name}: make {name}"


def test_an_agent_boots_with_the_settings_of_the_example(tmp_path: Path) -> None:
    (tmp_path / "dory.yaml").write_text(example(), encoding="utf-8")
    with agent(tmp_path) as process:
        assert process.poll() is None
        assert listing.listening(tmp_path, "dev")


def example() -> str:
    """The dory.yaml of the page about settings."""
    found = re.search(r"^    # dory\.yaml\n((?:    .*\n)+)", page("settings.md"), re.MULTILINE)
    return dedent(found[0]) if found else ""


def test_the_page_about_settings_has_every_setting_with_its_default_and_a_meaning() -> None:
    shown = {"": "empty", "()": "empty", "None": "empty", "True": "`on`", "False": "`off`"}
    defaults = {setting.name: str(setting.default) for setting in fields(Config)}
    documented = {name.strip("`"): cells for name, *cells in rows(page("settings.md"), "setting")}
    assert list(documented) == list(defaults)
    for name, (default, meaning) in documented.items():
        assert default == shown.get(defaults[name], f"`{defaults[name]}`"), name
        assert len(meaning) > 10, name


def test_the_settings_that_the_pages_name_exist() -> None:
    known = {setting.name for setting in fields(Config)}
    assert set(yaml.safe_load(example())) <= known
    variables = {name.lower() for name in re.findall(r"DORY_([A-Z_]+)", everything())}
    assert variables - {"home"} <= known


def test_every_slash_command_exists_and_is_documented(living: Agent) -> None:
    known = {command.name for command in living.extensions.commands()}
    table = " ".join(first for first, *_ in rows(page("commands.md"), "command"))
    assert set(re.findall(r"`/([a-z-]+)", table)) == known
    assert set(re.findall(r"`[/@]([a-z-]+)[` ]", everything())) <= known | NOT_COMMANDS


def test_every_tool_line_exists_and_is_documented_with_its_extension(living: Agent) -> None:
    known = {tool.name for tool in living.extensions.tools()}
    table = rows(page("tools.md"), "line")
    assert {re.findall(r"`([A-Z_]+)", line)[0] for line, *_ in table} == known
    extensions = {extension.strip("`") for *_, extension in table}
    assert extensions - {"always there"} <= set(Config().wanted)


def test_every_extension_is_documented() -> None:
    assert [name.strip("`") for name, *_ in rows(page("extensions.md"), "name")] == list(
        Config().wanted
    )


def test_every_file_of_the_program_that_the_pages_name_exists() -> None:
    folders = "dory|bench|tests|stress|prompts|examples|docs"
    for path in PAGES:
        for name in re.findall(rf"`((?:{folders})/[\w./-]*)`", text_of(path)):
            assert (ROOT / name).exists(), f"{path.name}: {name}"


def test_every_test_that_the_makefile_names_exists() -> None:
    for name in re.findall(r"(?<= )tests/[\w./]+", text_of(ROOT / "Makefile")):
        assert (ROOT / name).exists(), name


def test_every_page_that_the_code_names_exists() -> None:
    sources = [ROOT / "Makefile", *ROOT.glob("*.py")]
    for folder in ("dory", "bench", "stress", "tests"):
        sources += (ROOT / folder).rglob("*.py")
    for source in sources:
        for name in PAGE_IN_CODE.findall(text_of(source)):
            assert (ROOT / "docs" / name).is_file(), f"{source.relative_to(ROOT)}: docs/{name}"


@pytest.mark.parametrize("path", PAGES, ids=lambda path: path.name)
def test_the_pages_use_the_words_of_the_field(path: Path) -> None:
    text = text_of(path).partition("## Old names")[0]
    assert not OLD_WORDS.findall(text)
