"""What operators read about is what the server says: its lines, numbers and reasons."""

import ast
import re
from collections.abc import Iterator
from itertools import chain

import pytest
from prometheus_client.metrics import MetricWrapperBase
from starlette.routing import Route

from data.cascade import Cascades
from data.metering import Meter
from data.seats import Seats
from data.store import Outage
from data.stream_records import Counts
from server.app import create_app
from server.live_metrics import FeedCollector
from server.metrics import MAX_OPERATION_NAMES, Metrics
from server.observation import CANCELED, Outcome
from server.settings import Settings
from server.telemetry import OperationLine, RefusedLine
from tests.docs.documents import ROOT, rows, text
from tests.unit.data.memory_store import MemoryStore

OPERATIONS = ROOT / "docs" / "operations.md"
METHODS = {"debug", "info", "warning", "error", "exception", "critical"}
LINES = {"operation": OperationLine, "request refused": RefusedLine}
"""Events whose fields are given as one dictionary."""


def section(title: str) -> str:
    """The text below a heading, up to the next one of any level."""
    [found] = re.findall(rf"^#+ {title}\n(.*?)(?=^#+ |\Z)", text(OPERATIONS), re.M | re.S)
    return str(found)


def table(title: str, columns: int) -> dict[str, list[str]]:
    """The rows of the section's table with so many columns: name -> the other cells."""
    found = {}
    for line in section(title).splitlines():
        cells = [cell.strip() for cell in line.strip("|").split("|")]
        if len(cells) == columns and re.fullmatch("`[^`]+`", cells[0]):
            found[cells[0].strip("`")] = cells[1:]
    return found


def names(cell: str) -> list[str]:
    return re.findall(r"`([^`]+)`", cell)


def events() -> Iterator[tuple[str, str, frozenset[str]]]:
    """The lines that the code writes: event, level, fields."""
    for package in ("data", "resolvers", "schema", "server"):
        for file in sorted((ROOT / package).rglob("*.py")):
            yield from events_of(file.read_text(encoding="utf-8"))


def events_of(source: str) -> Iterator[tuple[str, str, frozenset[str]]]:
    for node in ast.walk(ast.parse(source)):
        match node:
            case ast.Call(
                func=ast.Attribute(value=ast.Name(id="log" | "_log"), attr=method),
                args=[ast.Constant(value=str(event)), *_],
            ) if method in METHODS:
                given = {each.arg for each in node.keywords if each.arg} - {"exc_info"}
                if any(each.arg is None for each in node.keywords):
                    given |= LINES[event].__annotations__.keys()
                level = "error" if method == "exception" else method
                yield event, level, frozenset(given)


def test_every_line_of_the_log_has_its_row_with_its_level_and_fields() -> None:
    written = {event: (level, fields) for event, level, fields in events()}
    documented = {
        event: (cells[0], frozenset(names(cells[1]))) for event, cells in table("Log", 4).items()
    }
    assert documented == written


def test_every_field_of_a_line_is_explained() -> None:
    assert table("Log", 2).keys() == set(chain.from_iterable(fields for _, _, fields in events()))


def test_a_line_that_is_not_documented_would_be_found() -> None:
    source = 'log.warning("new", a=1)\n_log.exception("old", exc_info=error)'
    assert list(events_of(source)) == [
        ("new", "warning", frozenset({"a"})),
        ("old", "error", frozenset()),
    ]


def test_every_metric_has_its_row_with_its_type_and_labels() -> None:
    meter = Meter()
    meter.sent("Query", again=False)
    metrics = Metrics(meter, Seats(1), Cascades(MemoryStore().as_store))
    metrics.registry.register(FeedCollector(Counts()))
    for metric in vars(metrics).values():
        if isinstance(metric, MetricWrapperBase) and metric._labelnames:
            metric.labels(*metric._labelnames)
    registered = {
        family.name + ("_total" if family.type == "counter" else ""): (
            family.type,
            set(chain.from_iterable(sample.labels for sample in family.samples)) - {"le"},
        )
        for family in metrics.registry.collect()
        if family.name.startswith("planner_")
    }
    documented = {
        name: (cells[0], set(names(cells[1]))) for name, cells in table("Metrics", 4).items()
    }
    assert documented == registered


def test_alerts_speak_of_metrics_that_there_are() -> None:
    spoken = set(re.findall(r"planner_\w+", section("Alerts worth having")))
    known = table("Metrics", 4).keys()
    assert {name.removesuffix("_bucket") for name in spoken} <= known


def test_every_outcome_and_reason_is_listed_and_no_other() -> None:
    assert list(table("Outcomes", 2)) == list(Outcome)
    assert table("Readiness", 3).keys() == set(Outage)


def test_numbers_and_codes_of_the_page_are_those_of_the_code() -> None:
    assert f"first {MAX_OPERATION_NAMES} names" in section("Metrics").replace("\n", " ")
    assert f"`{CANCELED}`" in section("Log")


@pytest.mark.parametrize("name", ["metrics", "metrics_token", "tracing"])
def test_settings_of_operations_are_in_the_page_too(name: str) -> None:
    assert name in Settings.model_fields
    assert f"PLANNER_{name.upper()}" in text(OPERATIONS)


def test_every_address_is_listed() -> None:
    app = create_app(Settings(auth_secret="x" * 32, metrics=True))
    served = {route.path for route in app.routes if isinstance(route, Route)}
    assert rows(OPERATIONS, r"/[\w/{}.]+").keys() == served
