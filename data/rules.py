"""What a value must be to be stored. The limits stand here and nowhere else.

Characters are code points, and text is stored as it was sent: never trimmed, never normalised.
"""

import re
import unicodedata
from collections.abc import Sequence
from datetime import date
from typing import Final
from urllib.parse import urlsplit

from data.days import FIRST_DAY, LAST_DAY, in_calendar
from data.entities import Link
from data.errors import Problem, Refused, invalid

__all__ = [
    "MAX_DESCRIPTION",
    "MAX_LABEL",
    "MAX_LINKS",
    "MAX_NAME",
    "MAX_NOTE",
    "MAX_TAG",
    "MAX_TAGS",
    "MAX_URL",
    "Check",
]

MAX_NAME: Final = 100
MAX_NOTE: Final = 2_000
MAX_DESCRIPTION: Final = 10_000
MAX_TAGS: Final = 20
MAX_TAG: Final = 30
MAX_LINKS: Final = 10
MAX_LABEL: Final = 50
MAX_URL: Final = 2_000

_COLOR = re.compile(r"#[0-9A-Fa-f]{6}", re.ASCII)
_UUID = re.compile(r"[0-9A-Fa-f]{8}(-[0-9A-Fa-f]{4}){3}-[0-9A-Fa-f]{12}", re.ASCII)
_LINE_BREAKS = frozenset("\n\r\t\u2028\u2029")
# Letters and symbols by category, but nothing to see: Hangul fillers and the empty Braille cell.
_INVISIBLE = frozenset("\u115f\u1160\u2800\u3164\uffa0")


class Check:
    """Checks the values of one input and collects every problem, so that a form hears of all of
    them at once. `field` is the path into the input; `refuse_problems` raises Refused."""

    def __init__(self) -> None:
        self._problems: list[Problem] = []

    def refuse_problems(self) -> None:
        if self._problems:
            raise Refused(*self._problems)

    def add(self, problem: Problem) -> None:
        self._problems.append(problem)

    def name(self, text: str | None, *field: str) -> str:
        """1 to `MAX_NAME` characters on one line, not blank."""
        return self._line(text, MAX_NAME, *field)

    def note(self, text: str | None, *field: str) -> str | None:
        """At most `MAX_NOTE` characters; lines may break. Empty is unset."""
        return self._lines(text, MAX_NOTE, *field)

    def description(self, text: str | None, *field: str) -> str | None:
        """At most `MAX_DESCRIPTION` characters; lines may break. Empty is unset."""
        return self._lines(text, MAX_DESCRIPTION, *field)

    def color(self, text: str | None, *field: str) -> str:
        """`#RRGGBB`."""
        if text is None or not _COLOR.fullmatch(text):
            self.add(invalid(f"{field[-1]} must be a colour of the form #RRGGBB", *field))
            return ""
        return text

    def tags(self, tags: Sequence[str] | None, *field: str) -> tuple[str, ...]:
        """At most `MAX_TAGS` of `MAX_TAG` characters each, without repetition."""
        places: dict[str, int] = {}
        for place, tag in enumerate(tags or ()):
            places.setdefault(tag, place)
        if len(places) > MAX_TAGS:
            self.add(invalid(f"{field[-1]} may have at most {MAX_TAGS} entries", *field))
            return ()
        return tuple(self._line(tag, MAX_TAG, *field, str(place)) for tag, place in places.items())

    def links(self, links: Sequence[Link] | None, *field: str) -> tuple[Link, ...]:
        """At most `MAX_LINKS`, each an http(s) address of `MAX_URL` characters with a label."""
        if links is None:
            return ()
        if len(links) > MAX_LINKS:
            self.add(invalid(f"{field[-1]} may have at most {MAX_LINKS} entries", *field))
            return ()
        return tuple(self._link(link, *field, str(i)) for i, link in enumerate(links))

    def day(self, day: date, *field: str) -> date:
        """A day from `FIRST_DAY` to `LAST_DAY`."""
        if not in_calendar(day):
            self.add(invalid(f"{field[-1]} must be from {FIRST_DAY} to {LAST_DAY}", *field))
        return day

    def order(self, start: date, last: date, *field: str) -> None:
        """A last day that is not before the first; `field` is the one to put right."""
        if last < start:
            self.add(invalid("endDate must not be before startDate", *field))

    def client_id(self, text: str | None, *field: str) -> str | None:
        """A UUID chosen by the client, in its canonical lower case."""
        if text is not None and not _UUID.fullmatch(text):
            self.add(invalid(f"{field[-1]} must be a UUID", *field))
        return None if text is None else text.lower()

    def _link(self, link: Link, *field: str) -> Link:
        self._line(link.label, MAX_LABEL, *field, "label")
        url = self._line(link.url, MAX_URL, *field, "url")
        try:
            parts = urlsplit(url)
            # `port` raises for one that can't be.
            good = parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
        except ValueError:
            good = False
        if url and (not good or any(character.isspace() for character in url)):
            self.add(invalid("url must be a complete http or https address", *field, "url"))
        return link

    def _line(self, text: str | None, longest: int, *field: str) -> str:
        label = field[-1] if not field[-1].isdigit() else f"{field[-2]}[{field[-1]}]"
        if text is None:
            self.add(invalid(f"{label} can't be null", *field))
        elif len(text) <= longest and _is_blank(text):
            self.add(invalid(f"{label} can't be blank", *field))
        elif self._is_text(text, longest, label, field):
            return text
        return ""

    def _lines(self, text: str | None, longest: int, *field: str) -> str | None:
        if not text:
            return None
        self._is_text(text, longest, field[-1], field, allowed=_LINE_BREAKS)
        return text

    def _is_text(
        self,
        text: str,
        longest: int,
        label: str,
        field: tuple[str, ...],
        allowed: frozenset[str] = frozenset(),
    ) -> bool:
        if len(text) > longest:
            self.add(invalid(f"{label} may have at most {longest} characters", *field))
            return False
        for character in text:
            category = unicodedata.category(character)
            if category == "Cs":
                self.add(invalid(f"{label} has a lone surrogate", *field))
                return False
            if category in ("Cc", "Zl", "Zp") and character not in allowed:
                self.add(invalid(f"{label} has a control character", *field))
                return False
        return True


def _is_blank(text: str) -> bool:
    # Spaces and invisible format characters (a zero-width space, a direction mark) show nothing.
    return all(
        character.isspace() or character in _INVISIBLE or unicodedata.category(character) == "Cf"
        for character in text
    )
