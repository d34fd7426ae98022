"""From headers to a session: which token counts, its times, its user, team and role."""

import dataclasses
import json
import time
from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import cast

import pytest
from hypothesis import assume, given
from hypothesis import strategies as st
from starlette.datastructures import Headers

import server.claims
from data.entities import Role
from data.errors import Forbidden, Unauthenticated
from data.store import Store
from data.team_id import MAX_TEAM_ID_LENGTH, is_team_id
from resolvers.session import Session
from server.app import create_app
from server.authjs import InvalidToken, encode
from server.claims import BAD_TEAM, TokenReader
from server.session import UNAUTHENTICATED, Authenticator
from server.settings import Settings
from tests.unit.server.forged_tokens import HOSTILE

PLAIN = "authjs.session-token"
SECURE = "__Secure-authjs.session-token"
SECRET = "correct horse battery staple, but longer"
OLD = "the secret of last year, since then rotated"
OTHER = "a secret that nobody ever put in this list"

NOW = 1_800_000_000
CLAIMS: Mapping[str, object] = {"sub": "u1", "teamId": "demo", "iat": NOW - 60, "exp": NOW + 60}
ABSENT = object()


def settings(*secrets: str, secure: bool = False, team_claim: str = "teamId") -> Settings:
    """`secrets` newest first. All that matters is given, so that the environment does not."""
    names = ("auth_secret", "auth_secret_1", "auth_secret_2", "auth_secret_3")
    url = "https://planner.example" if secure else "http://127.0.0.1:8000"
    values: dict[str, object] = {**dict.fromkeys(names), "public_url": url}
    values |= {"team_claim": team_claim, **dict(zip(names, reversed(secrets), strict=False))}
    return Settings.model_validate(values)


class Pure:
    """An authenticator without a store, whose answers come at once: it waits for nobody."""

    def __init__(self, settings: Settings, clock: Callable[[], float]) -> None:
        tokens = TokenReader(settings, clock=clock)
        self._authenticator = Authenticator(settings, cast("Store", None), tokens)

    def authenticate(self, headers: Headers) -> Session:
        waiting = self._authenticator.authenticate(headers)
        try:
            waiting.send(None)
        except StopIteration as answer:
            session: Session = answer.value
            return session
        waiting.close()
        raise AssertionError("it waited")


def authenticator(*secrets: str, secure: bool = False, team_claim: str = "teamId") -> Pure:
    given = settings(*(secrets or (SECRET,)), secure=secure, team_claim=team_claim)
    return Pure(given, lambda: NOW)


def token(
    changes: Mapping[str, object] = MappingProxyType({}), *, secret: str = SECRET, name: str = PLAIN
) -> str:
    claims = {claim: value for claim, value in {**CLAIMS, **changes}.items() if value is not ABSENT}
    return encode(claims, secret=secret, cookie_name=name)


def request(*pairs: tuple[str, str]) -> Headers:
    return Headers(raw=[(key.encode(), value.encode()) for key, value in pairs])


def bearer(value: str) -> Headers:
    return request(("authorization", f"Bearer {value}"))


def cookie(*values: str) -> Headers:
    return request(*(("cookie", value) for value in values))


def refused(headers: Headers, reader: Pure | None = None) -> bool:
    """Whether it is refused, in the words of every other refusal; whatever else is a failure."""
    with pytest.raises(Unauthenticated) as caught:
        (reader or authenticator()).authenticate(headers)
    return caught.value.message == UNAUTHENTICATED


A = token({"sub": "a"})
B = token({"sub": "b"})
LONG = token({"sub": "a", "picture": "x" * 9_000})


def chunks(count: int, value: str = LONG, name: str = PLAIN) -> list[str]:
    size = -(-len(value) // count)
    return [f"{name}.{n}={value[n * size : (n + 1) * size]}" for n in range(count)]


@pytest.mark.parametrize(
    ("role", "writes"), [(Role.ADMIN, True), (Role.MEMBER, True), (Role.VIEWER, False)]
)
def test_admins_and_members_may_write(role: Role, writes: bool) -> None:
    session = Session(user_id="u1", team_id="demo", role=role)
    assert session.may_write is writes
    with pytest.raises(dataclasses.FrozenInstanceError):
        session.team_id = "other"  # type: ignore[misc]  # that it is frozen is the test


# Which token counts.


@pytest.mark.parametrize(
    "headers",
    [
        cookie(f"{PLAIN}={A}"),
        cookie(f"theme=dark;{PLAIN}={A} ; x=y=z; flag"),
        cookie("theme=dark", f"{PLAIN}={A}", "x=y"),
        cookie(f"{PLAIN}={A}; {SECURE}={B}"),
        cookie(f"{PLAIN}={A}; {PLAIN}s={B}; x{PLAIN}={B}"),
        cookie("; ".join(chunks(3))),
        cookie(f"{PLAIN}={A.replace('.', '%2E')}"),
        cookie("; ".join(reversed(chunks(12)))),
        cookie(*chunks(20)),
        cookie(f"{PLAIN}.0={A}"),
        bearer(A),
        request(("authorization", f"bEARER  {A}")),
        request(("authorization", f"Bearer {A}"), ("cookie", f"{PLAIN}={B}")),
        request(("authorization", f"Bearer {A}"), ("cookie", f"{PLAIN}={B}; {PLAIN}={B}")),
        request(("authorization", "Basic dXNlcjpwYXNz"), ("cookie", f"{PLAIN}={A}")),
    ],
)
def test_the_one_token_of_the_request_is_found(headers: Headers) -> None:
    assert authenticator().authenticate(headers).user_id == "a"


@pytest.mark.parametrize(
    "headers",
    [
        request(),
        cookie(""),
        cookie(f"{PLAIN}="),
        cookie(PLAIN),
        cookie(f"={A}"),
        cookie(A),
        cookie(f"{PLAIN.upper()}={A}"),
        cookie(f"next-auth.session-token={A}"),
        cookie(f'{PLAIN}="{A}"'),
        Headers(raw=[(b"cookie", f"\u00a0{PLAIN}={A}".encode("latin-1"))]),
        cookie(f"{PLAIN}={A}; {PLAIN}={B}"),
        cookie(f"{PLAIN}={A}; {PLAIN}={A}"),
        cookie(f"{PLAIN}={A}", f"{PLAIN}={B}"),
        cookie(f"{PLAIN}={A}; {PLAIN}="),
        cookie(f"{PLAIN}={A}; {PLAIN}.0={A}"),
        cookie("; ".join(chunks(3)[:2])),
        cookie("; ".join(chunks(3)[1:])),
        cookie("; ".join([chunks(3)[0], chunks(3)[2]])),
        cookie("; ".join([*chunks(3), chunks(3)[0]])),
        cookie("; ".join(chunks(21))),
        cookie("; ".join(f"{PLAIN}.{n}=" for n in range(5_000))),
        cookie(f"{PLAIN}.00={A}"),
        cookie(f"{PLAIN}.1={A}"),
        cookie(f"{PLAIN}.-1={A}"),
        cookie(f"{PLAIN}.²={A}"),
        cookie(f"{PLAIN}.{'9' * 5_000}={A}"),
        cookie(f"{PLAIN}.={A}"),
        bearer(""),
        bearer(f"{A} {A}"),
        bearer(f'"{A}"'),
        bearer(A.replace(".", "%2E")),
        request(("authorization", "Bearer"), ("cookie", f"{PLAIN}={A}")),
        request(("authorization", "Bearer x"), ("cookie", f"{PLAIN}={A}")),
        request(("authorization", f"Bearer {A}"), ("authorization", f"Bearer {A}")),
        request(("authorization", A)),
        request(("authorization", f"Token {A}")),
        request(("x-authorization", f"Bearer {A}")),
    ],
)
def test_no_token_or_more_than_one_is_refused(headers: Headers) -> None:
    assert refused(headers)


def test_on_https_only_the_secure_cookie_counts() -> None:
    reader = authenticator(secure=True)
    good = token({"sub": "a"}, name=SECURE)
    assert reader.authenticate(cookie(f"{SECURE}={good}")).user_id == "a"
    assert reader.authenticate(cookie(f"{SECURE}={good}; {PLAIN}={B}")).user_id == "a"
    assert reader.authenticate(cookie(*chunks(3, good, SECURE))).user_id == "a"
    assert refused(cookie(f"{PLAIN}={A}"), reader)
    assert refused(cookie(f"{PLAIN}={good}"), reader)
    other = token({"sub": "b"}, name=SECURE)
    assert refused(cookie(f"{SECURE}={good}; {SECURE}={other}"), reader)


@pytest.mark.parametrize(
    ("secure", "own", "other"), [(False, PLAIN, SECURE), (True, SECURE, PLAIN)]
)
def test_a_token_of_the_other_cookie_name_is_refused(secure: bool, own: str, other: str) -> None:
    """A-01: the name is the salt of the key, for a bearer token too."""
    reader = authenticator(secure=secure)
    assert reader.authenticate(bearer(token(name=own))).user_id == "u1"
    assert refused(bearer(token(name=other)), reader)
    assert refused(cookie(f"{own}={token(name=other)}"), reader)


@pytest.mark.parametrize("forged", HOSTILE.values(), ids=HOSTILE.keys())
def test_a_forged_token_is_refused_like_any_other_and_asks_nobody(forged: str) -> None:
    """A-06."""
    # What can't stand in a header at all never gets here.
    raw = f"Bearer {forged}".encode("latin-1", "replace")
    assert refused(Headers(raw=[(b"authorization", raw)]))


# Secrets.


def test_tokens_of_every_listed_secret_are_read() -> None:
    reader = authenticator(SECRET, OLD)
    assert reader.authenticate(bearer(token(secret=SECRET))).user_id == "u1"
    assert reader.authenticate(bearer(token(secret=OLD))).user_id == "u1"
    assert refused(bearer(token(secret=OTHER)), reader)
    assert refused(bearer(token(secret=OLD)), authenticator(SECRET))


def test_without_a_secret_nothing_starts() -> None:
    with pytest.raises(ValueError, match="AUTH_SECRET is not set"):
        create_app(settings())
    with pytest.raises(ValueError, match="32 characters"):
        settings("short")


# Times.


@pytest.mark.parametrize(
    "times",
    [
        {"exp": NOW + 0.5},
        {"exp": NOW - 1},
        {"exp": NOW - 14},
        {"exp": 253_402_300_799},
        {"iat": ABSENT},
        {"iat": NOW + 15},
        {"nbf": NOW + 15},
        {"nbf": 0, "iat": 0},
    ],
)
def test_a_token_within_its_time_is_good(times: dict[str, object]) -> None:
    assert authenticator().authenticate(bearer(token(times))).user_id == "u1"


@pytest.mark.parametrize(
    "times",
    [
        {"exp": ABSENT},
        {"exp": None},
        {"exp": NOW - 15},
        {"exp": NOW - 16},
        {"exp": 0},
        {"exp": -1},
        {"exp": str(NOW + 60)},
        {"exp": True},
        {"exp": [NOW + 60]},
        {"exp": {}},
        {"exp": 1e20},
        {"exp": 10**400},
        {"exp": (NOW + 60) * 1_000},
        {"exp": float("nan")},
        {"exp": float("inf")},
        {"nbf": NOW + 16},
        {"nbf": None},
        {"nbf": "0"},
        {"nbf": False},
        {"nbf": -1},
        {"nbf": 1e20},
        {"iat": NOW + 16},
        {"iat": NOW + 86_400},
        {"iat": 1e20},
        {"iat": "now"},
        {"iat": None},
    ],
)
def test_a_token_outside_its_time_is_refused(times: dict[str, object]) -> None:
    assert refused(bearer(token(times)))


def test_the_clock_is_asked_at_every_request() -> None:
    now = [float(NOW)]
    reader = Pure(settings(SECRET), lambda: now[0])
    good = bearer(token({"exp": NOW + 60}))
    assert reader.authenticate(good).user_id == "u1"
    now[0] = NOW + 75.0
    assert refused(good, reader)


# User, team and role.


@pytest.mark.parametrize("sub", ["u1", "auth0|123", "ö" * 255, "a b"])
def test_a_user_id_is_kept_as_it_is(sub: str) -> None:
    assert authenticator().authenticate(bearer(token({"sub": sub}))).user_id == sub


@pytest.mark.parametrize(
    "sub", [ABSENT, None, "", " ", 5, True, [], {}, "u" * 256, "a\nb", "a\x00b", "\ud800"]
)
def test_a_token_without_a_user_is_refused(sub: object) -> None:
    assert refused(bearer(token({"sub": sub})))


GOOD_TEAMS = ["demo", "0190b5a2-9c2e-7000-8000-000000000000", "t" * 100, "チーム", "🚀", "a b", "~"]
BAD_TEAMS: list[object] = [
    *("", " ", "\u3000", "A#B", "#", "t" * 101, "t" * 3_000, "a\nb", "a\x00", "\x7f", "a\x85b"),
    *("\ud800", 5, 0, True, False, 1.5, [], ["demo"], {"a": 1}),
]


@pytest.mark.parametrize("team", GOOD_TEAMS)
def test_a_good_team_id_is_kept_as_it_is(team: str) -> None:
    assert is_team_id(team)
    assert authenticator().authenticate(bearer(token({"teamId": team}))).team_id == team


@pytest.mark.parametrize("team", BAD_TEAMS)
def test_a_malformed_team_id_is_forbidden(team: object) -> None:
    assert not is_team_id(team)
    with pytest.raises(Forbidden) as caught:
        authenticator().authenticate(bearer(token({"teamId": team})))
    assert caught.value.message == BAD_TEAM


def test_the_team_claim_has_the_name_of_the_settings() -> None:
    reader = authenticator(team_claim="org")
    assert reader.authenticate(bearer(token({"org": "mine", "teamId": "other"}))).team_id == "mine"
    with pytest.raises(Forbidden):
        reader.authenticate(bearer(token({"org": "A#B", "teamId": "other"})))


def test_a_bad_token_is_refused_before_its_team_is_looked_at() -> None:
    assert refused(bearer(token({"teamId": "A#B", "exp": NOW - 16})))
    assert refused(bearer(token({"teamId": "A#B", "sub": ""})))


@pytest.mark.parametrize(
    ("claim", "role"),
    [
        (ABSENT, Role.MEMBER),
        ("admin", Role.ADMIN),
        ("member", Role.MEMBER),
        ("viewer", Role.VIEWER),
        ("owner", Role.VIEWER),
        ("ADMIN", Role.VIEWER),
        (" admin", Role.VIEWER),
        ("", Role.VIEWER),
        (None, Role.VIEWER),
        (True, Role.VIEWER),
        (1, Role.VIEWER),
        (["admin"], Role.VIEWER),
        ({"admin": True}, Role.VIEWER),
    ],
)
def test_a_role_that_is_not_understood_may_only_read(claim: object, role: Role) -> None:
    assert authenticator().authenticate(bearer(token({"role": claim}))).role is role


# Garbage.

READER = authenticator(SECRET, OLD, OTHER)
RAW = st.binary(max_size=300)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner),
    max_leaves=8,
)


@given(st.text(max_size=300) | st.text(".AZaz09-_=", max_size=300))
def test_text_that_is_no_token_is_refused(text: str) -> None:
    assert refused(bearer(text.encode("utf-8", "replace").decode()), READER)


@given(RAW)
def test_bytes_that_are_no_token_are_refused(data: bytes) -> None:
    assert refused(Headers(raw=[(b"cookie", PLAIN.encode() + b"=" + data)]), READER)
    assert refused(Headers(raw=[(b"authorization", b"Bearer " + data)]), READER)
    assert refused(Headers(raw=[(b"cookie", data), (b"authorization", data)]), READER)


@given(st.integers(0, len(A) - 1), st.characters(max_codepoint=0xFF))
def test_a_token_with_one_character_changed_is_refused(at: int, other: str) -> None:
    if other == A[at]:
        other = "A" if other != "A" else "B"
    changed = (A[:at] + other + A[at + 1 :]).encode("latin-1")
    assert refused(Headers(raw=[(b"authorization", b"Bearer " + changed)]), READER)
    assert refused(Headers(raw=[(b"cookie", f"{PLAIN}=".encode() + changed)]), READER)


@given(st.dictionaries(st.sampled_from(["sub", "teamId", "role", "iat", "nbf"]), JSON))
def test_whatever_the_claims_are_the_answer_is_a_session_or_a_refusal(
    changes: dict[str, object],
) -> None:
    assume(changes.get("teamId", "") is not None)  # It would be looked up.
    text = json.dumps({**CLAIMS, **changes})
    sealed = encode(json.loads(text), secret=SECRET, cookie_name=PLAIN)
    try:
        outcome: Session | str = READER.authenticate(bearer(sealed))
    except (Unauthenticated, Forbidden) as error:
        outcome = error.message
    if isinstance(outcome, Session):
        assert isinstance(outcome.user_id, str)
        assert 0 < len(outcome.team_id) <= MAX_TEAM_ID_LENGTH
        assert "#" not in outcome.team_id
        assert outcome.role in Role
    else:
        assert outcome in (UNAUTHENTICATED, BAD_TEAM)


def test_a_request_costs_less_than_a_millisecond_and_derives_no_key() -> None:
    reader = authenticator(SECRET, OLD, OTHER)
    spent = []
    for number in range(20):
        # None of them is remembered.
        headers = bearer(token({"jti": str(number)}))
        start = time.thread_time()
        assert reader.authenticate(headers).user_id == "u1"
        spent.append(time.thread_time() - start)
    assert min(spent) < 0.001


def test_a_good_token_is_decrypted_once_and_a_bad_one_each_time() -> None:
    reader = TokenReader(settings(SECRET), clock=lambda: NOW)
    good, bad = token({}), token({})[:-2] + "xx"
    for _ in range(3):
        assert reader.read(good).user_id == "u1"
        with pytest.raises(InvalidToken):
            reader.read(bad)
    assert reader._decoded.cache_info()[:2] == (2, 4)


def test_what_is_remembered_of_tokens_is_bounded() -> None:
    reader = TokenReader(settings(SECRET), clock=lambda: NOW)
    # self._decoded of TokenReader
    assert reader._decoded.cache_info().maxsize == server.claims._REMEMBERED_TOKENS
