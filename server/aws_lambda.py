"""The application on AWS Lambda: an HTTP event at a time, in an environment that is frozen between
two of them.

Events and answers are those of API Gateway's HTTP APIs and of function URLs (payload format 2.0);
Mangum turns them into ASGI and back. Its own lifespan begins and ends with each event, so the
application is started here, once for each execution environment. See docs/deploy.md.
"""

import asyncio
from typing import Any, Final

import orjson
from mangum import Mangum
from mangum.types import LambdaContext
from starlette.applications import Starlette

from data.errors import LimitExceeded
from server.answers import JSON, problem
from server.envelope import GRAPHQL_RESPONSE

__all__ = ["MAX_ANSWER_BYTES", "Function"]

MAX_ANSWER_BYTES: Final = 6 * 1024 * 1024
"""What Lambda passes on of an answer, as the JSON that it is wrapped in ("Lambda quotas" of its
developer guide, invocation payload). Of a longer one the caller would see a bare 502."""

_FORMAT: Final = "2.0"
_TEXT: Final = ("text/", JSON, GRAPHQL_RESPONSE)
"""All else is sent in base64."""

_CODE: Final = LimitExceeded.code
_OF_CONTENT: Final = {"content-disposition", "content-encoding", "etag", "last-modified"}
"""Headers that say something of one content and no other."""


class Function:
    """What answers the events of one execution environment. All calls must come from the thread
    that made it, one after the other, as Lambda's do.

    The event loop runs only while an event is answered. What happened to its sockets while the
    environment was frozen is looked at first, so that a connection that has ended is not used.
    """

    def __init__(self, app: Starlette) -> None:
        """Starts the application. Raises what its start raises."""
        self._loop = asyncio.new_event_loop()
        # Mangum runs its coroutines on the loop that is set.
        asyncio.set_event_loop(self._loop)
        self._adapter = Mangum(app, lifespan="off", text_mime_types=list(_TEXT))
        self._lifespan = app.router.lifespan_context(app)
        try:
            self._loop.run_until_complete(self._lifespan.__aenter__())
        except BaseException:
            self._close_loop()
            raise

    def __call__(self, event: dict[str, Any], context: LambdaContext) -> dict[str, Any]:
        """The answer to one event. Raises ValueError for one that is no HTTP request in payload
        format 2.0: whoever set the function up has to know."""
        if event.get("version") != _FORMAT or "http" not in event.get("requestContext", {}):
            raise ValueError(f"This function takes HTTP events in payload format {_FORMAT} only.")
        self._loop.run_until_complete(asyncio.sleep(0))
        answer = _bounded(self._adapter(event, context))
        if event["requestContext"]["http"]["method"] == "HEAD":
            answer["body"] = ""  # As a server of HTTP leaves it out.
        return answer

    def close(self) -> None:
        """Stops the application: what runs in the background is finished first."""
        try:
            self._loop.run_until_complete(self._lifespan.__aexit__(None, None, None))
        finally:
            self._close_loop()

    def _close_loop(self) -> None:
        asyncio.set_event_loop(None)
        self._loop.close()


def _bounded(answer: dict[str, Any]) -> dict[str, Any]:
    """The answer, or in its place one that says that it is too large."""
    if len(orjson.dumps(answer)) <= MAX_ANSWER_BYTES:
        return answer
    message = f"The answer is larger than the {MAX_ANSWER_BYTES} bytes that AWS Lambda passes on"
    headers: dict[str, str] = dict(answer["headers"])
    if headers.get("content-type", "").startswith((JSON, GRAPHQL_RESPONSE)):
        said = problem(f"{message}: ask for less. What a mutation wrote is written.", _CODE)
        # With `data`, since it was carried out (GraphQL over HTTP).
        body = orjson.dumps({"data": None, **said}).decode()
        headers["content-length"] = str(len(body))
        return {**answer, "headers": headers, "body": body}
    # A calendar or a file. Its ETag and what else is said of it is not true of this.
    for name in _OF_CONTENT & headers.keys():
        del headers[name]
    body = orjson.dumps(problem(f"{message}.", _CODE)).decode()
    headers |= {
        "cache-control": "no-store",
        "content-length": str(len(body)),
        "content-type": f"{JSON}; charset=utf-8",
    }
    return {"statusCode": 503, "headers": headers, "body": body, "isBase64Encoded": False}
