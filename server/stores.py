"""Where the table lives, by setting: AWS, or an engine that is started along with the server."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from server.engines import DUMMY_CREDENTIALS, dynamodb_local, embedded
from server.settings import Settings, StoreKind

__all__ = ["running_store"]


@contextmanager
def running_store(settings: Settings) -> Iterator[tuple[Settings, Mapping[str, Any]]]:
    """Starts the engine that `PLANNER_STORE` names, if it names one. Yields the settings with its
    address, and the arguments of a boto session; for DynamoDB boto finds credentials itself."""
    match settings.store:
        case StoreKind.DYNAMODB:
            yield settings, {"region_name": settings.region} if settings.region else {}
        case StoreKind.EMBEDDED:
            with embedded() as url:
                yield settings.model_copy(update={"endpoint_url": url}), {**DUMMY_CREDENTIALS}
        case StoreKind.LOCAL:
            data = settings.home / "dynamodb-local"
            with dynamodb_local(settings.home, data_dir=data) as url:
                yield settings.model_copy(update={"endpoint_url": url}), {**DUMMY_CREDENTIALS}
