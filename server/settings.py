"""Every setting of the server, read from the environment once, at start."""

import enum
from importlib.util import find_spec
from pathlib import Path
from typing import Annotated, Self

from pydantic import (
    AliasChoices,
    Field,
    SecretStr,
    ValidationError,
    field_validator,
    model_validator,
)
from pydantic_settings import BaseSettings, NoDecode, SettingsConfigDict

from schema.limits import Limits
from server.origins import origin_of

__all__ = [
    "MembershipSource",
    "SessionStrategy",
    "Settings",
    "StoreKind",
    "complaints",
    "variables",
]

MIN_SECRET_LENGTH = 32
"""Auth.js advises 32 random bytes; `openssl rand -base64 33` and `npx auth secret` give more."""


_MESSAGES = {"bool_parsing": "Input should be `true` or `false`, `on` or `off`"}
"""In place of those of pydantic that don't say what is valid."""


class StoreKind(enum.StrEnum):
    """Where the table lives."""

    DYNAMODB = "dynamodb"
    EMBEDDED = "embedded"
    LOCAL = "local"


class SessionStrategy(enum.StrEnum):
    """The Auth.js session strategy whose cookies are read."""

    JWT = "jwt"
    DATABASE = "database"


class MembershipSource(enum.StrEnum):
    """Whether a token's claims are taken at their word, or held against the membership's item."""

    CLAIM = "claim"
    TABLE = "table"


class Settings(BaseSettings):
    """The server's configuration. Field comments give a reason only where a number needs one."""

    model_config = SettingsConfigDict(
        env_prefix="PLANNER_", extra="ignore", frozen=True, populate_by_name=True
    )

    host: str = Field("127.0.0.1", validation_alias=AliasChoices("HOST"))
    port: int = Field(8000, ge=0, le=65535, validation_alias=AliasChoices("PORT"))
    workers: int = Field(1, ge=1)
    # What most platforms grant between SIGTERM and SIGKILL.
    shutdown_seconds: int = Field(30, ge=1)

    auth_secret: SecretStr | None = Field(None, validation_alias=AliasChoices("AUTH_SECRET"))
    auth_secret_1: SecretStr | None = Field(None, validation_alias=AliasChoices("AUTH_SECRET_1"))
    auth_secret_2: SecretStr | None = Field(None, validation_alias=AliasChoices("AUTH_SECRET_2"))
    auth_secret_3: SecretStr | None = Field(None, validation_alias=AliasChoices("AUTH_SECRET_3"))
    session_strategy: SessionStrategy = SessionStrategy.JWT
    team_claim: str = Field("teamId", min_length=1)
    membership: MembershipSource = MembershipSource.CLAIM
    # A member who is removed is out after a minute at most, whatever is set.
    membership_seconds: int = Field(30, ge=0, le=60)
    public_url: str = ""
    allowed_origins: Annotated[tuple[str, ...], NoDecode] = ()

    store: StoreKind = StoreKind.DYNAMODB
    table: str = Field("resource-planner", min_length=3, max_length=255)
    endpoint_url: str | None = Field(
        None, validation_alias=AliasChoices("AWS_ENDPOINT_URL_DYNAMODB", "AWS_ENDPOINT_URL")
    )
    # boto itself reads the second name only; the AWS SDK of an Auth.js frontend reads the first.
    region: str | None = Field(
        None, validation_alias=AliasChoices("AWS_REGION", "AWS_DEFAULT_REGION")
    )
    consistent_reads: bool = True
    max_items: int = Field(100_000, ge=1)
    max_large_reads: int = Field(2, ge=1)
    max_connections: int = Field(50, ge=1)
    home: Path = Path(".planner")

    introspection: bool = False
    playground: bool = False
    timeline: bool = False
    trusted_documents: Path | None = None
    fast_path: bool = True

    # Far above any real operation (GraphiQL's introspection is 2 kB, 15 levels deep), far below a
    # nuisance.
    max_body_bytes: int = Field(1_000_000, ge=1)
    max_tokens: int = Field(5_000, ge=1)
    max_depth: int = Field(20, ge=1)
    max_aliases: int = Field(50, ge=0)
    max_cost: int = Field(10_000, ge=1)
    max_list_input: int = Field(100, ge=1)
    max_objects: int = Field(200_000, ge=1)
    max_seconds: float = Field(30, gt=0)

    @property
    def limits(self) -> Limits:
        """The caps of one GraphQL request."""
        return Limits(
            tokens=self.max_tokens,
            depth=self.max_depth,
            aliases=self.max_aliases,
            cost=self.max_cost,
            list_input=self.max_list_input,
            seconds=self.max_seconds,
            objects=self.max_objects,
        )

    live: bool = True
    max_subscriptions: int = Field(20, ge=1)
    max_team_subscriptions: int = Field(200, ge=1)
    live_check_seconds: float = Field(30, gt=0)
    live_send_seconds: float = Field(10, gt=0)

    calendar: bool = True
    max_calendar_feeds: int = Field(20, ge=1)
    # A year back; a century fits any calendar.
    calendar_days: int = Field(365, ge=0, le=36_525)
    # The icalendar package writes some 2,000 a second.
    max_calendar_events: int = Field(5_000, ge=1)

    metrics: bool = False
    metrics_token: SecretStr | None = Field(None, min_length=16)
    tracing: bool = False

    @property
    def secrets(self) -> tuple[str, ...]:
        """The session secrets, newest first, in the order Auth.js v5 tries them."""
        ordered = (self.auth_secret_3, self.auth_secret_2, self.auth_secret_1, self.auth_secret)
        return tuple(secret.get_secret_value() for secret in ordered if secret is not None)

    @property
    def secure_cookies(self) -> bool:
        """Whether browsers reach us by https, so that only the `__Secure-` cookie counts."""
        return (self.public_origin or "").startswith("https://")

    @property
    def public_origin(self) -> str | None:
        """The origin of the public URL, if there is one."""
        return origin_of(self.public_url) if self.public_url else None

    @field_validator("endpoint_url", "public_url")
    @classmethod
    def _web_address(cls, value: str | None) -> str | None:
        if value:
            origin_of(value)
        return value

    @field_validator("allowed_origins", mode="before")
    @classmethod
    def _separated_by_commas(cls, value: object) -> object:
        if isinstance(value, str):
            return tuple(each.strip() for each in value.split(",") if each.strip())
        return value

    @field_validator("allowed_origins")
    @classmethod
    def _exact_origins(cls, value: tuple[str, ...]) -> tuple[str, ...]:
        for origin in value:
            if origin != origin_of(origin):
                raise ValueError(f"{origin} is no origin; that would be {origin_of(origin)}")
        return value

    @field_validator("tracing")
    @classmethod
    def _has_packages(cls, value: bool) -> bool:
        if value and not _is_installed("opentelemetry.instrumentation.asgi"):
            raise ValueError("needs the extra `tracing`: pip install '.[tracing]'")
        return value

    @model_validator(mode="after")
    def _long_secrets(self) -> Self:
        for secret in self.secrets:
            if len(secret) < MIN_SECRET_LENGTH:
                raise ValueError(
                    f"AUTH_SECRET and its rotations need {MIN_SECRET_LENGTH} characters or more; "
                    "`openssl rand -base64 33` makes a good one"
                )
        return self


def complaints(error: ValidationError) -> list[str]:
    """What does not fit of the settings, each with the name of its variable. No value is in them,
    as it would be in the text of the error: it may be a secret."""
    return [
        "".join(f"{variables(str(part))[0]}: " for part in each["loc"])
        + _MESSAGES.get(each["type"], each["msg"].removeprefix("Value error, "))
        for each in error.errors()
    ]


def variables(name: str) -> list[str]:
    """The environment variables of a setting, the first one first. What is no setting's name is
    that of a variable already: pydantic names a setting with an alias by it."""
    field = Settings.model_fields.get(name)
    if field is None:
        return [name]
    alias = field.validation_alias
    if isinstance(alias, AliasChoices):
        return [str(choice) for choice in alias.choices]
    return [f"PLANNER_{name.upper()}"]


def _is_installed(module: str) -> bool:
    try:
        return find_spec(module) is not None
    except ModuleNotFoundError:  # Not even the package that it is in.
        return False
