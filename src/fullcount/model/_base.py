"""The base of every model: frozen, closed, and fit for UTF-8."""

from __future__ import annotations

from typing import Annotated

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

__all__ = ["Count", "Finite", "Model", "NonNegative", "Sha256", "Text", "Timestamp", "Word"]

# A length bound makes pydantic read the string as UTF-8, so a lone surrogate is refused here
# and not by some exporter half way through its file.
Text = Annotated[str, Field(max_length=2**31)]
"""Any string that UTF-8 can carry."""

# Names stand in every row of an artifact: one of 10 MB would make gigabytes of a small log.
Word = Annotated[str, Field(min_length=1, max_length=2**20)]
"""A non-empty name or identifier."""

Finite = Annotated[float, Field(allow_inf_nan=False)]
"""A float that is neither NaN nor infinite."""

NonNegative = Annotated[float, Field(allow_inf_nan=False, ge=0)]
"""A finite float of at least zero."""

Count = Annotated[int, Field(ge=0, lt=2**63)]
"""A number of things; fits a signed 64-bit integer, as every target stores it."""

Sha256 = Annotated[str, Field(pattern=r"^[0-9a-f]{64}$")]
"""A lower-case hexadecimal SHA-256 digest."""

Timestamp = AwareDatetime
"""An instant with a UTC offset."""


class Model(BaseModel):
    """A frozen record that refuses fields it does not know."""

    model_config = ConfigDict(frozen=True, extra="forbid", use_attribute_docstrings=True)
