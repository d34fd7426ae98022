"""The command `planner`: what it says when something is missing or wrong, and what it prints."""

import socket
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from typer.main import get_command

import server.cli
import server.commands.serving
from schema import sdl
from server.authjs import cookie_name, decode, derive_keys
from server.dev import dev_secret

SECRET = "a secret of the tests, long enough for anybody"

Planner = Callable[..., tuple[int, str, str]]


@pytest.fixture
def home(tmp_path: Path) -> Path:
    return tmp_path / "home"


@pytest.fixture
def planner(
    monkeypatch: pytest.MonkeyPatch, capfd: pytest.CaptureFixture[str], tmp_path: Path, home: Path
) -> Planner:
    """Runs the command; returns the exit code, and what it printed to both streams."""
    # Nothing of the machine's own: no AWS, no settings. Logs stay as the tests have them.
    monkeypatch.setattr("os.environ", {"HOME": str(tmp_path), "COLUMNS": "200"})
    monkeypatch.setenv("AWS_EC2_METADATA_DISABLED", "true")
    monkeypatch.setenv("PLANNER_HOME", str(home))
    monkeypatch.setattr(server.commands.serving, "log_for_machines", lambda: None)
    monkeypatch.setattr(server.commands.serving, "log_for_people", lambda: None)

    def run(*arguments: str, **settings: str) -> tuple[int, str, str]:
        for name, value in settings.items():
            monkeypatch.setenv(name, value)
        monkeypatch.setattr("sys.argv", ["planner", *arguments])
        with pytest.raises(SystemExit) as ended:
            server.cli.main()
        printed = capfd.readouterr()
        return int(ended.value.code or 0), printed.out, printed.err

    return run


def test_schema_is_printed(planner: Planner) -> None:
    assert planner("schema") == (0, sdl(), "")


def test_a_token_holds_what_was_asked_for(planner: Planner) -> None:
    code, out, _ = planner(
        "token", "--team", "acme", "--user", "ada", "--role", "viewer",
        AUTH_SECRET=SECRET,
    )  # fmt: skip
    assert code == 0
    claims = decode(out.strip(), derive_keys([SECRET], cookie_name(secure=False)))
    assert (claims["teamId"], claims["sub"], claims["role"]) == ("acme", "ada", "viewer")
    expires = claims["exp"]
    assert isinstance(expires, int | float)
    assert time.time() < expires < time.time() + 31 * 86_400


def test_tokens_without_a_secret_are_signed_for_the_development_server(
    planner: Planner, home: Path
) -> None:
    secret = dev_secret(home)
    assert len(secret) >= 32
    assert (home / "auth-secret").stat().st_mode & 0o077 == 0
    code, out, err = planner("token", "--team", "demo", "--user", "me")
    assert code == 0
    assert str(home.resolve()) in err
    assert decode(out.strip(), derive_keys([secret], cookie_name(secure=False)))


def test_no_token_is_signed_with_a_secret_that_no_server_has(planner: Planner, home: Path) -> None:
    code, out, err = planner("token", "--team", "demo", "--user", "me")
    assert (code, out) == (1, "")
    assert f"no secret of `planner dev` in {home.resolve()}: set AUTH_SECRET" in err
    assert not home.exists()


@pytest.mark.parametrize(
    ("arguments", "settings", "said"),
    [
        (["serve"], {}, "AUTH_SECRET is not set"),
        (["serve"], {"AUTH_SECRET": "short"}, "32 characters"),
        (["serve"], {"PLANNER_SESSION_STRATEGY": "database", "PORT": "0"}, "region"),
        (["serve"], {"PLANNER_SESSION_STRATEGY": "cookie"}, "PLANNER_SESSION_STRATEGY: "),
        (["serve"], {"PLANNER_MEMBERSHIP": "yes"}, "PLANNER_MEMBERSHIP: "),
        (["serve"], {"PLANNER_MEMBERSHIP_SECONDS": "61"}, "PLANNER_MEMBERSHIP_SECONDS: "),
        (
            ["token", "--team", "a", "--user", "b"],
            {"PLANNER_SESSION_STRATEGY": "database", "PLANNER_STORE": "embedded"},
            "embedded store",
        ),
        (["serve"], {"PORT": "abc"}, "PORT: "),
        (["serve", "--port", "99999"], {}, "PORT: "),
        (["serve"], {"PLANNER_STORE": "mysql"}, "PLANNER_STORE: "),
        (["serve"], {"PLANNER_PUBLIC_URL": "planner.example"}, "PLANNER_PUBLIC_URL: "),
        (["serve"], {"PLANNER_ALLOWED_ORIGINS": "*"}, "PLANNER_ALLOWED_ORIGINS: "),
        (["dev"], {"AWS_ENDPOINT_URL_DYNAMODB": "127.0.0.1:8001"}, "AWS_ENDPOINT_URL_DYNAMODB: "),
        (["dev"], {"PLANNER_STORE": "dynamodb"}, "planner serve"),
        (["dev"], {"AWS_ENDPOINT_URL_DYNAMODB": "http://127.0.0.1:9", "PORT": "0"}, "region"),
        (["serve"], {"AUTH_SECRET": SECRET, "PORT": "0"}, "region"),
        (["table", "describe"], {}, "set PLANNER_STORE=local, or AWS_ENDPOINT_URL_DYNAMODB"),
        (["table", "describe"], {"AWS_REGION": "eu-central-1"}, "credentials"),
        (["table", "create"], {"PLANNER_STORE": "embedded"}, "embedded store"),
        (["token", "--team", "a#b", "--user", "me"], {}, "team id"),
        (["token", "--team", "a", "--user", ""], {}, "user id"),
        (["member", "add", "--team", "a", "--user", "a\nb"], {}, "user id"),
        (["team", "create", "--id", "a", "--name", " "], {}, "blank"),
        (
            ["schema", "/nowhere/at/all.graphql"],
            {},
            "/nowhere/at/all.graphql: No such file or directory",
        ),
    ],
)
def test_what_is_missing_or_wrong_is_one_line_and_no_traceback(
    planner: Planner, arguments: list[str], settings: dict[str, str], said: str
) -> None:
    code, out, err = planner(*arguments, **settings)
    assert code in (1, 2)
    assert said in err
    assert "Traceback" not in err
    assert len(err.strip().splitlines()) == 1
    assert out == ""


def test_a_port_that_is_taken_is_said_before_anything_is_started(
    planner: Planner, unused_tcp_port: int
) -> None:
    with socket.create_server(("127.0.0.1", unused_tcp_port)):
        code, _, err = planner("dev", "--port", str(unused_tcp_port))
    assert code == 1
    assert "--port" in err
    assert "Open" not in err


def test_a_value_that_does_not_fit_is_told_of_with_its_option(planner: Planner) -> None:
    code, _, err = planner("token", "--team", "a", "--user", "b", "--role", "boss")
    assert code == 2
    said = " ".join(err.replace("│", " ").split())  # Without the box around it.
    assert "Invalid value for '--role': 'boss' is not one of 'admin', 'member', 'viewer'" in said


def commands(group: Any, *path: str) -> Iterator[tuple[str, ...]]:
    """The words of the group and of all commands below it."""
    yield path
    for name, command in getattr(group, "commands", {}).items():
        yield from commands(command, *path, name)


@pytest.mark.parametrize("command", [*commands(get_command(server.cli.app))], ids=" ".join)
def test_each_command_explains_itself(planner: Planner, command: tuple[str, ...]) -> None:
    code, out, _ = planner(*command, "--help")
    assert code == 0
    assert "Usage" in out
    # Flags take none.
    assert "<bool>" not in out
