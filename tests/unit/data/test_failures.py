"""What an operator is told of a table that can't be used."""

import pytest
from botocore.exceptions import (
    BotoCoreError,
    ConnectTimeoutError,
    CredentialRetrievalError,
    EndpointConnectionError,
    MetadataRetrievalError,
    NoCredentialsError,
    PartialCredentialsError,
    ReadTimeoutError,
)

from data.store import NotReady, Outage
from data.team_id import is_team_id
from tests.unit.data.scripted_client import ENDPOINT, Client, failure, store_of

OUTAGES: list[tuple[Exception, Outage]] = [
    (failure("ResourceNotFoundException"), Outage.TABLE_MISSING),
    (failure("AccessDeniedException"), Outage.NO_PERMISSION),
    (failure("UnrecognizedClientException"), Outage.CREDENTIALS_REFUSED),
    (failure("ExpiredTokenException"), Outage.CREDENTIALS_REFUSED),
    (failure("InvalidSignatureException"), Outage.CREDENTIALS_REFUSED),
    (failure("ProvisionedThroughputExceededException"), Outage.THROTTLED),
    (failure("ThrottlingException"), Outage.THROTTLED),
    (failure("InternalServerError", 500), Outage.FAILING),
    (failure("", 503), Outage.FAILING),
    (failure("ValidationException"), Outage.UNKNOWN),
    (NoCredentialsError(), Outage.NO_CREDENTIALS),
    (PartialCredentialsError(provider="env", cred_var="key"), Outage.NO_CREDENTIALS),
    (CredentialRetrievalError(provider="role", error_msg="gone"), Outage.NO_CREDENTIALS),
    (MetadataRetrievalError(error_msg="gone"), Outage.NO_CREDENTIALS),
    (EndpointConnectionError(**ENDPOINT), Outage.UNREACHABLE),
    (ConnectTimeoutError(**ENDPOINT), Outage.UNREACHABLE),
    (ReadTimeoutError(**ENDPOINT), Outage.UNREACHABLE),
    (ConnectionResetError(), Outage.UNREACHABLE),
    (BotoCoreError(), Outage.UNKNOWN),
]


@pytest.mark.parametrize(("error", "reason"), OUTAGES, ids=lambda each: repr(each)[:60])
async def test_a_probe_names_the_culprit_after_one_attempt(
    error: Exception, reason: Outage
) -> None:
    client = Client(error)
    with pytest.raises(NotReady) as raised:
        await store_of(client).probe()
    assert raised.value.reason is reason
    assert raised.value.__cause__ is error, "the log shows the cause"
    assert len(client.requests) == 1


def test_every_reason_but_slowness_comes_from_some_error() -> None:
    assert {reason for _, reason in OUTAGES} == set(Outage) - {Outage.SLOW}


async def test_a_probe_reads_one_key_strongly_consistently() -> None:
    client = Client({})
    await store_of(client, consistent_reads=False).probe()
    [(operation, request)] = client.requests
    assert operation == "GetItem"
    assert request["ConsistentRead"] is True
    owner, _, id = request["Key"]["pk"]["S"].partition("#")
    assert owner == "TEAM", "where a policy may let the server read"
    assert not is_team_id(id), "no team can have such an item"
