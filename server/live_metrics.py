"""What the reader of the stream did so far, for Prometheus."""

from collections.abc import Iterator

from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, Metric
from prometheus_client.registry import Collector

from data.stream_records import Counts

__all__ = ["FeedCollector"]


class FeedCollector(Collector):
    """The counts of a feed, looked at when the page is asked for."""

    def __init__(self, counts: Counts) -> None:
        self._counts = counts

    def collect(self) -> Iterator[Metric]:
        counts = self._counts
        for name, text, value in (
            ("live_stream_requests", "GetRecords that were sent to the stream.", counts.calls),
            ("live_stream_records", "Records that were read from the stream.", counts.records),
            ("live_changes", "Changes of teams among them, as they are told.", counts.changes),
            ("live_records_skipped", "Records that could not be decoded.", counts.skipped),
            (
                "live_subscribers_dropped",
                "Subscribers who took so long that what they missed is no longer kept.",
                counts.dropped,
            ),
        ):
            yield CounterMetricFamily(f"planner_{name}", text, value=value)
        yield GaugeMetricFamily(
            "planner_live_lag_seconds",
            "From when the last change was written until it was read from the stream.",
            value=counts.behind,
        )
