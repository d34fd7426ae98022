"""`planner dev` and `planner serve`: the server, for development and for production."""

import asyncio
import sys
from collections.abc import Mapping
from functools import partial
from typing import Annotated, Any

import structlog
import typer
from starlette.applications import Starlette

from data.administration import create_table, describe_table
from server.app import GRAPHQL_PATH, create_app
from server.commands.running import read_settings, work_in
from server.console import say, stop
from server.demo import DEMO_TEAM, DEMO_USER, seed_demo
from server.dev import LOOPBACK, dev_settings, dev_sign_in, dev_token
from server.logs import log_for_machines, log_for_people
from server.memory import prepare_memory
from server.serving import listen, serve_in_workers, url_of
from server.serving import serve as run_server
from server.settings import SessionStrategy, Settings, StoreKind
from server.stores import running_store

__all__ = ["dev", "serve"]

log = structlog.get_logger(__name__)

HostOption = Annotated[
    str | None, typer.Option(help="The address to listen on; else HOST, or 127.0.0.1.")
]
PortOption = Annotated[int | None, typer.Option(help="The port to listen on; else PORT, or 8000.")]

_WHERE = {
    StoreKind.EMBEDDED: "The store is embedded: in memory, and gone when the server stops.",
    StoreKind.LOCAL: "The store is DynamoDB Local; its data is kept in {home}/dynamodb-local.",
    StoreKind.DYNAMODB: "The store is the endpoint that the environment names.",
}


def dev(host: HostOption = None, port: PortOption = None) -> None:
    """Serve the demo team, signed in, with a timeline and GraphiQL; in memory, unless PLANNER_STORE
    says else."""
    settings = dev_settings(read_settings(host, port))
    log_for_people()
    if settings.store is StoreKind.DYNAMODB and not settings.endpoint_url:
        stop("`planner dev` fills the table with a demo team; for a table on AWS: planner serve")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        asyncio.run(work_in(running, credentials, seed_demo))
        say(_WHERE[settings.store].format(home=settings.home.resolve()))
        if settings.host not in LOOPBACK:
            say("Whoever reaches this address is signed in, since this is for development.")
        if running.session_strategy is SessionStrategy.JWT:
            say(f"For scripts: {sys.argv[0]} token --team {DEMO_TEAM} --user {DEMO_USER}")
        else:
            bearer = asyncio.run(work_in(running, credentials, partial(dev_token, running)))
            say(f"For scripts: Authorization: Bearer {bearer}")
        if running.timeline:
            say(f"Open {url_of(listening, '/')} for the timeline")
        graphql = "GraphiQL" if running.playground else "the API"
        say(f"Open {url_of(listening, GRAPHQL_PATH)} for {graphql}")
        application = create_app(running, credentials=credentials, sign_in=dev_sign_in(running))
        run_server(application, listening, running, log_level="warning")


def serve(
    host: HostOption = None,
    port: PortOption = None,
    workers: Annotated[
        int | None, typer.Option(help="How many processes; else PLANNER_WORKERS, or 1.")
    ] = None,
) -> None:
    """Serve the table that the environment names."""
    settings = read_settings(host, port, workers)
    log_for_machines()
    if settings.session_strategy is SessionStrategy.JWT and not settings.secrets:
        stop("AUTH_SECRET is not set: without the secret of Auth.js nobody can be known.")
    with listen(settings.host, settings.port) as listening, running_store(settings) as store:
        running, credentials = store
        if running.store is StoreKind.EMBEDDED:
            asyncio.run(work_in(running, credentials, create_table))
        elif asyncio.run(work_in(running, credentials, describe_table)) is None:
            # Better no start than one where every request fails.
            stop(f"There is no table {running.table}; `planner table create` makes it.")
        # What is wrong with the settings is said here, once, whoever serves.
        application = create_app(running, credentials=credentials)
        log.info("listening", url=url_of(listening, GRAPHQL_PATH))
        if running.workers == 1:
            run_server(application, listening, running, log_level="info")
            return
        make_app = partial(_worker, running, credentials)
        serve_in_workers(make_app, listening, running, log_level="info")


def _worker(settings: Settings, credentials: Mapping[str, Any]) -> Starlette:
    """The application of one worker, in the process that has it."""
    log_for_machines()
    application = create_app(settings, credentials=credentials)
    prepare_memory()
    return application
