"""The CloudFormation templates of `infra/`, with their parameters filled in, and as calls of the
API: what CloudFormation would do with them, as far as these templates go."""

import re
from collections.abc import Mapping
from functools import cache
from pathlib import Path
from typing import Any, Final

import botocore.session
from botocore.model import ServiceModel
from cfnlint.decode import decode

__all__ = ["ACCOUNT", "INFRA", "TEMPLATES", "calls", "resources", "service_model", "table_arn"]

INFRA: Final = Path(__file__).parents[2] / "infra"
TEMPLATES: Final = tuple(sorted(INFRA.glob("*.yaml")))

ACCOUNT: Final = {
    "AWS::Partition": "aws",
    "AWS::Region": "us-east-1",
    "AWS::AccountId": "123456789012",
}
"""Where the templates are thought to be deployed, by pseudo parameter."""

_VARIABLE = re.compile(r"\$\{([\w:]+)\}")


def table_arn(table: str) -> str:
    """The ARN of a table of that name."""
    return f"arn:aws:dynamodb:us-east-1:123456789012:table/{table}"


@cache
def resources(name: str, table: str) -> Mapping[str, Any]:
    """The resources of `infra/{name}.yaml` for a table of that name, with parameters resolved;
    what refers to another resource stays as it is."""
    template, problems = decode(str(INFRA / f"{name}.yaml"))
    assert template is not None, problems
    found: Mapping[str, Any] = _resolved(template["Resources"], {**ACCOUNT, "TableName": table})
    return found


def _resolved(node: Any, values: Mapping[str, str]) -> Any:
    match node:
        case {"Ref": str(name)} if name in values:
            return values[name]
        case {"Fn::Sub": str(text)}:
            return _VARIABLE.sub(lambda match: values[match[1]], text)
        case dict():
            return {str(key): _resolved(value, values) for key, value in node.items()}
        case list():
            return [_resolved(value, values) for value in node]
        case _:
            return node


@cache
def service_model() -> ServiceModel:
    """DynamoDB's own description of its API."""
    return botocore.session.get_session().get_service_model("dynamodb")


def calls(properties: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    """The properties of an `AWS::DynamoDB::Table` as operations of the API with their parameters:
    CreateTable takes what it knows, and every other property belongs to an operation of its own."""
    model = service_model()
    found: dict[str, dict[str, Any]] = {"CreateTable": {}}
    for name, value in properties.items():
        if name in _parameters(model, "CreateTable"):
            found["CreateTable"][name] = value
        else:
            [operation] = (
                each for each in model.operation_names if name in _parameters(model, each)
            )
            found[operation] = {"TableName": properties["TableName"], name: value}
    # For CloudFormation, a stream that is specified is enabled.
    stream = found["CreateTable"]["StreamSpecification"]
    found["CreateTable"]["StreamSpecification"] = {"StreamEnabled": True, **stream}
    return found


def _parameters(model: ServiceModel, operation: str) -> Mapping[str, Any]:
    return getattr(model.operation_model(operation).input_shape, "members", {})
