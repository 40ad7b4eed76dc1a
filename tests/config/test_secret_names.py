"""Which variables of the environment hold secrets, and where in an address one stands."""

import pytest

from dory.config import secrets
from dory.config.settings import Config


@pytest.mark.parametrize(
    "name",
    [
        *("MYSQL_PWD", "GITHUB_PAT", "SECRET_KEY_BASE", "OPENAI_API_KEY_2", "openai_api_key"),
        *("AWS_ACCESS_KEY_ID", "DB_PASS", "APIKEY", "SENTRY_DSN", "JWT_SECRET_1", "NPM_AUTH"),
    ],
)
def test_a_variable_is_a_secret_by_its_name(name: str) -> None:
    assert secrets.secrets(Config(), {name: "a1b2-c3d4-e5f6"}) == ("a1b2-c3d4-e5f6",)


@pytest.mark.parametrize(
    "name",
    [
        *("PWD", "OLDPWD", "PATH", "TOKENIZERS_PARALLELISM", "MAX_TOKENS", "KEYBOARD", "PAT"),
        *("SSH_AUTH_SOCK", "POSTGRES_PASSWORD_FILE", "PASSENGER", "AUTHOR", "SECRET_NAME"),
    ],
)
def test_a_variable_that_only_sounds_like_a_secret_is_none(name: str) -> None:
    assert secrets.secrets(Config(), {name: "/home/ada/x-1"}) == ()


@pytest.mark.parametrize(
    "value",
    [
        "postgres://dory:d4ta/base-pw@db.example/dory",
        "Server=db;Uid=ada;Pwd=d4ta/base-pw;Pooling=true",
        "host=db user=ada password=d4ta/base-pw",
        "DefaultEndpointsProtocol=https;AccountKey=d4ta/base-pw;x=y",
    ],
)
def test_the_password_in_a_connection_string_is_a_secret(value: str) -> None:
    assert secrets.secrets(Config(), {"STORE": value}) == ("d4ta/base-pw",)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("GOOGLE_APPLICATION_CREDENTIALS", "/home/ada/k.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "/key-file.json"),
        ("GOOGLE_APPLICATION_CREDENTIALS", "keys/prod.json"),
        ("SSH_KEY", "~/.ssh/id_ed25519"),
        ("SSH_KEY", "/Users/Ada B/.ssh/id_rsa"),
        ("SSH_KEY", "C:\\Users\\ada\\id_rsa"),
        ("TLS_KEY", "./certs/server"),
        ("SORT_KEY", "created_at"),
        ("SORT_KEY", "last_modification_date"),
        ("SORT_KEY", "CREATED_AT"),
        ("PARTITION_KEY", "createdAt"),
    ],
)
def test_a_path_or_a_name_in_a_program_is_no_secret(name: str, value: str) -> None:
    assert secrets.secrets(Config(), {name: value}) == ()


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("AWS_SECRET_ACCESS_KEY", "/Jalr8UtnFEMI/K7MDENG/bPxRfiCYzzzzzzzKEY"),
        ("DB_PASSWORD", "correct_horse_battery"),
        ("API_KEY", "sk_live_4f9a81c0"),
        ("API_KEY", "kJhGfDsAqWeRtYuIo"),
        ("DB_PASSWORD", "/x7!home"),
    ],
)
def test_what_only_resembles_a_path_or_a_name_is_a_secret(name: str, value: str) -> None:
    assert secrets.secrets(Config(), {name: value}) == (value,)
