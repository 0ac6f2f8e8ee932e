"""Whether a load generator was the bottleneck of its own measurement."""

from poolpilot.native_pool.load_report import LoadReport
from poolpilot.native_pool.load_settings import LoadSettings

LEAST_SCHEDULED = 100
"""Fewer requests with a time of their own say nothing: those of a closed loop without pauses are its very first."""


def warning_of(report: LoadReport, settings: LoadSettings) -> str | None:
    """A sentence where requests left late, or a process had no rest; None where the figures are the server's.

    Args:
        report: What the generator has counted.
        settings: Holds what is late and what is busy.
    """
    findings = []
    late = report.share_later_than(settings.late_after_ms)
    if late > settings.late_share and report.send_delay_counts.sum() >= LEAST_SCHEDULED:
        findings.append(f"{late:.1%} of the scheduled requests left more than {settings.late_after_ms:g} ms late")
    busiest = max(report.loops, key=lambda loop: loop.busy_share)
    if busiest.busy_share > settings.busy_share:
        number = report.loops.index(busiest) + 1
        findings.append(
            f"process {number} of {len(report.loops)} was busy {busiest.busy_share:.0%} of its time, "
            f"{busiest.waited_s / busiest.wall_s:.0%} of it waiting for a processor"
        )
    if not findings:
        return None
    return f"The load generator was a bottleneck: {' and '.join(findings)}; give it more processes or processors."
