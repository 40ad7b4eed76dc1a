"""What must not appear in anything that Dory keeps, sends or shows: found here, hidden by
``refs.redact``.
"""

import re
from collections.abc import Mapping
from urllib.parse import unquote

from dory.config.settings import Config

_SECRET_NAMES = ("KEY", "TOKEN", "SECRET", "PASSWORD", "PASSWD", "PASSPHRASE")
_SECRET_IN_URL = re.compile(
    r"://(?:[^/?#\s:@]*:)?([^/?#\s]+)@|[?&][\w-]*(?:key|token|secret|password|sig|signature|code)=([^&#\s]+)",
    re.IGNORECASE,
)
_PLACEHOLDERS = ("not-needed", "lm-studio", "no-key-required", "sk-no-key-required")
"""What the manuals of local servers say to give as a key."""


def secrets(config: Config, environment: Mapping[str, str]) -> tuple[str, ...]:
    """Every value that must not appear in anything the harness writes, longest first: keys and
    tokens of the settings and the environment, and what stands for one in a URL there. Of one over
    several lines each line counts, for it may be met alone.
    """
    models = [config.own, *(profile for _, profile in config.profiles.rows)]
    named = [
        *(one.api_key for one in models),
        *(value for name, value in environment.items() if name.upper().endswith(_SECRET_NAMES)),
    ]
    in_urls = [
        part
        for url in (*(one.base_url for one in models), *environment.values())
        for found in _SECRET_IN_URL.findall(url)
        for part in found
    ]
    found = {
        line.strip()
        for value in (*named, *in_urls, *map(unquote, in_urls))
        for line in value.splitlines()
    }
    return tuple(sorted(filter(_telling, found), key=lambda value: (-len(value), value)))


def _telling(value: str) -> bool:
    """Whether it can be told from ordinary text: "none", "lm-studio" or "production" are found in
    any conversation.
    """
    word = (
        len(value) < 16
        and value.isalpha()
        and (value.islower() or value.isupper() or value.istitle())
    )
    return len(value) >= 8 and not word and value not in _PLACEHOLDERS
