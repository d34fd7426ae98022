"""What a planner should do, without a store: the model that the real one is compared with."""

from dataclasses import dataclass, field, replace
from datetime import date, timedelta

__all__ = ["ModelAssignment", "ModelOwner", "Planner"]


@dataclass(frozen=True)
class ModelOwner:
    """A resource or a project."""

    name: str
    version: int = 1


@dataclass(frozen=True)
class ModelAssignment:
    """Both days are inclusive."""

    resource: str
    project: str
    start: date
    end: date
    note: str | None = None
    version: int = 1

    @property
    def content(self) -> "ModelAssignment":
        return replace(self, version=1)


@dataclass
class Planner:
    """Each method returns the codes of the errors that the real one must answer with."""

    resources: dict[str, ModelOwner] = field(default_factory=dict)
    projects: dict[str, ModelOwner] = field(default_factory=dict)
    assignments: dict[str, ModelAssignment] = field(default_factory=dict)
    claimed: set[str] = field(default_factory=set)

    def create_owner(self, owners: dict[str, ModelOwner], id: str, name: str) -> list[str]:
        if id in owners:
            return [] if owners[id].name == name else ["CONFLICT"]
        owners[id] = ModelOwner(name)
        return []

    def rename(
        self, owners: dict[str, ModelOwner], id: str, name: str, expected: int | None
    ) -> list[str]:
        if id not in owners:
            return ["NOT_FOUND"]
        old = owners[id]
        if expected is not None and old.version != expected:
            return ["CONFLICT"]
        if old.name != name:
            owners[id] = ModelOwner(name, old.version + 1)
        return []

    def create_assignment(self, id: str, new: ModelAssignment) -> list[str]:
        if new.end < new.start:
            return ["INVALID"]
        if id in self.assignments:
            return [] if self.assignments[id].content == new.content else ["CONFLICT"]
        if id in self.claimed:
            return ["CONFLICT"]
        missing = self._missing(new)
        if not missing:
            self.assignments[id] = new
            self.claimed.add(id)
        return missing

    def update_assignments(
        self, patches: list[tuple[str, dict[str, object], int | None]]
    ) -> list[str]:
        """All or none; the errors of what each patch says, or those of the owners it names."""
        new: dict[str, ModelAssignment] = {}
        problems: list[str] = []
        missing: list[str] = []
        for id, changes, expected in patches:
            old = self.assignments.get(id)
            if old is None:
                problems.append("NOT_FOUND")
                continue
            if expected is not None and old.version != expected:
                problems.append("CONFLICT")
                continue
            changed = replace(old, **changes)  # type: ignore[arg-type]
            if changed.end < changed.start:
                problems.append("INVALID")
            elif changed != old:
                new[id] = replace(changed, version=old.version + 1)
                missing += self._missing(changed)
        if problems or missing:
            return problems or missing
        self.assignments |= new
        return []

    def shift(self, project: str, days: int, first: date) -> tuple[list[str], set[str]]:
        """The errors, and the ids of what was shifted."""
        if project not in self.projects:
            return ["NOT_FOUND"], set()
        shifted = {
            id
            for id, each in self.assignments.items()
            if each.project == project and each.start >= first and days
        }
        for id in shifted:
            old, by = self.assignments[id], timedelta(days=days)
            self.assignments[id] = replace(
                old, start=old.start + by, end=old.end + by, version=old.version + 1
            )
        return [], shifted

    def delete_owner(self, owners: dict[str, ModelOwner], id: str) -> tuple[list[str], set[str]]:
        """The errors, and the ids of the assignments that went with it."""
        if id not in owners:
            return ["NOT_FOUND"], set()
        del owners[id]
        # A resource and a project may have the same id.
        kind = "resource" if owners is self.resources else "project"
        gone = {a for a, each in self.assignments.items() if getattr(each, kind) == id}
        for assignment in gone:
            del self.assignments[assignment]
        return [], gone

    def _missing(self, assignment: ModelAssignment) -> list[str]:
        known = (assignment.resource in self.resources, assignment.project in self.projects)
        return ["NOT_FOUND" for is_known in known if not is_known]
