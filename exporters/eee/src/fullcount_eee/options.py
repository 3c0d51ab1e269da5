"""What Every Eval Ever asks for and a log does not hold."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, Field

from fullcount.plugin import Options
from fullcount_eee.identity import require_name
from fullcount_eee.names import UNKNOWN, DeploymentType, ModelAvailability, Relationship

__all__ = ["EeeOptions"]

Text = Annotated[str, Field(min_length=1, max_length=2000)]
Name = Annotated[str, Field(min_length=1, max_length=200), AfterValidator(require_name)]


class EeeOptions(Options):
    """Options of the exporter `eee`; none is required."""

    organization: Text = UNKNOWN
    """Organization that provides the results."""
    organization_url: Text | None = None
    """Its address."""
    relationship: Relationship = "other"
    """How who evaluated stands to who made the model; `other` claims the least."""
    developer: Name | None = None
    """Who made the model. Names its folder where the model's id has no `developer/` in it."""
    model_id: Name | None = None
    """The model as `developer/model`, where the harness's own name for it is not fit to publish."""
    collection: Name | None = None
    """Folder below `data`; by default the dataset's name, else the suite's."""
    deployment_type: DeploymentType = "unknown"
    """Who runs the model."""
    model_availability: ModelAvailability = "unknown"
    """Whether its weights can be had."""
    inference_platform: Text | None = None
    """Service that gave access to the model; by default the provider that the log names."""
    inference_engine: Text | None = None
    """Program that ran the model, such as `vLLM`."""
    inference_engine_version: Text | None = None
    """Its version."""
    samples: bool = True
    """Write the samples file, with a row for each trial and metric."""
