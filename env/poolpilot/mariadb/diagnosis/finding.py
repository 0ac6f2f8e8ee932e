"""What a diagnosis says."""

from collections.abc import Mapping
from dataclasses import asdict, dataclass
from enum import IntEnum
from typing import Any, Literal

FindingKind = Literal[
    "fine",
    "unjudged",
    "saturated",
    "stall_limit",
    "stuck",
    "max_connections",
    "same_state",
    "disk_full",
    "quota_used_up",
    "lock_holder_idle",
    "lock_holder_queued",
    "lock_holder_running",
    "lock_holder_unknown",
    "backup_lock",
    "backup",
    "ddl",
    "replica_lag",
    "no_login",
]


class Severity(IntEnum):
    """How bad a finding is."""

    FINE = 0
    NOTICE = 1
    WARNING = 2
    CRITICAL = 3


@dataclass(frozen=True, slots=True)
class Finding:
    """One thing that was found.

    Attributes:
        kind: What it is, in a word that does not change between releases.
        severity: How bad it is.
        sentence: What it is, in one sentence.
        evidence: What shows it.
        remedies: What frees or betters it; statements of SQL end with a semicolon, and nobody but a DBA runs them.
        sessions: Sessions that cause it, as KILL takes them.
    """

    kind: FindingKind
    severity: Severity
    sentence: str
    evidence: tuple[str, ...] = ()
    remedies: tuple[str, ...] = ()
    sessions: tuple[int, ...] = ()

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return asdict(self) | {"severity": self.severity.name.lower()}


@dataclass(frozen=True, slots=True)
class Diagnosis:
    """All that was found.

    Attributes:
        findings: The worst first; one of them says how the pool is.
        hidden: What the account cannot see, and what would let it.
        figures: What was measured between the two readings.
    """

    findings: tuple[Finding, ...]
    hidden: tuple[str, ...] = ()
    figures: Mapping[str, float | None] | None = None

    @property
    def verdict(self) -> FindingKind:
        """The kind of the worst finding."""
        return self.findings[0].kind

    def of_kind(self, kind: FindingKind) -> tuple[Finding, ...]:
        """The findings of a kind."""
        return tuple(one for one in self.findings if one.kind == kind)

    def as_dict(self) -> dict[str, Any]:
        """The fields, fit for JSON."""
        return {
            "verdict": self.verdict,
            "findings": [one.as_dict() for one in self.findings],
            "hidden": list(self.hidden),
            "figures": dict(self.figures or {}),
        }
