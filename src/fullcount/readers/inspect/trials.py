"""The trials of a log: those with a record, those left out, those that are not there."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from pydantic import ValidationError

from fullcount.errors import one_line, quoted
from fullcount.model import Trial
from fullcount.notices import Severity
from fullcount.plugin import ContentPolicy, SurveyNeeded
from fullcount.readers._fields import check_absent, validated
from fullcount.readers._seen import Seen
from fullcount.readers.inspect.samples import case_fields, case_name, identity, outcome
from fullcount.readers.inspect.texts import is_exact

if TYPE_CHECKING:
    from collections.abc import Iterator

    from fullcount.plugin import ReadRequest
    from fullcount.readers.inspect.header import Header
    from fullcount.readers.inspect.logs import Log, Record
    from fullcount.readers.inspect.samples import Mapper
    from fullcount.readers.inspect.survey import Survey
    from fullcount.sources import Source

__all__ = ["Trials"]


class Trials:
    """The trials of a log: those with a record, those left out, those that are not there.

    Args:
        source: The log's file.
        log: The log.
        header: Its header.
        mapper: Makes the fields of trials.
        request: What is asked for.
        survey: What an earlier pass told, if there was one.
    """

    def __init__(
        self,
        source: Source,
        log: Log,
        header: Header,
        mapper: Mapper,
        request: ReadRequest,
        survey: Survey | None,
    ) -> None:
        self._source = source
        self._log = log
        self._header = header
        self._mapper = mapper
        self._request = request
        self._survey = survey
        self._seen = Seen()
        self._lost = 0
        self._unknown = 0
        self._differing = 0
        self._messages = request.content is ContentPolicy.INCLUDE

    def all(self) -> Iterator[Trial]:
        """Every trial.

        Raises:
            InputError: A record is damaged, or more is planned than can be listed.
            SurveyNeeded: A record replaces an earlier one, or the header was not whole.
        """
        replaced = self._survey.replaced if self._survey else frozenset()
        seen, ambiguous = self._seen, self._mapper.ambiguous
        for number, record in enumerate(self._log.records()):
            sample_id, epoch = identity(record, self._source)
            if number in replaced:
                continue
            seen.add(Seen.key(case_name(sample_id, ambiguous), epoch))
            yield self._trial(record, sample_id, epoch)
        if self._survey is None and (self._log.late or seen.repeated()):
            raise SurveyNeeded(*self._log.late or ("repeated records",))
        self._note()
        yield from self._absent()

    def _trial(self, record: Record, sample_id: Any, epoch: int) -> Trial:
        header = self._header
        exact = record.whole or (header.summaries_are_exact and is_exact(record.value))
        if not record.whole and (not exact or header.invalidated or self._messages):
            whole = self._whole(record, sample_id, epoch)
            if whole is None:
                self._unknown += header.invalidated
            else:
                record, exact = whole, True
        pointer = f"{record.member or ''}#{record.pointer}"
        fields = self._mapper.fields(record.value, sample_id, epoch, pointer, exact=exact)
        self._lost += "sample_hash" not in fields
        try:
            return validated(Trial, fields)
        except ValidationError as error:
            first = error.errors(include_url=False, include_context=False)[0]
            field = ".".join(map(str, first["loc"]))
            problem = f"gives no {field} of a trial: {one_line(first['msg'], 200)}"
            raise record.damaged(problem, self._source) from error

    def _whole(self, record: Record, sample_id: Any, epoch: int) -> Record | None:
        """The sample itself, if it is in the log."""
        whole = self._log.whole(record, sample_id, epoch, messages=self._messages)
        if whole is None:
            return None
        found = identity(whole, self._source)
        if found == (sample_id, epoch):
            return self._agreeing(record, whole)
        if (str(found[0]), found[1]) == (str(sample_id), epoch):
            return None  # an archive has one place for 1 and "1"
        problem = (
            f"holds sample {quoted(found[0])}, epoch {found[1]}, not the one it is named after"
        )
        raise whole.damaged(problem, self._source)

    def _agreeing(self, summary: Record, whole: Record) -> Record:
        """The sample with the outcome of its summary: counts must not depend on what is read."""
        if outcome(summary.value) == outcome(whole.value):
            return whole
        self._differing += 1
        told = {name: summary.value.get(name) for name in ("scores", "error", "limit")}
        return whole._replace(value=whole.value | told)

    def _note(self) -> None:
        """Notices of what the log did not hold."""
        add = self._request.report.add
        if self._lost:
            add(
                "content.not_exact",
                Severity.WARNING,
                "samples whose real text is not in the log; they have no digest and no join key",
                path="trial.sample_hash",
                count=self._lost,
                plugin="inspect",
            )
        if self._differing:
            add(
                "input.summary_differs",
                Severity.WARNING,
                "samples whose scores, error or limit are not those of their summaries; the "
                "summaries count",
                count=self._differing,
                plugin="inspect",
            )
        if self._unknown:
            add(
                "input.invalidation_unknown",
                Severity.WARNING,
                "samples were invalidated, and which ones is told by samples that are not there",
                path="trial.invalidated",
                count=self._unknown,
                plugin="inspect",
            )

    def _absent(self) -> Iterator[Trial]:
        """Samples that were left out or planned, and have no record.

        Raises:
            UnsupportedInputError: There are too many of them for a log that is meant seriously.
        """
        header, seen, ambiguous = self._header, self._seen, self._mapper.ambiguous
        planned = header.planned or 0
        count = seen.count
        check_absent(planned - count, self._source, "/eval")
        stopped = set()
        for sample_id, epoch in header.early_stops:
            key = Seen.key(case_name(sample_id, ambiguous), epoch)
            if key not in seen and key not in stopped:
                stopped.add(key)
                count += 1
                yield self._unrecorded(sample_id, epoch, "early_stopped", "skipped")
        for sample_id in header.sample_ids:
            name = case_name(sample_id, ambiguous)
            for epoch in range(1, header.epochs + 1):
                key = Seen.key(name, epoch)
                if key not in seen and key not in stopped:
                    count += 1
                    yield self._unrecorded(sample_id, epoch, "no_record", "not_measured")
        for number in range(1, planned - count + 1):
            named = {"case_id": f"unrecorded-{number}", "case_id_type": "synthetic"}
            fields = self._mapper.without_record(named, 1, "no_record", "not_measured")
            yield validated(Trial, fields)

    def _unrecorded(self, sample_id: Any, epoch: int, reason: str, state: str) -> Trial:
        named = case_fields(sample_id, self._mapper.ambiguous)
        return validated(Trial, self._mapper.without_record(named, epoch, reason, state))
