"""The entry point on AWS Lambda: `server.lambda_function.handler`. To import it is to start the
server, which Lambda does once in each execution environment, before the first event."""

import atexit
import signal
import sys
from typing import Final

from pydantic import ValidationError

from server.app import create_app
from server.aws_lambda import Function
from server.logs import log_for_machines
from server.memory import prepare_memory
from server.settings import Settings, StoreKind, complaints
from server.stores import running_store

__all__ = ["handler"]


def _start() -> Function:
    """Raises RuntimeError, in one line and without any secret, for settings that do not fit."""
    log_for_machines()
    try:
        settings = Settings()
    except ValidationError as error:
        raise RuntimeError("; ".join(complaints(error))) from None
    if settings.store is not StoreKind.DYNAMODB:
        raise RuntimeError("PLANNER_STORE: on AWS Lambda it is dynamodb")
    with running_store(settings) as (running, credentials):
        # An answer is passed on when it is whole, and between two of them nothing runs.
        without_live = running.model_copy(update={"live": False})
        function = Function(create_app(without_live, credentials=credentials))
    prepare_memory()
    return function


handler: Final = _start()

# Where an extension is there as well, Lambda says when an environment ends, and the spans that are
# left can be sent.
atexit.register(handler.close)
signal.signal(signal.SIGTERM, lambda *_: sys.exit(0))
