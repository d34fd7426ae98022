"""The four actions of a transaction, as they go over the wire."""

import re
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from data.expressions import Expression, Key, n, s
from data.guards import IS_NEW, LIVE_OWNER, unchanged
from data.transactions import Action, Check, Delete, Put, Update, to_request

KEY: Key = {"pk": s("TEAM#t1"), "sk": s("RES#r1")}
COMMON = {"TableName": "planner", "ReturnValuesOnConditionCheckFailure": "ALL_OLD"}


@pytest.mark.parametrize(
    ("action", "request_"),
    [
        (
            Check(KEY, LIVE_OWNER),
            {
                "ConditionCheck": {
                    **COMMON,
                    "Key": KEY,
                    "ConditionExpression": (
                        "attribute_exists(#sk) AND attribute_not_exists(#deletingAt)"
                    ),
                    "ExpressionAttributeNames": {"#sk": "sk", "#deletingAt": "deletingAt"},
                }
            },
        ),
        (
            Put(KEY | {"name": s("Ada")}, IS_NEW),
            {
                "Put": {
                    **COMMON,
                    "Item": {"pk": s("TEAM#t1"), "sk": s("RES#r1"), "name": s("Ada")},
                    "ConditionExpression": "attribute_not_exists(#sk)",
                    "ExpressionAttributeNames": {"#sk": "sk"},
                }
            },
        ),
        (
            Update(KEY, Expression("#version = :version", {":version": n(3)}), {"name": s("Bo")}),
            {
                "Update": {
                    **COMMON,
                    "Key": KEY,
                    "UpdateExpression": "SET #name = :set_name",
                    "ConditionExpression": "#version = :version",
                    "ExpressionAttributeNames": {"#name": "name", "#version": "version"},
                    "ExpressionAttributeValues": {":version": n(3), ":set_name": s("Bo")},
                }
            },
        ),
        (
            Update(KEY, IS_NEW, {}, ("longEnd",)),
            {
                "Update": {
                    **COMMON,
                    "Key": KEY,
                    "UpdateExpression": "REMOVE #longEnd",
                    "ConditionExpression": "attribute_not_exists(#sk)",
                    "ExpressionAttributeNames": {"#longEnd": "longEnd", "#sk": "sk"},
                }
            },
        ),
        (
            Update(
                KEY,
                Expression("#version = :version", {":version": n(3)}),
                {"version": n(4), "name": s("Bo")},
                ("note", "longEnd"),
            ),
            {
                "Update": {
                    **COMMON,
                    "Key": KEY,
                    "UpdateExpression": (
                        "SET #version = :set_version, #name = :set_name REMOVE #note, #longEnd"
                    ),
                    "ConditionExpression": "#version = :version",
                    "ExpressionAttributeNames": {
                        "#longEnd": "longEnd",
                        "#name": "name",
                        "#note": "note",
                        "#version": "version",
                    },
                    "ExpressionAttributeValues": {
                        ":version": n(3),
                        ":set_version": n(4),
                        ":set_name": s("Bo"),
                    },
                }
            },
        ),
        (
            Delete(KEY, Expression("#resourceId = :owner", {":owner": s("r1")})),
            {
                "Delete": {
                    **COMMON,
                    "Key": KEY,
                    "ConditionExpression": "#resourceId = :owner",
                    "ExpressionAttributeNames": {"#resourceId": "resourceId"},
                    "ExpressionAttributeValues": {":owner": s("r1")},
                }
            },
        ),
    ],
)
def test_an_action_becomes_this_request(action: Action, request_: dict[str, Any]) -> None:
    assert to_request(action, "planner") == request_


names = st.sampled_from(["name", "note", "version", "updatedAt", "date", "status", "ttl", "hash"])
conditions = st.sampled_from(
    [
        IS_NEW,
        LIVE_OWNER,
        unchanged(0),
        unchanged(7),
        Expression("#resourceId = :owner", {":owner": s("r1")}),
        LIVE_OWNER & Expression("#note = :note", {":note": s("x")}),
    ]
)
updates = st.builds(
    Update,
    st.just(KEY),
    conditions,
    st.dictionaries(names, st.just(s("new")), min_size=1),
    st.lists(st.sampled_from(["longEnd", "description", "links"]), unique=True).map(tuple),
)
actions: st.SearchStrategy[Action] = st.one_of(
    updates,
    st.builds(Check, st.just(KEY), conditions),
    st.builds(Delete, st.just(KEY), conditions),
    st.builds(Put, st.just(KEY), conditions),
)


@pytest.mark.deep
@settings(deadline=None)
@given(actions)
def test_every_placeholder_that_is_used_is_defined_and_nothing_else(action: Action) -> None:
    [body] = to_request(action, "planner").values()
    text = " ".join(body.get(key, "") for key in ("ConditionExpression", "UpdateExpression"))
    assert set(re.findall(r"#\w+", text)) == set(body.get("ExpressionAttributeNames", {}))
    assert set(re.findall(r":\w+", text)) == set(body.get("ExpressionAttributeValues", {}))
    assert body.get("ExpressionAttributeNames") != {}
    assert body.get("ExpressionAttributeValues") != {}
    bare = set(re.findall(r"(?<![#:\w])\w+", text))
    assert bare <= {"SET", "REMOVE", "AND", "OR", "attribute_exists", "attribute_not_exists"}
