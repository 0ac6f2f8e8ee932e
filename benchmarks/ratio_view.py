"""Windows and sweeps that show the features of which the ratios are made, and no others."""

from dataclasses import replace

from poolpilot.env.measurement.sweep import WorkloadSweep
from poolpilot.featurizer.window import Window
from poolpilot.models.latent.ratios import RATIOS

NEEDED = {name for ratio in RATIOS for name in (ratio.feature, ratio.over) if name is not None}
"""Features that some ratio is made of."""


def as_ratios_see(window: Window) -> Window:
    """The window with what no ratio is made of missing; what it was worth stays."""
    features = {name: value if name in NEEDED else None for name, value in window.profile.features.items()}
    return replace(window, profile=replace(window.profile, features=features))


def swept_as_ratios_see(sweep: WorkloadSweep) -> WorkloadSweep:
    """The sweep with all its windows so."""
    entries = {
        core: replace(entry, windows=tuple(as_ratios_see(window) for window in entry.windows))
        for core, entry in sweep.entries.items()
    }
    return replace(sweep, entries=entries)
