"""What can be set about a dataset; everything that no log can know."""

from __future__ import annotations

import re
from datetime import date as Date  # noqa: N812 - the option is named date
from typing import Annotated
from urllib.parse import urlsplit

from pydantic import AfterValidator, Field

from fullcount.plugin import Options

__all__ = ["Creator", "CroissantOptions", "parse_creator"]

_URL = re.compile(r"[!-~\u00a1-\U0010ffff]+")


def _url(value: str | None) -> str | None:
    if value is None:
        return None
    try:
        parts = urlsplit(value)
        host = parts.hostname
        parts.port  # noqa: B018 - an attribute that refuses a bad port
    except ValueError:
        host = None
    # What a browser would bend into shape, a reader of the dataset cannot.
    if not host or parts.scheme not in ("http", "https") or not _URL.fullmatch(value):
        msg = "must be an absolute http or https URL without spaces, such as https://example.org/x"
        raise ValueError(msg)
    if parts.username is not None or parts.password is not None:
        msg = "must not hold a user name or a password: it is published"
        raise ValueError(msg)
    return value


Url = Annotated[str | None, AfterValidator(_url)]
Filled = Annotated[str, Field(min_length=1, max_length=2**20, pattern=r"\S")]

Creator = tuple[str, str, str | None]
"""Type (`Person` or `Organization`), name and URL."""

_CREATOR = re.compile(
    r"\s*(?:(?P<type>person|organization)\s*:)?\s*(?P<name>[^<>]*[^<>\s])\s*(?:<(?P<url>[^<>]*)>)?\s*",
    re.IGNORECASE,
)


def parse_creator(entry: str) -> Creator:
    """The parts of an entry such as `person: Jane Doe <https://example.org>`.

    Raises:
        ValueError: It is not of that form.
    """
    match = _CREATOR.fullmatch(entry)
    if match is None:
        msg = "must be like 'Acme <https://acme.example>' or 'person: Jane Doe'"
        raise ValueError(msg)
    return (match["type"] or "organization").capitalize(), match["name"], _url(match["url"])


def _creator(entry: str) -> str:
    parse_creator(entry)
    return entry


def _semver(value: str) -> str:
    if not re.fullmatch(r"\d+(\.\d+){0,2}", value):
        msg = "must be numbers parted by points: MAJOR.MINOR.PATCH"
        raise ValueError(msg)
    return value + ".0" * (2 - value.count("."))


class CroissantOptions(Options):
    """Options of the Croissant exporter."""

    license: Filled | None = None
    """Licence of the dataset: an SPDX identifier such as CC-BY-4.0, or a URL. Required."""
    name: Filled | None = None
    """Name of the dataset; by default made of the suites and subjects."""
    description: Filled | None = None
    """What the dataset is; by default made of the runs and their counts."""
    creators: tuple[Annotated[Filled, AfterValidator(_creator)], ...] = ()
    """Who made it, one each: `Acme <https://acme.example>`, `person: Jane Doe`."""
    url: Url = None
    """Page of the dataset."""
    citation: Filled | None = None
    """How to cite it; by default name, version and date."""
    version: Annotated[str, AfterValidator(_semver)] = "1.0.0"
    """Version of the dataset: MAJOR.MINOR.PATCH."""
    date: Date | None = None
    """Day of publication, as YYYY-MM-DD; by default that of the conversion."""
    keywords: tuple[Filled, ...] = ()
    """Keywords, one each; the suites and subjects are always among them."""
    base_url: Url = None
    """Folder the files will be published in; makes every contentUrl absolute."""

    data_limitations: Filled | None = None
    """RAI: limits of the data, put before what is said of missing scores."""
    data_biases: Filled | None = None
    """RAI: known biases."""
    personal_sensitive_information: Filled | None = None
    """RAI: personal and sensitive information in the data."""
    data_use_cases: Filled | None = None
    """RAI: what the data can be used for."""
    data_social_impact: Filled | None = None
    """RAI: social impact."""
    has_synthetic_data: bool | None = None
    """RAI: whether the data is synthetic."""

    partition: bool = True
    """A Parquet file for each run; off: one for all, where no row group holds two runs."""
    max_file_size: Annotated[int, Field(ge=1 << 16)] = 512 << 20
    """Bytes after which a Parquet file is continued in another one."""
    row_group_size: Annotated[int, Field(ge=1, le=1 << 20)] = 10_000
    """Rows that are held in memory and written together."""
    tasks: bool = True
    """Write croissant-tasks.jsonld as well."""
    check: bool = True
    """Let mlcroissant validate the dataset and read it back before it is put in place."""
    check_records: Annotated[int, Field(ge=0)] = 100
    """Records of each RecordSet that are read back; 0: none, only validate."""
