"""What a line of the log looks like, to machines and to people."""

import json
import re
import subprocess
import sys
from datetime import datetime

import server.logs
from tests.docs.documents import ROOT

SCRIPT = """
import logging
import structlog
from structlog.contextvars import bound_contextvars
from server.logs import log_for_machines, log_for_people
from server.telemetry import OperationLine

%s()
log = structlog.get_logger()
line = OperationLine(
    operation="Timeline", type="query", team="822b33ad87c1", outcome="partial",
    codes=["INTERNAL"], status=200, duration_ms=12.34, requests=1, pages=1, retries=0,
    read_units=0.5, write_units=0.0, items_skipped=0, correlation_id="c1",
)
with bound_contextvars(correlation_id="c1"):
    log.warning("item skipped", code="MALFORMED_ITEM")
    logging.getLogger("elsewhere").warning("operation")
    log.info("operation", **line)
"""


def said(configure: str) -> list[str]:
    """What the script writes to standard error."""
    command = [sys.executable, "-W", "error", "-c", SCRIPT % configure]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=True)
    assert done.stdout == ""
    return done.stderr.splitlines()


def test_machines_get_a_json_object_a_line_with_the_correlation_id_in_each() -> None:
    lines = [json.loads(line) for line in said("log_for_machines")]
    assert [line["event"] for line in lines] == ["item skipped", "operation", "operation"]
    assert {line["correlation_id"] for line in lines} == {"c1"}
    assert [line["level"] for line in lines] == ["warning", "warning", "info"]
    assert {datetime.fromisoformat(line["timestamp"]).utcoffset() for line in lines}
    assert lines[-1]["codes"] == ["INTERNAL"]
    assert (lines[-1]["outcome"], lines[-1]["read_units"]) == ("partial", 0.5)


def test_people_get_an_operation_as_one_short_line() -> None:
    lines = [re.sub(r"\x1b\[\d*m", "", line) for line in said("log_for_people")]
    assert len(lines) == 3
    assert lines[-1].endswith("query Timeline: partial INTERNAL, 12 ms, 1 request")
    assert len(lines[-1]) < 100


def test_what_is_no_text_is_logged_all_the_same() -> None:
    """A lone surrogate, that a client sent, in the message of an exception."""
    line = server.logs._json({"event": "failed", "reason": "\ud800"}, default=repr)
    assert json.loads(line) == {"event": "failed", "reason": "\ud800"}
    assert json.loads(server.logs._json({"at": {1}}, default=repr)) == {"at": "{1}"}
