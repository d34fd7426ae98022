"""Who is asking, as the rest of the house sees it."""

from dataclasses import dataclass

from data.entities import Role

__all__ = ["Session"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Session:
    """A user in a team. Every read and write is scoped to `team_id`, which is trusted."""

    user_id: str
    team_id: str
    role: Role

    @property
    def may_write(self) -> bool:
        """Admins and members may write; anybody else may only read."""
        return self.role in (Role.ADMIN, Role.MEMBER)
