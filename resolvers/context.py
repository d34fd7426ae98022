"""What one request has: who is asking, and the team's reads and writes bound to that."""

import asyncio
from collections import Counter
from collections.abc import Mapping

from data.assignments import Assignments
from data.cascade import Cascades
from data.decoding import SkipCode
from data.entities import Project, Resource
from data.errors import Forbidden, Problem
from data.live import LiveFeed
from data.loader import PartitionLoader
from data.owners import Owners
from data.store import Store
from resolvers.budget import Budget
from resolvers.graph import Graph
from resolvers.session import Session
from resolvers.viewer import Viewer

__all__ = ["RequestContext"]


class RequestContext:
    """Made anew for each request and never shared. The team is the session's, here and nowhere
    else: nothing that a request says can name another (A1)."""

    def __init__(
        self,
        session: Session,
        store: Store,
        cascades: Cascades,
        budget: Budget,
        *,
        max_feeds: int = 0,
        live: LiveFeed | None = None,
    ) -> None:
        """`max_feeds` is how many calendar feeds a user may have; 0 where there are none. `live`
        is None where there are no live updates."""
        self.session = session
        self.max_feeds = max_feeds
        self.budget = budget
        self.live = live
        self.store = store
        self.team_id = session.team_id
        self.loader = PartitionLoader(
            store,
            session.team_id,
            on_left_behind=lambda owner: cascades.finish(session.team_id, owner),
        )
        self.resources = Owners(store, session.team_id, Resource, by=session.user_id)
        self.projects = Owners(store, session.team_id, Project, by=session.user_id)
        self.assignments = Assignments(store, session.team_id, by=session.user_id)
        self.refusals: list[Problem] = []
        """The problems of every write that was refused, whatever the payloads select of them."""
        self.viewer = Viewer(session, store)
        self.graph: asyncio.Task[Graph] | None = None
        self.lists_of_changes = 0
        self._graphs: list[Graph] = []
        self._skipped_changes: Counter[SkipCode] = Counter()

    def linked(self, graph: Graph) -> Graph:
        """The graph, which is let go of together with this context."""
        self._graphs.append(graph)
        return graph

    def release(self) -> None:
        """Lets go of what was read, once the answer has been put together."""
        self.loader.release()
        for graph in self._graphs:
            graph.release()

    def take_skipped(self, skipped: Counter[SkipCode]) -> None:
        """Counts items that a list of changes left out; one that is in two lists is one item."""
        self._skipped_changes |= skipped

    def require_writer(self) -> None:
        """Raises Forbidden unless the session's role may write."""
        if not self.session.may_write:
            raise Forbidden("your role in this team may only read")

    @property
    def skipped(self) -> Counter[SkipCode]:
        """The items that could not be read so far."""
        return self.loader.skipped + self.viewer.skipped + self._skipped_changes

    @property
    def warnings(self) -> list[Mapping[str, str | int]]:
        """What reads left out so far: `[{code, count}]`, for `extensions.warnings`."""
        return [
            {"code": code.value, "count": count} for code, count in sorted(self.skipped.items())
        ]
