"""What the store and the deletions in the background did so far, for Prometheus."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from data.cascade import Cascades
from data.metering import Meter
from data.seats import Seats

__all__ = ["StoreCollector"]


class StoreCollector(Collector):
    """The counts of a store and of its deletions, looked at when the page is asked for."""

    def __init__(self, meter: Meter, seats: Seats, cascades: Cascades) -> None:
        self._meter = meter
        self._seats = seats
        self._cascades = cascades

    def collect(self) -> Iterator[Metric]:
        meter, seats, cascades = self._meter, self._seats, self._cascades
        requests = CounterMetricFamily(
            "planner_dynamodb_requests",
            "Requests sent to the table, retries included.",
            labels=["operation"],
        )
        for operation, count in meter.requests.items():
            requests.add_metric([operation], count)
        yield requests
        for name, text, value in (
            (
                "retries",
                "Requests that were sent again after a failure that may pass.",
                meter.retries,
            ),
            ("pages", "Answers to Queries.", meter.pages),
            ("read_units", "Read capacity units that DynamoDB reported.", meter.read_units),
            ("write_units", "Write capacity units that DynamoDB reported.", meter.write_units),
        ):
            yield CounterMetricFamily(f"planner_dynamodb_{name}", text, value=value)
        deletions = CounterMetricFamily(
            "planner_background_deletions",
            "Deletions that were left behind, and how finishing them in the background ended.",
            labels=["outcome"],
        )
        deletions.add_metric(["finished"], cascades.finished)
        deletions.add_metric(["failed"], cascades.failed)
        yield deletions
        for name, text, value in (
            (
                "background_deletions_in_progress",
                "Deletions that are being finished in the background.",
                cascades.under_way,
            ),
            (
                "large_reads_in_progress",
                "Reads of more than one page whose answer is not ready yet.",
                seats.count - seats.free,
            ),
            (
                "large_reads_waiting",
                "Reads of more than one page that wait for their turn.",
                seats.waiting,
            ),
        ):
            yield GaugeMetricFamily(f"planner_{name}", text, value=value)
