"""What must not appear in anything that Dory keeps, sends or shows. Found here, hidden by
``text/redaction.py``.
"""

import re
from collections.abc import Mapping
from contextlib import suppress
from pathlib import Path
from urllib.parse import unquote

from dory.config.profiles import SECRET_PART
from dory.config.settings import Config
from dory.errors import ConfigError

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE", "CREDENTIALS")
"""Ends of variables' names: ``APIKEY``, ``DB_PASSWORD``."""
_SECRET_WORDS = re.compile(
    r"(?:\A|_)(?:KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|COOKIE|JWT|DSN)(?:_|\Z)"
    r"|_(?:PASS|PWD|PAT|AUTH)(?:_|\Z)|CONN(?:ECTION)?_?STR"
)
"""Words within them: ``SECRET_KEY_BASE``, ``OPENAI_API_KEY_2``, ``MYSQL_PWD``, ``GITHUB_PAT``."""
_PLACES = re.compile(r"_(?:FILE|PATH|DIR|SOCK|URL|URI|HOST|PORT|NAME|USER|TYPE|TTL|ALGORITHM)\Z")
"""Ends of names that say where or what a secret is, not the secret."""
_PASSWORDS = re.compile(r"PASS|PWD")
"""In the names of variables that may hold a passphrase of plain words."""
_PATH = re.compile(
    r"(?:~|\.\.?|[A-Za-z]:)[/\\][\w ./\\@+-]+"
    r"|/[A-Z]?[a-z]+/[\w ./@+-]+"
    r"|[\w./@+-]+\.(?:json|pem|key|crt|cer|pub|ppk|p12|pfx|jks|ya?ml|toml|env|txt)"
)
"""A path. Base64 may begin with a slash too, but seldom goes on with a word and another slash."""
_IDENTIFIER = re.compile(
    r"[a-z]{1,15}(?:_[a-z]{1,15})+|[A-Z]{1,15}(?:_[A-Z]{1,15})+|(?=.{1,15}\Z)[a-z]{2,}(?:[A-Z][a-z]+)+"
)
"""A name in a program: ``created_at``, ``createdAt``."""
_SECRET_IN_URL = re.compile(
    r"://(?:[^/?#\s:@]*:)?([^/?#\s]+)@"
    r"|://[^/?#\s:@]*:([^/?#\s:@]*[/?#]\S*)@"  # a password that should be written otherwise
    r"|(?<!http)(?<!https)://[^/?#\s:@]*:([^\s@]+)@"
    rf"|[?&#]{SECRET_PART}([^&#\s]+)"
    r"|(?:\A|[;\s])(?:password|passwd|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s*="
    r"\s*([^;\s]+)",
    re.IGNORECASE,
)
"""A password in an address, or in a connection string."""
_PLACEHOLDERS = ("not-needed", "lm-studio", "no-key-required", "sk-no-key-required")
"""What the manuals of local servers say to give as a key."""


def secrets(config: Config, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that must not appear, longest first: keys and tokens of the settings and of the
    environment, and what stands for one in an address there. If a value has several lines, each
    counts, because it may appear alone.
    """
    models = [config.own, *(profile for _, profile in config.profiles.rows)]
    values = [model.api_key for model in models]
    values += [value for name, value in environment.items() if _is_secret(name, value)]
    for address in (*(model.base_url for model in models), *environment.values()):
        for groups in _SECRET_IN_URL.findall(address):
            values += groups
            values += map(unquote, groups)
    lines = {line.strip() for value in values for line in value.splitlines()}
    return tuple(sorted(filter(_telling, lines), key=lambda value: (-len(value), value)))


def of_home(home: Path, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that must not appear, for a program that needs no settings itself: those of a
    ``dory.yaml`` that is wrong are not known.
    """
    config = Config()
    if (home / "dory.yaml").exists() or environment.get("DORY_PROFILES"):
        from dory.config import sources  # slow to load

        with suppress(ConfigError):
            config = sources.load(home / "dory.yaml", environment, {})
    return secrets(config, environment)


def _is_secret(name: str, value: str) -> bool:
    """Whether the variable holds a secret, going by its name. It does not if it only says where one
    is, or names a column or a field.
    """
    upper = name.upper()
    if _PLACES.search(upper) or _PATH.fullmatch(value):
        return False
    if _IDENTIFIER.fullmatch(value) and not _PASSWORDS.search(upper):
        return False
    return upper.endswith(_SECRET_NAMES) or bool(_SECRET_WORDS.search(upper))


def _telling(value: str) -> bool:
    """Whether it differs from ordinary text: "none", "lm-studio" or "production" may stand in any
    conversation.
    """
    word = (
        len(value) < 16
        and value.isalpha()
        and (value.islower() or value.isupper() or value.istitle())
    )
    return len(value) >= 8 and not word and value not in _PLACEHOLDERS
