"""What may leave: the content policy, and the scrubbing of paths and credentials."""

from __future__ import annotations

import re
from hashlib import sha256
from ipaddress import ip_address
from json.encoder import encode_basestring_ascii
from typing import TYPE_CHECKING, Any

from pydantic_core import to_json

from fullcount.model import Content, Excerpt, Message, Run, digest_text
from fullcount.plugin import ContentPolicy

if TYPE_CHECKING:
    from collections.abc import Sequence

    from fullcount.model import Error, Model, Score, Trial

__all__ = [
    "ContentFilter",
    "excerpt",
    "sample_hash",
    "scrub",
    "scrub_all",
    "scrub_pointer",
    "scrub_run",
]

_SHORTEST = 4
"""No path or credential is shorter."""
LONGEST_LABEL = 120
"""Longer labels and raw values may hold an output, and are treated as one."""


def excerpt(text: str, policy: ContentPolicy) -> Excerpt | None:
    """The text as far as the policy lets it go.

    A lone surrogate is replaced under `include`; the digest is over the real text.
    """
    if policy is ContentPolicy.OMIT:
        return None
    if policy is ContentPolicy.DIGEST:
        return Excerpt(sha256=digest_text(text))
    return Excerpt(text=text.encode("utf-8", "replace").decode())


def sample_hash(text: str, references: Sequence[str]) -> str:
    """Join key of a case over its real input and references.

    The recipe of the Every Eval Ever 0.3.0 documentation: SHA-256 over
    `{"raw": input, "reference": references}` as compact JSON with sorted keys.
    """
    listed = b",".join(map(_ascii_json, references))
    return sha256(b'{"raw":%b,"reference":[%b]}' % (_ascii_json(text), listed)).hexdigest()


def _ascii_json(text: str) -> bytes:
    """The text as JSON in ASCII, as Python's own encoder writes it."""
    if text.isascii() and "\x7f" not in text:
        # Five times as fast on a long prompt, and the same for these characters.
        return to_json(text)
    return encode_basestring_ascii(text).encode()


# Nearly every text has none of these, and is not looked at again.
_SUSPECT = re.compile(r"[srAghxe](?:k[-_]|KIA|SIA|h[pousr]_|ithub_p|f_|ox|Iza|lpat-|yJ)|earer")
_SECRETS = ("key", "token", "secret", "passw", "pwd", "credential", "authorization")
_CREDENTIAL = re.compile(
    r"""(?<![A-Za-z0-9])(?:
        sk-(?=[A-Za-z_-]{0,40}[0-9])[A-Za-z0-9_-]{16,}
      | [sr]k_(?:live|test)_[A-Za-z0-9]{10,}
      | (?:AKIA|ASIA)[A-Z0-9]{16}
      | gh[pousr]_[A-Za-z0-9]{20,}
      | github_pat_[A-Za-z0-9_]{20,}
      | hf_[A-Za-z0-9]{20,}
      | xox[abeprs]-[A-Za-z0-9-]{10,}
      | AIza[A-Za-z0-9_-]{30,}
      | glpat-[A-Za-z0-9_-]{16,}
      | (?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]{10,}\.[A-Za-z0-9_-]*
    )
    | (?<=[Bb]earer\s)(?=[A-Za-z._~+/=-]{0,200}[0-9])[A-Za-z0-9._~+/=-]{8,}
    """,
    re.VERBOSE,
)
_ASSIGNED = re.compile(
    r"""(?P<name>(?<![A-Za-z])(?i:
            (?:api|access|secret|private|auth|account|subscription)[_-]?key
          | (?-i:[A-Z0-9_]{1,40}_KEY)
          | (?:(?:access|api|auth|bearer|refresh|session)[_-]?)?token
          | secret | password | passwd | pwd | credentials? | authorization
        )["']?\s*[=:]\s*["']?(?i:(?:basic|bearer|token)\s+)?)
        (?P<value>[^\s"',;&<>{}()\[\]]{8,})""",
    re.VERBOSE,
)
_PLACE = re.compile(
    r"""(?P<file>(?<![\w.+-])(?i:file):/+[^\s"'<>|]+)
    | (?P<url>(?<![A-Za-z0-9+.-])[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s"'<>\\`]+)
    | (?:
        (?<![\w./\\~+#)\]}-])         # not inside a relative path, a fraction or a pointer
      | (?<=\w/)(?=/)               # but as in a model named hf//home/someone/model
      | (?<=\\[nrt])(?=[/~])        # and after a line break in JSON text
      )
      (?:
        /(?:home|Users)/(?:[^\s/:*?"<>|]+(?:\ [^\s/:*?"<>|]+){0,3}/+)*[^\s/:*?"'<>|,;()\[\]{}`]+
      | (?:(?<!:)/|~[A-Za-z_][\w.-]*|~)?/(?!/)(?:[^\s/:*?"<>|]+/+)+[^\s/:*?"'<>|,;()\[\]{}`]+
      | ~(?:[A-Za-z_][\w.-]*)?/[^\s/:*?"'<>|,;()\[\]{}`]+
      | [A-Za-z]:[\\/]+(?:[^\\/:*?"<>|\r\n]+[\\/]+)*[^\s\\/:*?"'<>|,;()\[\]{}`]*
      | (?:\\\\[\w.$?-]+\\(?!\\)|\\{4}[\w.$?-]+\\\\)(?:[A-Za-z]:\\+)?
        (?:[^\\/:*?"<>|\r\n]+[\\/]+)*[^\s\\/:*?"'<>|,;()\[\]{}`]*
      )""",
    re.VERBOSE,
)
_HOMES = frozenset({"home", "users"})
_NETWORK = frozenset({"http", "https", "ws", "wss", "grpc", "grpcs", "tcp", "unix"})
_PRIVATE = (".local", ".localdomain", ".internal", ".intranet", ".lan", ".corp", ".home")
_SECRET_NAME = re.compile(
    r"key|token(?!s)|secret|passw|credential|signature|^sig$|^auth", re.IGNORECASE
)
_AT_HOME = re.compile(
    r"(?<![\w#])/+(?:home|Users|root|tmp|var|mnt)/|~|(?<!\w)[A-Za-z]:[\\/]|\\\\|://"
)


def scrub(text: str) -> str:
    """The text without absolute paths, credentials and private hosts.

    A path keeps its last part, unless that is somebody's home, and a digest of the whole, so
    that two paths stay two. What is already scrubbed stays as it is.
    """
    clean = _without_credentials(text)
    if "/" in clean or "\\" in clean:
        clean = _PLACE.sub(_hide_place, clean)
    return text if clean == text else clean


def scrub_pointer(text: str) -> str:
    """The place of a record in its source, scrubbed.

    A JSON pointer begins as an absolute path does, so only what lies in somebody's home or
    another place where people keep files is taken for a path.
    """
    clean = _without_credentials(text)
    if ("/" in clean or "\\" in clean) and _AT_HOME.search(clean):
        clean = _PLACE.sub(_hide_place, clean)
    return text if clean == text else clean


def scrub_all(value: Any) -> Any:
    """Plain data with every string in it scrubbed, keys of mappings included."""
    if isinstance(value, str):
        return scrub(value)
    if isinstance(value, dict):
        return {scrub_all(key): scrub_all(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return type(value)(map(scrub_all, value))
    return value


def scrub_run(run: Run) -> Run:
    """The run with every string scrubbed; `ContentFilter` does the same to the scores' names."""
    document = run.model_dump()
    clean = scrub_all(document)
    return run if clean == document else Run.model_validate(clean)


def _without_credentials(text: str) -> str:
    if _SUSPECT.search(text):
        text = _CREDENTIAL.sub("[credential]", text)
    if "=" in text or ":" in text:
        lower = text.lower()
        if any(word in lower for word in _SECRETS):
            text = _ASSIGNED.sub(_hide_value, text)
    return text


def _case_id(text: str) -> str:
    """A case's scrubbed id; two cases that differ in a credential stay two."""
    clean = scrub(text)
    if clean is not text and "[credential]" in clean and "[credential]" not in text:
        clean += f"#{digest_text(text)[:8]}"
    return clean


def _hide_value(match: re.Match[str]) -> str:
    name, value = match["name"], match["value"]
    # "token: classification" is prose; "token=..." and "token: a1b2c3d4" are not.
    if "=" not in name and not any(map(str.isdigit, value)):
        return match.group()
    return f"{name}[credential]"


def _hide_place(match: re.Match[str]) -> str:
    if match["url"] is not None:
        return _hide_in_url(match["url"])
    path = match.group()
    parts = re.split(r"[\\/]+", path)
    home = parts[0].startswith("~") if len(parts) < 2 else parts[-2].lower() in _HOMES
    shown = f"[path:{digest_text(path)[:8]}]"
    return shown if home else f"{shown}/{parts[-1]}"


def _hide_in_url(url: str) -> str:
    scheme, _, rest = url.partition("://")
    authority = re.split(r"[/?#]", rest, maxsplit=1)[0]
    tail = rest[len(authority) :]
    user, at, host = authority.rpartition("@")
    if scheme.lower() in _NETWORK and _is_private(host):
        host = "[host]"
    if at:
        user = "[credential]"
    tail = "".join(map(_hide_parameter, re.split(r"([?&;#])", tail)))
    return f"{scheme}://{user}{at}{host}{tail}"


def _hide_parameter(part: str) -> str:
    name, equals, _ = part.partition("=")
    return f"{name}=[credential]" if equals and _SECRET_NAME.search(name) else part


def _is_private(host: str) -> bool:
    """Whether a host is given by its address, or has a name that means nothing elsewhere."""
    name = host.rpartition(":")[0] if re.search(r":\d*$", host) else host
    name = name.strip("[]").rstrip(".").lower()
    try:
        ip_address(name)
    except ValueError:
        return "." not in name or name.endswith(_PRIVATE)
    return True


def _scrubbed(record: Model, names: tuple[str, ...]) -> dict[str, Any]:
    changes = {}
    for name in names:
        value = getattr(record, name)
        if value is not None:
            clean = scrub(value)
            if clean is not value:
                changes[name] = clean
    return changes


def _clean_names(trial: Trial) -> dict[str, Any]:
    """What changes when a trial's identifiers are scrubbed."""
    changes: dict[str, Any] = {}
    if trial.status_reason is not None or trial.limit is not None:
        changes = _scrubbed(trial, ("status_reason", "limit"))
    clean = _case_id(trial.case_id)
    if clean is not trial.case_id:
        changes["case_id"] = clean
    pointer = trial.pointer
    if pointer is not None:
        clean = scrub_pointer(pointer)
        if clean is not pointer:
            changes["pointer"] = clean
    if trial.trace is not None:
        ids = _scrubbed(trial.trace, ("response_id", "record_id"))
        if ids:
            changes["trace"] = trial.trace.model_copy(update=ids)
    if trial.gates:
        gates = tuple(gate.model_copy(update=_scrubbed(gate, ("name",))) for gate in trial.gates)
        if gates != trial.gates:
            changes["gates"] = gates
    return changes


class _Names(dict[str, str | None]):
    """What names become when they are scrubbed; None: they stay."""

    def __missing__(self, name: str) -> str | None:
        clean = scrub(name)
        self[name] = changed = None if clean is name else clean
        return changed


class ContentFilter:
    """Holds trials to the content policy, whatever their reader gave."""

    def __init__(self, policy: ContentPolicy) -> None:
        self._policy = policy
        self._names = _Names()

    def __call__(self, trial: Trial) -> Trial:
        """The trial, reduced to what the policy lets go and scrubbed."""
        changes = _clean_names(trial)
        content = trial.content
        if content is not None:
            kept = self._content(content)
            if kept is not content:
                changes["content"] = kept
        if trial.error is not None:
            error = self.error(trial.error)
            if error is not trial.error:
                changes["error"] = error
        scores = None
        for index, score in enumerate(trial.scores):
            reduced = self._score(score)
            if reduced is not score:
                scores = scores or list(trial.scores)
                scores[index] = reduced
        if scores is not None:
            changes["scores"] = tuple(scores)
        return trial.model_copy(update=changes) if changes else trial

    def error(self, error: Error) -> Error:
        """The error of a trial or a run, its message reduced to what the policy lets go."""
        message = error.message and self._excerpt(error.message)
        if message is not None and message.text is not None:
            text = scrub(message.text)
            if text is not message.text:
                message = Excerpt(sha256=message.sha256, text=text)
        kind = error.type and scrub(error.type)
        if message is error.message and kind is error.type:
            return error
        return error.model_copy(update={"message": message, "type": kind})

    def _score(self, score: Score) -> Score:
        changes: dict[str, Any] = {}
        names = self._names
        if (clean := names[score.evaluator]) is not None:
            changes["evaluator"] = clean
        if (clean := names[score.metric]) is not None:
            changes["metric"] = clean
        for name in ("answer", "explanation"):
            value = getattr(score, name)
            if value is not None:
                kept = self._excerpt(value)
                if kept is not value:
                    changes[name] = kept
        for name in ("label", "raw", "reason"):
            text = getattr(score, name)
            if text is not None and len(text) >= _SHORTEST:
                short = self._short(text)
                if short is not text:
                    changes[name] = short
        return score.model_copy(update=changes) if changes else score

    def _short(self, text: str) -> str:
        if len(text) > LONGEST_LABEL and self._policy is not ContentPolicy.INCLUDE:
            if self._policy is ContentPolicy.OMIT:
                return "[omitted]"
            return f"sha256:{digest_text(text)}"
        return scrub(text)

    def _excerpt(self, value: Excerpt) -> Excerpt | None:
        if self._policy is ContentPolicy.INCLUDE:
            return value
        if self._policy is ContentPolicy.OMIT:
            return None
        if value.text is None:
            return value
        return Excerpt(sha256=value.sha256 or digest_text(value.text))

    def _content(self, content: Content) -> Content | None:
        if self._policy is ContentPolicy.OMIT:
            return None if content.turns is None else Content(turns=content.turns)
        messages = content.messages and tuple(map(self._named, content.messages))
        if messages != content.messages:
            content = content.model_copy(update={"messages": messages})
        return content if self._policy is ContentPolicy.INCLUDE else self._digested(content)

    def _named(self, message: Message) -> Message:
        """The message with its names scrubbed; its text is content."""
        calls = [c.model_copy(update=_scrubbed(c, ("id", "name"))) for c in message.tool_calls]
        changes = _scrubbed(message, ("role", "tool_call_id"))
        return message.model_copy(update={**changes, "tool_calls": tuple(calls)})

    def _digested(self, content: Content) -> Content:
        messages = content.messages
        if not messages and (content.input is None or content.input.text is None):
            for part in (*content.references, *content.choices, *content.outputs):
                if part.text is not None:
                    break
            else:
                return content

        def reduced(parts: tuple[Excerpt, ...]) -> tuple[Excerpt, ...]:
            return tuple(kept for part in parts if (kept := self._excerpt(part)) is not None)

        return Content(
            input=content.input and self._excerpt(content.input),
            references=reduced(content.references),
            choices=reduced(content.choices),
            outputs=reduced(content.outputs),
            turns=content.turns,
            messages=messages
            and tuple(
                Message(
                    role=message.role,
                    content=message.content and self._excerpt(message.content),
                    reasoning=message.reasoning and self._excerpt(message.reasoning),
                    tool_call_id=message.tool_call_id,
                )
                for message in messages
            ),
        )
