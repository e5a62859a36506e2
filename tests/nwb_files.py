"""A small recording in the forms of pynapple and NWB: five units, of which one is silent, trials,
laps, position and calcium.
"""

from datetime import UTC, datetime

import numpy as np
from pynwb import NWBHDF5IO, NWBFile, TimeSeries
from pynwb.behavior import Position, SpatialSeries
from pynwb.epoch import TimeIntervals
from pynwb.ophys import (
    DfOverF,
    ImageSegmentation,
    OpticalChannel,
    PlaneSegmentation,
    RoiResponseSeries,
)

UNITS = (10, 11, 12, 13, 14)
SILENT = 13
TRIALS = [(0.0, 2.0, "left"), (2.0, 4.0, "right"), (4.0, 6.0, "left")]
LAPS = [(0.0, 2.5), (3.0, 5.5), (6.0, 8.46)]


def spike_times(seed=0):
    """Spikes of ten seconds, as a table unit -> times."""
    rng = np.random.default_rng(seed)
    return {unit: np.sort(rng.uniform(0, 10, 0 if unit == SILENT else 40)) for unit in UNITS}


def empty_session():
    """A session in which nothing was recorded."""
    return NWBFile("generated", "session", datetime(2026, 1, 1, tzinfo=UTC))


def write_session(path, session):
    """Write a session, and give its path; what a type is stands in pynwb, too, and is left out."""
    with NWBHDF5IO(path, "w") as file:
        file.write(session, cache_spec=False)
    return path


def with_spikes(session, trains=None):
    """Add units."""
    for unit, times in (trains or spike_times()).items():
        session.add_unit(spike_times=times, id=unit)
    return session


def with_epochs(session, laps=LAPS):
    """Add trials, which have labels, and laps, which have none."""
    session.add_trial_column("label", "which way")
    for start, stop, label in TRIALS:
        session.add_trial(start_time=start, stop_time=stop, label=label)
    table = TimeIntervals(name="laps", description="there and back")
    for start, stop in laps:
        table.add_interval(start_time=start, stop_time=stop)
    session.add_time_intervals(table)
    return session


def with_position(session):
    """Add a walk on a plane, 20 samples per second; the file holds centimetres."""
    behavior = session.create_processing_module("behavior", "where the animal is")
    t = np.arange(200) / 20
    place = SpatialSeries(
        name="position",
        data=np.column_stack([100 * np.sin(t), 100 * np.cos(t)]),
        rate=20.0,
        starting_time=0.0,
        reference_frame="the middle",
        conversion=0.01,
    )
    behavior.add(Position(spatial_series=place))
    return session


def traces():
    """Calcium of three cells, 30 samples per second, (300, 3): one is ten times as bright as the
    others.
    """
    t = np.arange(300) / 30
    bumps = np.column_stack([np.exp(-(((t % 5) - at) ** 2) * 8) for at in (1.0, 2.0, 3.0)])
    return bumps * (1.0, 10.0, 1.0) + np.random.default_rng(1).normal(0, 0.01, bumps.shape)


def with_calcium(session):
    """Add traces of cells that the file numbers from 100."""
    device = session.create_device(name="microscope")
    channel = OpticalChannel(name="green", description="the only one", emission_lambda=500.0)
    plane = session.create_imaging_plane(
        name="plane",
        optical_channel=channel,
        description="the only one",
        device=device,
        excitation_lambda=600.0,
        indicator="GCaMP",
        location="CA1",
    )
    module = session.create_processing_module("ophys", "calcium")
    cells = PlaneSegmentation(name="cells", description="by hand", imaging_plane=plane)
    segmentation = ImageSegmentation()
    module.add(segmentation)
    segmentation.add_plane_segmentation(cells)
    for k in range(3):
        cells.add_roi(pixel_mask=[(k, k, 1.0)], id=100 + k)
    brightness = DfOverF()
    module.add(brightness)
    rois = cells.create_roi_table_region(description="all", region=[0, 1, 2])
    brightness.add_roi_response_series(
        RoiResponseSeries(
            name="traces", data=traces(), rois=rois, unit="n.a.", timestamps=np.arange(300) / 30
        )
    )
    return session


def whole_session():
    """All of it."""
    return with_calcium(with_position(with_epochs(with_spikes(empty_session()))))


def with_series(session, name, data, **times):
    """Add a plain time series."""
    session.add_acquisition(TimeSeries(name=name, data=data, unit="V", **times))
    return session
