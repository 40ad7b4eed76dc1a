"""What keys, tokens and passwords look like in a text, by the formats that their issuers document.
Pure.

Only forms that ordinary text does not have are here: hashes, UUIDs, base64 and long words must
pass, so nothing is guessed from how random a text looks. Each rule has a name that a person
understands.

Every rule takes linear time: repetitions are bounded or possessive, and none can begin again inside
of its own failure. The rules of ``detect-secrets`` were tried.
Loading them takes 0.2 seconds, two of them take quadratic time, they hide public IP addresses,
and they miss the present tokens of GitHub, OpenAI, Anthropic, Google and Hugging Face.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache


@dataclass(frozen=True, slots=True)
class Found:
    """A secret in a text: ``text[start:end]``. The rule's whole match begins at ``begin``."""

    begin: int
    start: int
    end: int
    name: str


_TOKENS = (
    ("GitHub token", "ghp_ gho_ ghu_ ghs_ ghr_", "[A-Za-z0-9]{36,}+"),
    ("GitHub token", "github_pat_", r"\w{60,}+"),
    (
        "GitLab token",
        "glpat- gldt- glft- glsoat- glrt- glcbt- glptt- gloas- glimt- glagent-",
        r"[\w-]{20,}+",
    ),
    ("Anthropic key", "sk-ant-", r"[\w-]{40,}+"),
    ("API key", "sk-proj- sk-svcacct- sk-admin- sk-None- sk-or-v1- sk-lf-", r"[\w-]{32,}+"),
    ("API key", "sk-", "[A-Za-z0-9]{32,}+"),
    ("Groq key", "gsk_", "[A-Za-z0-9]{48,}+"),
    ("xAI key", "xai-", "[A-Za-z0-9]{60,}+"),
    ("Perplexity key", "pplx-", "[A-Za-z0-9]{40,}+"),
    ("Replicate token", "r8_", "[A-Za-z0-9]{37,}+"),
    ("Hugging Face token", "hf_", "[A-Za-z0-9]{30,}+"),
    ("Google key", "AIza", r"[\w-]{35}(?![\w-])"),
    ("Google secret", "GOCSPX-", r"[\w-]{24,}+"),
    ("Google token", "ya29.", r"[\w-]{20,}+"),
    ("AWS key", "AKIA ASIA ABIA ACCA", "(?!.{9}EXAMPLE)[A-Z2-7]{16}(?![A-Za-z0-9])"),
    ("Stripe key", "sk_live_ rk_live_ sk_test_ rk_test_", "[A-Za-z0-9]{20,}+"),
    ("webhook secret", "whsec_", "[A-Za-z0-9+/]{24,}+"),
    ("Slack token", "xoxa- xoxb- xoxc- xoxe- xoxo- xoxp- xoxr- xoxs- xapp-", r"[\w-]{20,}+"),
    ("Slack webhook", "hooks.slack.com/services/", "[A-Za-z0-9/]{30,}+"),
    ("Discord webhook", "api/webhooks/", r"\d{17,20}/[\w-]{60,}+"),
    ("npm token", "npm_", "[A-Za-z0-9]{36,}+"),
    ("PyPI token", "pypi-AgE", r"[\w-]{50,}+"),
    ("SendGrid key", "SG.", r"[\w-]{20,24}\.[\w-]{40,}+"),
    ("Twilio key", "SK", "[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("DigitalOcean token", "dop_v1_ doo_v1_ dor_v1_", "[0-9a-f]{64}"),
    ("Linear key", "lin_api_", "[A-Za-z0-9]{32,}+"),
    ("Notion token", "ntn_", "[A-Za-z0-9]{40,}+"),
    ("Notion token", "secret_", "[A-Za-z0-9]{43}(?![A-Za-z0-9])"),
    ("Shopify token", "shpat_ shpca_ shppa_ shpss_", "[0-9a-fA-F]{32}"),
    ("Square token", "sq0csp- sq0atp- sq0idp-", r"[\w-]{22,}+"),
    ("Databricks token", "dapi", "[0-9a-f]{32}(?![A-Za-z0-9])"),
    ("Grafana token", "glc_ glsa_", "[A-Za-z0-9+/=_]{32,}+"),
    ("Vault token", "hvs. hvb. hvr.", r"[\w-]{24,}+"),
    ("Tailscale key", "tskey-", "[A-Za-z0-9-]{20,}+"),
    ("Doppler token", "dp.pt. dp.st. dp.ct. dp.sa. dp.scim. dp.audit.", r"[\w.-]{40,}+"),
    ("Supabase token", "sbp_", "[0-9a-f]{40}"),
    ("Atlassian token", "ATATT3", r"[\w=-]{60,}+"),
    ("1Password token", "ops_eyJ", "[A-Za-z0-9+/=]{100,}+"),
    ("age key", "AGE-SECRET-KEY-1", "[A-Z0-9]{58}"),
)
"""Tokens that begin with one of a few words, and what follows. None begins in the middle of a word,
so that base64 passes.
"""
_SECRET_NAME = (
    r"(?:(?:[A-Z0-9]+_){0,8}(?:(?:API|SECRET|ACCESS|PRIVATE|ENCRYPTION|SIGNING|MASTER|AUTH|ACCOUNT)"
    r"_?KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|CREDENTIALS?|(?<=_)(?:PASS|PWD|PAT))"
    r"(?:_(?:BASE|ID|\d{1,3}))?"
    r"|(?i:api_?key|(?:client|app)_?secret|secret_?key|(?:access|auth)_?token|password|passwd))"
)
"""Names that stand before a secret as in a shell, a ``.env`` file or JSON."""
_CODE = (
    r"(?![A-Za-z_][\w.]*+[(\[]|[A-Za-z_]\w*+(?:\.[A-Za-z_]\w*+)++(?=[\s,;)\]]|\Z)"
    r"|[a-z]++(?:_[a-z0-9]++)++(?=[\s,;)\]]|\Z))"
)
"""Stands before what is no call and no name of a program: these are not secret."""
_PLACEHOLDER = (
    r"(?![$<{%*]|\[secret\]|[xX]{3}|\.\.\.|(?i:your|change|example|dummy|placeholder|password\b"
    r"|secret\b|test\b|pass\b|none\b|null\b|redacted))"
)
"""Stands before what could be a secret: manuals write these instead of one."""
_MIXED = r"(?=[^\s\"'`,;]{0,60}\d)(?=[^\s\"'`,;]{0,60}[A-Za-z])"
"""Stands before what has a letter and a digit, as no plain word or number has."""
_OTHERS = (
    ("Telegram token", (":AA",), r"(?<!\d)\d{8,10}:AA[\w-]{33}(?![\w-])"),
    (
        "private key",
        ("PRIVATE KEY",),
        r"-----BEGIN [A-Z0-9 ]{0,30}PRIVATE KEY(?: BLOCK)?-----"
        r"((?=[^<>]{0,400}?[A-Za-z0-9+/]{30})(?:[^-]|-(?!----)){0,20000}+)",
    ),
    (
        "JSON web token",
        ("eyJ",),
        r"(?<![\w-])eyJ[\w-]{10,}+\.eyJ[\w-]{10,}+\.[\w-]{10,}+",
    ),
    (
        "password in an address",
        ("://",),
        rf"://[^\s:@/\"'<>]{{0,80}}:({_PLACEHOLDER}[^\s@/\"'<>]{{3,200}}+)@",
    ),
    (
        "password in a connection string",
        (";",),
        r"(?i:;\s?(?:password|pwd|accountkey|sharedaccesskey|sharedaccesssignature)\s?=\s?)"
        rf"({_PLACEHOLDER}[^\s;\"'()\[\]]{{6,400}}+)(?![(\[])",
    ),
    (
        "credentials of a request",
        ("earer ", "EARER ", "asic ", "ASIC "),
        rf"\b(?i:bearer|authorization:\s?basic)\s({_PLACEHOLDER}{_MIXED}[\w.~+/-]{{16,4000}}+=*+)",
    ),
    (
        "value of a secret's name",
        ("=", ":"),
        rf"(?<![A-Za-z0-9_]){_SECRET_NAME}[\"']?\s?[:=]\s?[\"']?"
        rf"({_PLACEHOLDER}{_MIXED}{_CODE}[^\s\"'`,;()\[\]<>]{{8,400}}+)(?![(\[])",
    ),
)
_LEAST = 20
"""Characters that a token with a prefix has at least."""
_LINE = 2000
"""Characters; a text of so many is not cut into words."""


@cache
def _prefixed() -> list[tuple[str, str, re.Pattern[str]]]:
    """Name, prefix and what follows it. Compiling takes a moment, and few lines need it."""
    return [
        (name, prefix, re.compile(rest, re.ASCII))
        for name, prefixes, rest in _TOKENS
        for prefix in prefixes.split()
    ]


@cache
def _free(number: int) -> re.Pattern[str]:
    """The pattern of a rule without a prefix."""
    return re.compile(_OTHERS[number][2], re.ASCII)


def found(text: str) -> Iterator[Found]:
    """Every secret in ``text``, in no order; they may overlap."""
    for name, prefix, rest in _prefixed() if _has_long_word(text) else ():
        at = text.find(prefix)
        while at >= 0:
            behind = at + len(prefix)
            match = None if _in_word(text, at) else rest.match(text, behind)
            if match:
                behind = match.end()
                yield Found(at, at, behind, name)
            at = text.find(prefix, behind)
    for number, (name, literals, _) in enumerate(_OTHERS):
        if any(literal in text for literal in literals):
            pattern = _free(number)
            group = min(1, pattern.groups)
            for match in pattern.finditer(text):
                yield Found(match.start(), match.start(group), match.end(group), name)


def _has_long_word(text: str) -> bool:
    """Whether a token with a prefix may be in ``text``. Most lines of talk have no long word, which
    is seen sooner than that they have no prefix.
    """
    return len(text) > _LINE or max(map(len, text.split()), default=0) >= _LEAST


def _in_word(text: str, at: int) -> bool:
    before = text[at - 1 : at]
    return before.isascii() and before.isalnum()
