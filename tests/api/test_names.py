"""Words that DynamoDB reserves are names and values like any other (D-09)."""

import pytest

from data.store import Store
from tests.api.samples import ERRORS
from tests.api_client import Api
from tests.tombstones import remaining

WORDS = ("x", "name", "#name = :value", "RES#1")


@pytest.mark.parametrize("word", WORDS)
async def test_each_kind_is_created_updated_and_deleted_with_a_reserved_word(
    api: Api, store: Store, word: str
) -> None:
    owner = await api.resource(word)
    job = await api.project(word)
    id = await api.assignment(owner, job, "2024-01-10", "2024-01-12", note=word)
    for mutation, changed, change in (
        ("updateResource", owner, {"name": f"{word} 2"}),
        ("updateProject", job, {"description": word, "tags": [word], "name": f"{word} 2"}),
        ("updateAssignment", id, {"note": f"{word} 2"}),
        ("updateAssignment", id, {"startDate": "2024-01-09", "note": word}),
    ):
        assert await api.mutate(mutation, ERRORS, id=changed, **change) == {"errors": []}
    answer = await api.data(
        "{ team { resources { name } projects { name tags description } assignments { note } } }"
    )
    assert answer["team"] == {
        "resources": [{"name": f"{word} 2"}],
        "projects": [{"name": f"{word} 2", "tags": [word], "description": word}],
        "assignments": [{"note": word}],
    }
    for mutation, gone in (
        ("deleteAssignment", id),
        ("deleteProject", job),
        ("deleteResource", owner),
    ):
        assert await api.mutate(mutation, ERRORS, id=gone) == {"errors": []}
    assert await remaining(store, api.team) == []
