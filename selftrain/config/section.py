"""What every section of the configuration is: strict and frozen, its fields documented beneath."""

from typing import Annotated

from pydantic import BaseModel, ConfigDict, Field

Count = Annotated[int, Field(ge=1, lt=2**63)]
PerRound = Count | Annotated[tuple[Count, ...], Field(min_length=1)]
"""One value for every round, or one value a round (the last one goes on)."""


class Section(BaseModel):
    """Refuses unknown keys and other types."""

    model_config = ConfigDict(
        frozen=True,
        extra="forbid",
        strict=True,
        allow_inf_nan=False,
        use_attribute_docstrings=True,
    )
