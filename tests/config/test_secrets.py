"""Secrets: keys and tokens of the environment and the settings enter nothing that is kept, sent or
shown, whoever quotes them.

What stands in files that people edit stays there as it is; it is hidden from what the harness makes
of it. How a key is recognised is tried out in ``tests/text/test_redaction.py``.
"""

import json
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from dory import check
from dory.config import secrets, sources
from dory.config.settings import Config
from dory.constants import RESULT_LIMIT
from dory.errors import ConfigError, ModelRefused
from dory.identity.state import Running
from dory.llm.completions import Endpoint
from dory.offline import OfflineModel
from dory.offline.server import Server
from dory.offline.server.faults import Fault
from dory.storage.blobs import Blobs
from dory.storage.rooms import Rooms
from dory.text import redaction
from dory.turn.extension import Extension, Outcome, Tool
from dory.turn.extension_host import ExtensionHost
from dory.turn.inbox import Inbox
from dory.turn.prompt import PromptBuilder
from dory.types import Message, Prompt
from tests.support.compacting import House
from tests.support.household import Household, Killed, mishap
from tests.support.processes import PATIENCE, ROOT, chat, environment

KEY = "sk-live-0123456789abcdef"
SHOWN = "[secret]"


def kept(home: Path) -> Iterator[tuple[str, str]]:
    """Every file that the harness writes, with its text; of a room its own lines."""
    for path in home.rglob("*"):
        if (
            path.is_symlink()
            or not path.is_file()
            or path.name in ("SOUL.md", "SEGMENT.md", "MEMORY.md")
            or "workspace" in path.parts
        ):
            continue
        if path.parent.name == "chats":
            lines = Rooms(path.parent).read(path.stem, 0) if path.suffix == ".md" else []
            yield (
                str(path),
                "\n".join(
                    f"{line.name} {line.text}" for line in lines if line.name.startswith("dory-")
                ),
            )
        else:
            yield str(path), path.read_bytes().decode("utf-8", "replace")


def assert_secret(house: Household, key: str = KEY) -> None:
    """Neither the key nor what is left of it after a cut stands in a file or in the prompt."""
    house.me.commit()
    prompt = PromptBuilder(house.me, house.config, ExtensionHost([house.tools], print)).build()
    for where, text in [*kept(house.home), ("the prompt", prompt.text)]:
        assert key[: len(key) // 2] not in text, where
    assert list(check.problems(house.home)) == []


@pytest.fixture
def house(tmp_path: Path) -> Household:
    (tmp_path / "SOUL.md").write_text(f"You are Dory, and hold {KEY}.\n")
    return Household(tmp_path, secrets=(KEY,))


def heard(house: Household) -> None:
    others = Rooms(house.home / "chats")
    others.say("dev", "USER", "ada", f"my key is {KEY}", house.clock())
    others.say("dev", "USER", KEY, f"{'x' * (RESULT_LIMIT - 20)}{KEY} and so on", house.clock())
    others.say("dev", "AGENT", "other", f"it is {KEY}", house.clock())
    with open(others.path("dev"), "a") as room:
        room.write(f"{'stray ' * 7}{KEY}\n")
    Inbox(house.me, [], print).receive()
    assert (
        sum(SHOWN in entry.body for entry in house.me.context) == 3
        and KEY in others.path("dev").read_text()
    )


def asked(house: Household) -> None:
    Rooms(house.home / "chats").say("dev", "USER", "ada", f"/{KEY} {KEY}", house.clock())
    Inbox(house.me, [], print).receive()
    assert f"there is no /{SHOWN}" in house.said("dev", "NOTICE")[0]


def read(house: Household) -> None:
    workspace = house.me.folder / "workspace"
    (workspace / "key.txt").write_text(f"the key is {KEY}\n{'x' * (RESULT_LIMIT - 15)}{KEY}\n")
    (workspace / f"{KEY}.txt").write_text(KEY)
    house.respond(
        "READ_FILE workspace/key.txt\nREAD_FILE workspace/key.txt 2-2\n"
        f"READ_FILE workspace\nREAD_FILE workspace/{KEY}.txt"
    )
    house.respond("READ_FILE SOUL.md\nREAD_FILE chats/dev.md")


def said(house: Household) -> None:
    house.respond(f"I know {KEY}.\nSAY dev it is {KEY}\nSAY dev <<END\n{KEY}\nEND")
    house.respond(f"{'word ' * 20}{KEY}")


def mistaken(house: Household) -> None:
    block = f"<<<<<<< SEARCH\n{'x' * 20}{KEY}\n=======\n{KEY}\n>>>>>>> REPLACE"
    house.respond(
        f"READ_FILE {'x' * 55}{KEY}\nUNCOMPACT {'y' * 50} {KEY}\nJOIN {KEY} "
        f"{KEY}\nEDIT_FILE MEMORY.md\n{block}\nREADFILE {KEY}"
    )


def edited(house: Household) -> None:
    (house.me.folder / "MEMORY.md").write_text(f"the key is {KEY}\n")
    (house.me.folder / "SEGMENT.md").write_text(f"{KEY}\nName the chunks. {KEY}\n")
    assert house.me.text_reference("SEGMENT.md") == house.me.text_reference("SEGMENT.md"), (
        "stashed once, although the file says more"
    )
    assert house.me.text("SEGMENT.md") == f"{SHOWN}\nName the chunks. {SHOWN}\n"


def failed(house: Household) -> None:
    class Broken(Extension):
        name = "broken"

        def section(self) -> str:
            raise KeyError(KEY)

    ExtensionHost([Broken()], house.me.notice).sections("change", epoch=0)
    house.hands._tools["WAIT"] = Tool(
        "WAIT", lambda call: Outcome(f"{'z ' * (RESULT_LIMIT // 2 + 200)}{KEY}")
    )
    house.respond("WAIT")


@pytest.mark.parametrize("way", [heard, asked, read, said, mistaken, edited, failed])
def test_a_key_enters_nothing_that_is_kept_or_sent_whichever_way_it_comes(
    house: Household, way: Callable[[Household], None]
) -> None:
    way(house)
    assert_secret(house)
    house.restart()
    assert_secret(house)


def test_an_old_blob_that_holds_a_key_comes_back_without_it(house: Household) -> None:
    unaware = Blobs(house.home / "blobs")  # as before the key was given
    hash = unaware.stash(f"old {KEY}", kind="result", gist=f"old {KEY}", at=house.clock())
    house.respond(f"UNCOMPACT {hash}\nREAD_FILE blobs/{hash[:2]}/{hash}.md")
    assert sum(SHOWN in entry.body for entry in house.me.context) == 2
    unaware.path(hash).unlink()
    house.me.context.replace(
        [entry for entry in house.me.context if entry.kind == "uncompacted"], []
    )
    assert (
        KEY
        not in PromptBuilder(house.me, house.config, ExtensionHost([house.tools], print))
        .build()
        .text
    )
    assert KEY not in house.me.life.tail(50)


def test_a_message_with_a_key_counts_as_said_after_a_crash(house: Household) -> None:
    hash = house.me.blobs.stash(f"SAY dev it is {KEY}", kind="response", gist="x", at=house.clock())
    (call,) = house.hands.parse(f"SAY dev it is {KEY}").calls
    house.me.state.running = Running(hash, 0, house.tools.tools()[0].mark(call))
    house.me.commit()
    house.tools.say(call)
    house.restart()
    house.hands.report_interruption()
    assert (
        f"Ran: SAY dev it is {SHOWN}. Did not run, and had no effect: none."
        in house.me.context.entries[-1].body
    )


def test_an_answer_that_quotes_a_key_is_given_once_and_without_it_also_over_a_kill(
    house: Household,
) -> None:
    asked, struck = 0, True
    while struck:
        asked += 1
        Rooms(house.home / "chats").say("dev", "USER", "ada", f"/{KEY}", house.clock())
        with mishap(asked, Killed()) as mischance:
            Inbox(house.me, [], print).receive()
        struck = mischance.struck
        assert KEY not in (house.me.folder / "state.json").read_text()
        house.restart()
        Inbox(house.me, [], print).receive()
    assert (
        house.said("dev", "NOTICE") == [f"there is no /{SHOWN} (/help lists the commands)"] * asked
        and asked > 10
    )


OTHERS = {
    "GITHUB_TOKEN": "ghp_0123456789abcdef",
    "DB_PASSWORD": "correct horse battery",
    "MY_SECRET": "s3cr3t-s3cr3t",
}


def test_no_answer_of_an_endpoint_holds_a_key_of_whatever_kind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    for name, value in OTHERS.items():
        monkeypatch.setenv(name, value)
    quoted = " ".join([KEY, *OTHERS.values()])
    with Server(OfflineModel()) as server:
        settings = Config(
            base_url=server.base_url,
            model="any",
            api_key=f" {KEY}\n",
            context_limit=1000,
            retries=1,
        )
        house = House(tmp_path, Endpoint(settings))  # type: ignore[arg-type]
        house.hear(29)
        before = len(house.me.context.entries)
        answer = f"GIST: crate {quoted}\nRELEVANCE: 1\nSUMMARY: crate {quoted}"
        server.faults.extend([Fault(text="1-9 all"), *[Fault(text=answer)] * 9])
        house.compact()
        assert len(house.me.context.entries) < before and SHOWN in house.me.context.entries[0].body
        server.faults.clear()
        edit = f"EDIT_FILE MEMORY.md\n<<<<<<< SEARCH\n=======\n{quoted}\n>>>>>>> REPLACE"
        server.faults.append(Fault(text=f"{edit}\nSAY dev {quoted}"))
        house.say("hello")
        house.live(lambda: bool(house.lines("AGENT")) and house.asleep())
    everything = [
        path.read_bytes().decode("utf-8", "replace")
        for path in tmp_path.rglob("*")
        if path.is_file()
    ]
    assert house.lines("AGENT")[0] == " ".join([SHOWN] * 4)
    with Server(OfflineModel()) as server:
        server.faults.append(Fault(status=401, body=quoted))
        with pytest.raises(ModelRefused) as raised:
            Endpoint(replace(settings, base_url=server.base_url)).complete(
                Prompt((Message("user", "hello"),)), "turn"
            )
    for secret in (KEY, *OTHERS.values()):
        assert not [text for text in [*everything, str(raised.value)] if secret in text]


def test_a_life_with_keys_all_around_leaves_none_in_its_files_its_prompts_or_on_a_terminal(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    token = "ghp_0123456789abcdef"
    monkeypatch.setenv("GITHUB_TOKEN", token)
    (tmp_path / "SOUL.md").write_text(f"You are Dory, and hold {KEY}.\n")
    (tmp_path / "chats").mkdir()
    (tmp_path / "chats" / "dev.md").write_text(f"a stray {KEY}\n")
    with Server(OfflineModel()) as server:
        url = server.base_url.replace("//", "//ada:pass%40word-1@")
        (tmp_path / "dory.yaml").write_text(f"base_url: {url}\nmodel: any\napi_key: {KEY}\n")
        error = json.dumps({"error": {"message": f"overloaded, {KEY} of ada:pass@word-1 {token}"}})
        server.faults.extend(
            [
                Fault(status=503, body=error),
                Fault(text=f"SAY dev so it is {token}\nREADFILE {KEY}\nSAY lab {KEY}"),
            ]
        )
        said = f"my keys are {KEY} and {token}\n/{token}\nwhat are my keys?\n/status\n"
        ended = chat(tmp_path, "--boot", "--", "--verbose", said=said)
        assert f"so it is {SHOWN}" in ended.stdout, ended.stderr
        sent = "".join(
            message.content for request in server.requests for message in request.messages
        )
    settings = run("--settings", home=tmp_path)
    refused = run("--model", token, home=tmp_path / "elsewhere")
    log = (tmp_path / "agents" / "boot.log").read_text()
    assert "trying again" in log and f"a stray {SHOWN}" in log
    assert f"model '{SHOWN}' needs an endpoint" in refused
    for where, text in [
        *kept(tmp_path),
        ("prompts", sent),
        ("stdout", ended.stdout),
        ("stderr", ended.stderr),
        ("settings", settings),
        ("refused", refused),
    ]:
        for secret in (KEY, token, "pass%40word-1", "pass@word-1"):
            assert secret not in text or where.endswith("dory.yaml"), where
    assert list(check.problems(tmp_path)) == []


def run(*flags: str, home: Path) -> str:
    """What agent.py prints, on both streams."""
    command = [sys.executable, str(ROOT / "agent.py"), *flags]
    done = subprocess.run(
        command, env=environment(home), capture_output=True, text=True, timeout=PATIENCE
    )
    return done.stdout + done.stderr


def test_an_error_in_the_settings_does_not_quote_the_key(tmp_path: Path) -> None:
    wrong = [
        f'api_key: "{KEY}\nmodel: x',
        f"api_key: [{KEY}]",
        f"api_key: *{KEY}",
        f"api_key: {KEY}\nbase_url: ada:{KEY}@host",
        f"base_url: http://ada:{KEY}@host/v1?key={KEY}",
        f"base_url: [{KEY}]",
    ]
    for text in wrong:
        (tmp_path / "dory.yaml").write_text(text)
        with pytest.raises(ConfigError) as raised:
            sources.load(tmp_path / "dory.yaml", {}, {})
        assert KEY not in str(raised.value) and "dory.yaml" in str(raised.value) + "dory.yaml" * (
            "base_url" in str(raised.value)
        )


def test_what_stands_for_a_key_in_a_url_or_on_one_of_several_lines_is_a_secret_too() -> None:
    environment = {
        "DATABASE_URL": "postgres://dory:d4tabase-pw@db.example/dory?sslmode=require",
        "ORIGIN": "https://ghp_0123456789@git.example/x.git",
        "SIGNING_KEY": "-----BEGIN KEY-----\nMIIEvQIBADANBg\n-----END KEY-----\n",
        "PAGER": "less",
    }
    settings = Config(
        base_url="https://host.example/v1?api-version=2024-02-15&api-key=abc%2Fdef%2F123",
        api_key=" sk-12345678\n",
    )
    found = secrets.secrets(settings, environment)
    assert {
        "d4tabase-pw",
        "ghp_0123456789",
        "MIIEvQIBADANBg",
        "abc%2Fdef%2F123",
        "abc/def/123",
        "sk-12345678",
    } <= set(found)
    assert not {"require", "2024-02-15", "less"} & set(found)
    assert settings.shown_url == "https://host.example/v1"
    assert Config(base_url="http://ada:p@ss@host:80/v1").shown_url == "http://host:80/v1"


@pytest.mark.parametrize(
    "value",
    [
        "",
        "none",
        "test",
        "EMPTY",
        "1234567",
        "lm-studio",
        "production",
        "Development",
        "sk-no-key-required",
    ],
)
def test_a_placeholder_hides_no_word_of_a_conversation(value: str) -> None:
    assert secrets.secrets(Config(api_key=value), {"SOME_TOKEN": value}) == ()


def test_a_key_that_was_cut_off_is_hidden_from_its_half_on() -> None:
    for length in range(len(KEY) + 1):
        text = redaction.redact(f"({KEY[:length]}…", [KEY])
        assert text == (f"({SHOWN}…" if length >= len(KEY) // 2 else f"({KEY[:length]}…")
    assert redaction.redact(f"{KEY}{KEY[:15]}{KEY}x", [KEY]) == f"{SHOWN * 3}x"
    assert redaction.redact("12345678 1234567", ["12345678"]) == f"{SHOWN} 1234567"


@pytest.mark.parametrize(
    ("url", "shown"),
    [
        ("http://ada:p#ssword-12@host/v1", "http://…/…"),
        ("http://ada:p?ssword-12@host/v1", "http://…/…"),
        ("http://ada:p/ssword-12@host/v1", "http://…/…"),
        ("http://ada:p@ssword-12@host/v1", "http://host/v1"),
        ("https://host:8443/v1#token=p-ssword-12", "https://host:8443/v1"),
        ("https://host/v1?auth=p-ssword-12", "https://host/v1"),
        ("http://evil.example/@api.openai.com/v1", "http://evil.example/…"),
        ("http://[::1]:80/v1", "http://[::1]:80/v1"),
    ],
)
def test_an_address_is_shown_without_its_password_and_with_its_own_host(
    url: str, shown: str
) -> None:
    settings = Config(model="m", base_url=url)
    assert settings.shown_url == shown
    assert "ssword" not in url or any("ssword-12" in part for part in secrets.secrets(settings, {}))
    if "…/" in shown:
        with pytest.raises(ConfigError, match="in its user and password write %2F for /"):
            sources.load(Path("none"), {}, {"model": "m", "base_url": url})
