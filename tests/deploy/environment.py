"""An execution environment of Lambda, as far as the function sees it: one thread, an event at a
time, and nothing of it runs between two of them."""

import asyncio
import base64
import json
import subprocess
from collections.abc import AsyncIterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Final, cast

from starlette.applications import Starlette

from server.app import create_app
from server.aws_lambda import Function
from server.engines import DUMMY_CREDENTIALS
from server.settings import Settings
from tests.deploy.events import Event

__all__ = ["HANDLER", "RUNTIME", "Answer", "Environment", "ask", "environment"]

HANDLER: Final = "server.lambda_function.handler"
RUNTIME: Final = str(Path(__file__).with_name("runtime.py"))
"""The program that calls the handler named by `_HANDLER`, as `ask` tells it to."""


@dataclass(frozen=True, slots=True)
class Answer:
    """An answer as the caller of the function sees it."""

    status: int
    headers: dict[str, str]
    body: bytes
    in_base64: bool

    @classmethod
    def of(cls, answer: dict[str, Any]) -> "Answer":
        # By way of JSON, as it leaves the function; none has a cookie.
        members = json.loads(json.dumps(answer))
        assert members.keys() == {"statusCode", "headers", "body", "isBase64Encoded"}
        body, in_base64 = members["body"], members["isBase64Encoded"]
        return cls(
            members["statusCode"],
            members["headers"],
            base64.b64decode(body) if in_base64 else body.encode(),
            in_base64,
        )

    def json(self) -> Any:
        return json.loads(self.body)

    def is_refused(self, status: int, code: str = "BAD_USER_INPUT") -> bool:
        """Whether it is a refusal, in JSON with this one code and not to be kept."""
        codes = [error["extensions"]["code"] for error in self.json()["errors"]]
        return (self.status, codes, self.headers["cache-control"]) == (status, [code], "no-store")


class Environment:
    def __init__(self, app: Starlette, function: Function, thread: ThreadPoolExecutor) -> None:
        self.app = app
        self._function = function
        self._thread = thread

    async def __call__(self, event: Event) -> Answer:
        context = cast("Any", None)  # Nobody looks at it.
        answer = self._thread.submit(self._function, event, context)
        return Answer.of(await asyncio.wrap_future(answer))


@asynccontextmanager
async def environment(settings: Settings, **more: Any) -> AsyncIterator[Environment]:
    """From the start of the function to its end; `more` goes to `create_app`."""
    app = create_app(settings, **{"credentials": DUMMY_CREDENTIALS, **more})
    with ThreadPoolExecutor(1) as thread:
        function = await asyncio.wrap_future(thread.submit(Function, app))
        try:
            yield Environment(app, function, thread)
        finally:
            await asyncio.wrap_future(thread.submit(function.close))


def ask(process: "subprocess.Popen[str]", event: Event) -> Answer:
    """The answer of the program `RUNTIME` to one event."""
    assert process.stdin
    assert process.stdout
    process.stdin.write(json.dumps(event) + "\n")
    process.stdin.flush()
    return Answer.of(json.loads(process.stdout.readline()))
