"""Where the table lives, by setting: AWS, or an engine that is started along with the server."""

from collections.abc import Iterator
from contextlib import contextmanager

from server.engines import DUMMY_CREDENTIALS, Credentials, dynamodb_local, embedded
from server.settings import Settings, StoreKind

__all__ = ["running_store"]


@contextmanager
def running_store(settings: Settings) -> Iterator[tuple[Settings, Credentials | None]]:
    """Starts the engine that `PLANNER_STORE` names, if it names one. Yields the settings with its
    address, and the credentials to use; none for DynamoDB, where boto finds its own."""
    match settings.store:
        case StoreKind.DYNAMODB:
            yield settings, None
        case StoreKind.EMBEDDED:
            with embedded() as url:
                yield settings.model_copy(update={"endpoint_url": url}), DUMMY_CREDENTIALS
        case StoreKind.LOCAL:
            data = settings.home / "dynamodb-local"
            with dynamodb_local(settings.home, data_dir=data) as url:
                yield settings.model_copy(update={"endpoint_url": url}), DUMMY_CREDENTIALS
