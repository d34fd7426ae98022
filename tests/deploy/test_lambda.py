"""The application on AWS Lambda: events as HTTP APIs and function URLs send them."""

import json
from collections.abc import AsyncIterator, Callable
from urllib.parse import quote, urlencode

import pytest
from botocore.exceptions import NoRegionError
from msgspec.structs import replace

import server.aws_lambda
from data.feeds import new_token
from data.store import Store
from server.settings import Settings
from tests.api.http import GRAPHQL, MUTATION, QUERY, named
from tests.api.samples import assignment, feed, project, resource
from tests.api_client import everything, put, token
from tests.deploy.environment import Environment, environment
from tests.deploy.events import DOMAIN, Event, function_url, get, graphql, http_api, session
from tests.store.stub import no_complaints, settings_for

# What is about HTTP is the same on each engine.
pytestmark = pytest.mark.engines("embedded")

CREATE = """mutation($input: CreateResourceInput!) {
  createResource(input: $input) { resource { name } errors { code } }
}"""
NAMES = "{ team { resources { name } } }"
BODY_BYTES = 10_000


@pytest.fixture(scope="module")
async def function(settings: Settings) -> AsyncIterator[Environment]:
    with_metrics = settings.model_copy(update={"metrics": True, "max_body_bytes": BODY_BYTES})
    async with environment(with_metrics) as started:
        yield started


@pytest.mark.engines("embedded", "local")
@pytest.mark.parametrize("by", [lambda event: event, function_url], ids=["HTTP API", "URL"])
async def test_what_a_mutation_wrote_is_in_the_next_query(
    function: Environment, team: str, by: Callable[[Event], Event]
) -> None:
    created = await function(by(graphql(team, CREATE, {"input": {"name": "上田 Ueda"}})))
    assert created.status == 200
    assert created.json()["data"]["createResource"]["errors"] == []
    answer = await function(by(graphql(team, NAMES)))
    assert answer.json() == {"data": {"team": {"resources": [{"name": "上田 Ueda"}]}}}
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert not answer.in_base64


async def test_a_body_in_base64_is_the_same_body(function: Environment, team: str) -> None:
    created = await function(graphql(team, CREATE, {"input": {"name": "上田"}}, in_base64=True))
    assert created.json()["data"]["createResource"]["resource"] == {"name": "上田"}


async def test_a_query_in_the_url_is_decoded_once(function: Environment, team: str) -> None:
    document = "query A { a: team { name } } query B { b: team { name } }"
    for written in (urlencode({"query": document, "operationName": "B"}),
                    f"query={quote(document, safe='')}&operationName=B"):  # fmt: skip
        answer = await function(get("/graphql", query=written, cookies=session(team)))
        assert answer.json() == {"data": {"b": {"name": team}}}
    twice = await function(get("/graphql", query="query=a&query=b", cookies=session(team)))
    assert twice.is_refused(400)


async def test_an_answer_in_graphqls_own_media_type_is_text(
    function: Environment, team: str
) -> None:
    answer = await function(graphql(team, QUERY, headers={"accept": GRAPHQL}))
    assert answer.headers["content-type"] == f"{GRAPHQL}; charset=utf-8"
    assert (answer.json(), answer.in_base64) == (named(team), False)


async def test_what_is_no_text_comes_in_base64(function: Environment) -> None:
    accept = "application/openmetrics-text; version=1.0.0"
    answer = await function(get("/metrics", headers={"accept": accept}))
    assert answer.in_base64
    assert answer.body.endswith(b"# EOF\n")


async def test_head_has_headers_and_no_body(function: Environment, team: str) -> None:
    answer = await function(
        http_api("HEAD", "/graphql", query=urlencode({"query": QUERY}), cookies=session(team))
    )
    assert (answer.status, answer.body) == (200, b"")
    assert answer.headers["content-length"] != "0"


async def test_a_calendar_that_lambda_would_not_pass_on_is_refused_and_no_calendar(
    function: Environment, store: Store, team: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    secret = new_token()
    long = replace(assignment("9999-01-01"), note="x" * 2_000)
    await put(store, team, [resource("r"), project("p"), long])
    await put(store, team, [feed(team, "f", resource="r", token=secret)])
    asked = get(f"/calendar/{secret}.ics")
    whole = await function(asked)
    assert (whole.status, whole.headers["content-length"]) == (200, str(len(whole.body)))
    monkeypatch.setattr(server.aws_lambda, "MAX_ANSWER_BYTES", 2_000)
    answer = await function(asked)
    assert answer.is_refused(503, "LIMIT_EXCEEDED")
    assert answer.headers["content-type"] == "application/json; charset=utf-8"
    assert answer.headers["content-length"] == str(len(answer.body))
    assert not {"etag", "content-disposition"} & answer.headers.keys()


async def test_probes_are_answered(function: Environment) -> None:
    assert (await function(get("/healthz"))).body == b"ok"
    assert (await function(get("/readyz"))).json() == {"status": "ready"}


async def test_a_bearer_token_is_a_session_as_well(function: Environment, team: str) -> None:
    headers = {"authorization": f"Bearer {token(team)}"}
    answer = await function(graphql("nobody", QUERY, headers=headers, cookies=()))
    assert answer.json() == named(team)


@pytest.mark.parametrize(
    ("event", "status", "code"),
    [
        (graphql("t", QUERY, cookies=()), 401, "UNAUTHENTICATED"),
        (graphql("t", QUERY, cookies=("authjs.session-token=no",)), 401, "UNAUTHENTICATED"),
        (graphql("t", QUERY, headers={"content-type": "text/plain"}), 415, "BAD_USER_INPUT"),
        (graphql("t", QUERY, headers={"content-encoding": "gzip"}), 415, "BAD_USER_INPUT"),
        (graphql("t", QUERY, headers={"accept": "text/html"}), 406, "BAD_USER_INPUT"),
        (graphql("t", QUERY, body=b"\xff", in_base64=True), 400, "BAD_USER_INPUT"),
        (graphql("t", QUERY, body=b"[]"), 400, "BAD_USER_INPUT"),
        (http_api("POST", "/graphql", cookies=session("t")), 415, "BAD_USER_INPUT"),
        (get("/graphql", query=urlencode({"query": MUTATION}), cookies=session("t")), 405,
         "BAD_USER_INPUT"),
        (http_api("DELETE", "/graphql"), 405, "BAD_USER_INPUT"),
        (get("/"), 404, "BAD_USER_INPUT"),
        (get("/graphql/../metrics"), 404, "BAD_USER_INPUT"),
    ],
    ids=lambda value: "" if isinstance(value, dict) else str(value),
)  # fmt: skip
async def test_what_is_refused_elsewhere_is_refused_here(
    function: Environment, event: Event, status: int, code: str
) -> None:
    answer = await function(event)
    assert answer.is_refused(status, code)
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert answer.headers["x-correlation-id"]


@pytest.mark.parametrize("in_base64", [False, True])
@pytest.mark.parametrize("announced", ["all of it", "less", "nothing"])
async def test_a_body_over_the_bound_is_413_whatever_it_was_said_to_have(
    function: Environment, store: Store, team: str, announced: str, in_base64: bool
) -> None:
    body = json.dumps({"query": MUTATION + " " * BODY_BYTES}).encode()
    event = graphql(team, "", body=body, in_base64=in_base64)
    if announced == "less":
        event["headers"]["content-length"] = "10"
    elif announced == "nothing":
        del event["headers"]["content-length"]
    assert (await function(event)).is_refused(413)
    assert await everything(store, team) == []


@pytest.mark.parametrize(
    ("sent", "may"),
    [
        ({"origin": "https://evil.example", "sec-fetch-site": "cross-site"}, False),
        ({"origin": "https://evil.example"}, False),
        ({"origin": "null"}, False),
        ({"sec-fetch-site": "same-site"}, False),
        # An HTTP API joins what is there several times.
        ({"origin": f"https://{DOMAIN},https://evil.example"}, False),
        ({"sec-fetch-site": "same-origin,cross-site"}, False),
        ({"origin": f"http://{DOMAIN}"}, False),
        ({"origin": f"https://{DOMAIN}", "sec-fetch-site": "same-origin"}, True),
        ({"origin": f"https://{DOMAIN}"}, True),
        ({}, True),
    ],
    ids=str,
)
async def test_only_our_own_pages_write(
    function: Environment, store: Store, team: str, sent: dict[str, str], may: bool
) -> None:
    answer = await function(graphql(team, MUTATION, headers=sent))
    if may:
        assert answer.json() == {"data": {"createResource": {"errors": []}}}
    else:
        assert answer.is_refused(403, "FORBIDDEN")
    assert len(await everything(store, team)) == may


async def test_behind_a_domain_of_its_own_the_public_url_counts(
    settings: Settings, team: str
) -> None:
    """Its `Host` may be another; and only https has the cookie's `__Secure-` name."""
    public = settings.model_copy(update={"public_url": "https://planner.example"})
    async with environment(public) as function:
        secure = session(team, secure=True)
        page = {"origin": "https://planner.example", "sec-fetch-site": "same-origin"}
        answer = await function(graphql(team, MUTATION, headers=page, cookies=secure))
        assert answer.json() == {"data": {"createResource": {"errors": []}}}
        assert "strict-transport-security" in answer.headers
        other = {"origin": f"https://{DOMAIN}"}
        refused = await function(graphql(team, MUTATION, headers=other, cookies=secure))
        assert refused.is_refused(403, "FORBIDDEN")
        plain = await function(graphql(team, QUERY))
        assert plain.is_refused(401, "UNAUTHENTICATED")


@pytest.mark.parametrize(
    "event",
    [
        {},
        {"version": "0", "source": "aws.events", "detail": {}},
        {"version": "1.0", "httpMethod": "GET", "path": "/healthz", "requestContext": {}},
        {"version": "2.0", "requestContext": {}},
    ],
    ids=["empty", "schedule", "payload format 1.0", "without HTTP"],
)
async def test_an_event_that_is_no_request_fails_the_invocation(
    function: Environment, event: Event
) -> None:
    with pytest.raises(ValueError, match=r"payload format 2\.0"):
        await function(event)
    assert (await function(get("/healthz"))).status == 200


async def test_a_start_that_fails_is_no_function_and_leaves_nothing_open(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.delenv("AWS_DEFAULT_REGION")
    with no_complaints(), pytest.raises(NoRegionError):
        async with environment(settings_for("http://127.0.0.1:9"), credentials={}):
            pass
