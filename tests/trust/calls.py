"""Hostile calls of everything public, done in a process of its own with little memory: `python
calls.py SEED FIRST LAST`.

The public callables are found in the `__init__.pyi` of the packages, so that a new one is attacked
by itself; what it must be given stands in `Shelf`, and one that must be given something else fails
until it stands there too. Each case takes a call that works, replaces one or two of its arguments,
and prints its verdict as a line of JSON.
"""

from __future__ import annotations

import ast
import contextlib
import copy
import dataclasses
import functools
import importlib
import inspect
import json
import os
import pickle
import resource
import shutil
import sys
import tempfile
import warnings
from collections.abc import Callable, Iterator
from decimal import Decimal
from fractions import Fraction
from pathlib import Path
from typing import Any

os.environ["MPLBACKEND"] = "Agg"

import numpy as np
from campaign import Campaign
from scipy.sparse import csr_array
from sklearn.base import TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import LinearRegression

import seqattractor as sa
from seqattractor._faces import Result

MEMORY = 4 * 2**30  # of addresses; a call that wants more is rejected it
REJECTIONS = (ValueError, TypeError, MemoryError, OSError)  # each with a sentence of its own

NOT_ATTACKED = {
    ".begin": "called by fit with checked data",
    ".present": "called by fit with checked data",
    ".fit_transitions": "called by fit with checked data",
    ".next_patterns": "called at every step with checked data",
    ".start": "called at every run with checked data",
    ".hidden_targets": "called by fit with checked data",
    ".fit_on_cluster": "needs a cluster; the campaign of kills has one",
    "ThresholdNetwork.fit": "rejects everything",
    "Dynamics.save": "rejects everything",
    "Dynamics.export": "rejects everything",
    "to_torch": "takes a network; tests/exchange/test_export.py has its rejections",
    "to_onnx": "takes a network; tests/exchange/test_export.py has its rejections",
    "to_nir": "takes a network; tests/exchange/test_export.py has its rejections",
    "from_torch": "takes a module of torch; tests/exchange/test_export.py has its rejections",
    "from_nir": "takes a graph of NIR; tests/exchange/test_export.py has its rejections",
    "capacities": "takes the parts of sa.measure_capacity, which is attacked",
    ".tell": "takes the parts of sa.measure_capacity, which is attacked",
    ".of": "takes the parts of sa.compare, which is attacked; of Layer, as its constructor",
    ".fields": "of Layer: called at every step with checked data",
    ".states": "of Layer: called at every step with checked data",
    ".slack_of": "of Layer: called by certify with checked data",
    "Layer": "made by networks",
    "Traits": "made by networks",
    "NotApplicable": "an error",
    "SequenceMemory": "abstract",
    "Rule": "a base without arguments",
    "ThreeFactor": "has no arguments",
    "Hebbian": "has no arguments",
    "Constraint": "a base without arguments",
    "check_patterns(name)": "what we call the array in messages",
    "split": "takes what check_sequences gave",
    "stack_context": "takes what check_sequences gave",
    "transitions": "of sequences: takes what check_sequences gave",
    "Transitions": "a tuple",
    "Conflict": "made by conflicts",
    "Progress": "given to callbacks",
    ".add": "of Store: takes trials that were done",
    ".get": "of Store: takes a trial",
    ".finished": "of Store: takes a protocol",
    ".plot": "the functions of sa.plots are attacked",
    ".close": "of Store: nothing to attack",
    "Seed": "a type",
    "Patterns": "a type",
    "Lengths": "a type",
    "(dask)": "would wait for an absent scheduler; tests/study/test_dask.py has its rejections",
    "(jobs)": "would start that many processes; tests/study/test_sweep.py has its rejections",
    "(callback)": "is called, not read",
    "(progress)": "is called, not read",
}
LONG = {
    "max_epochs",
    "settle",
    "max_steps",
    "node_limit",
    "inference_steps",
    "slow_steps",
    "max_trials",
    "n_events",
    "n_laps",
    "n_maps",
    "n_shuffles",
    "t_max",
    "trials",
    "periods",
    "SpikeTimingMemory.self_organise.steps",
}
"""How long to work: a number that is huge, but a number, is what was asked for, and Ctrl-C ends
it.
"""
SLOW = {
    "compare",
    "capacity",
    "run_sweep",
    "Search",
    "run_trial",
    "read_study",
    "state_space",
    "to_pandas",
    "moving_digits",
}
"""Attacked a tenth as often as the others."""

# -- what a call is given when nothing is wrong
# ------------------------------------------------------------------------------


class Shelf:
    """Good values of arguments, by the name of the parameter or of callable and parameter; each is
    made once.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        X = np.array(sa.datasets.random_periodic(9, 24, rng=0))
        self.X = X
        self.net = sa.SequenceAttractor(n_hidden=30, random_state=0).fit(X)
        plain: dict[str, Any] = {
            "outcomes": [True, False, True],
            "rule": "SoftMargin(width=0.3)",
            "constraints": "Dilution(0.9)",
            "aim": 1.2,
            "temperature": 0.1,
            "connected": 0.5,
            "excitatory": 0.8,
            "bits": 4,
            "limit": 2.0,
            "Decay.rate": 0.1,
            "rng": 3,
            "random_state": 3,
            "seed": 3,
            "steps": 5,
            "n_hidden": 40,
            "frame_shape": (4, 6),
            "flips": 2,
            "k": 2,
            "order": 1,
            "starts": 6,
            "successes": 3,
            "trials": 4,
            "active": 0.2,
            "n_points": 7,
            "n_weights": 9,
            "signed": 4,
            "neurons": 5,
            "success": 0.9,
            "kappa": 0.5,
            "load": 0.3,
            "degree": 2,
            "limits.sequences": 2,
            "two_layers.m": 12,
            "two_layers.bias": True,
            "LesionCurve.at.k": 1,
            "remove": "hidden",
            "fractions": [0.0, 0.4],
            "draws": 2,
            "lesioned.which": [0, 2],
            "n_units": 24,
            "T": 6,
            "N": 20,
            "n_sequences": 2,
            "length": 4,
            "neuron": 1,
            "name": "lookup",
            "which": 1,
            "path": "out.npz",
            "n": 8,
            "n_rows": 9,
            "settings": {"network": "lookup", "n": 20, "t": [5, 6]},
            "hidden": [3.0, 0.0],
            "visible": [4.0, 1.0],
            "labels": ["a", "b"],
            "paper": [3, 4],
            "network": "lookup",
            "value": 5,
            "host": "here",
            "times": [0.1, 0.2, 1.5],
            "width": 0.5,
            "n_patterns": 5,
            "first": 0.4,
            "W": [[0.0, 1.0], [1.0, 0.0]],
            "longest_orbit.n_units": 3,
            "r": 0.5,
            "n_latent": 10,
            "max_epochs": 200,
            "block": ((0, 2), (0, 3)),
            "settle": 4,
            "run_sweep.path": "study.db",
            "Store.path": "study.db",
            "bin_spikes.units": [0, 1, 0],
            "bin_spikes.n_units": 3,
            "bin_spikes.start": 0.05,
            "bin_spikes.end": 1.4,
            "from_pynapple.bin_size": 0.5,
            "from_pynapple.threshold": 1,
            "to_pynapple.rate": 10.0,
            "to_pynapple.start": 2.0,
            "write_midi.path": "out.mid",
            "robustness_curve.flips": [0, 3],
            "success_curve.x": [1.0, 2.0],
            "success_curve.successes": [3, 4],
            "success_curve.trials": [5, 5],
            "make_network.name": "lookup",
            "run_trial.settings": {"network": "lookup", "n": 20, "t": 5},
            "Search.settings": {"network": "hebbian", "n": 20},
            "capacity.network": "hebbian",
            "capacity.n": 20,
            "capacity.m": 10,
            "capacity.flips": 1,
            "capacity.max_trials": 10,
            "capacity.study": None,
            "capacity.t_max": 10,
            "compare.networks": ["hebbian", "lookup"],
            "compare.values": [5, 6],
            "compare.trials": 2,
            "compare.study": None,
            "compare.m": 10,
            "compare.n": 20,
            "compare.flips": 1,
            "Comparison.network": "lookup",
            "walker.n_frames": 4,
            "walker.shrink": 4,
            "moving_digits.size": 30,
            "moving_digits.length": 3,
            "moving_digits.n_sequences": 2,
            "moving_digits.n_digits": 1,
            "place_cells.steps": 8,
            "random_sequences.T": 5,
            "branching.T": 8,
            "branching.shared": 3,
            "branching.at": [1, 4],
            "load_gait.n_frames": 3,
            "load_moving_mnist.n_sequences": 2,
            "load_moving_mnist.length": 3,
            "Sequences.closed": 0,
            "Sequences.lengths": [4, 5],
            "Grid.trials": 2,
            "check_frame_shape.n_units": 24,
            "find_attractors.flips": 2,
            "find_attractors.starts": 6,
            "separable.order": 1,
            "SuccessRate.trials": 4,
            "flip.k": 3,
            "occlude.axes": 2,
            "filmstrip.value_range": (-1.0, 1.0),
            "Sequences.frame_shape": (4, 6),
            "Sequences.code": {"n_levels": 7},
            "LevelCode.n_levels": 4,
            "LevelCode.low": -1.0,
            "LevelCode.high": 2.0,
            "LevelEncoder.n_levels": 4,
            "LevelEncoder.value_range": (-1.0, 1.0),
            "PopulationEncoder.n_units": 6,
            "PopulationEncoder.n_active": 2,
            "PopulationEncoder.value_range": (-1.0, 1.0),
            "ThresholdEncoder.threshold": 0.0,
            "RobustnessCurve.at.k": 1,
            "n_shuffles": 5,
            "max_speed": 2,
            "event": 0,
            "n_cells": 20,
            "n_laps": 2,
            "recording.n_events": 1,
            "CrossValidation.interval.name": "memory",
            "ReplayTest.significant.rate": 0.1,
            "GeneratedRecording.lap_counts.bin_size": 0.1,
            "GeneratedRecording.event_counts.bin_size": 0.02,
            "GeneratedRecording.write_nwb.path": "out.nwb",
            "write_intervals.path": "out.nwb",
            "write_intervals.intervals": [(0.0, 1.0), (2.0, 3.0)],
            "write_intervals.columns": {"p": [0.1, 0.2]},
            "write_intervals.name": "found",
            "write_intervals.about": "events",
        }
        made: dict[str, Callable[[], Any]] = {
            "X": lambda: X.copy(),
            "patterns": lambda: X.copy(),
            "trajectory": lambda: X.copy(),
            "truth": lambda: X.copy(),
            "x": lambda: X.copy(),
            "roll": lambda: X.copy(),
            "frames": lambda: X.reshape(9, 4, 6).copy(),
            "cue": lambda: X[:2].copy(),
            "state": lambda: X[0].copy(),
            "states": lambda: X[:3].copy(),
            "features": lambda: X[:2].copy(),
            "delayed": lambda: X[:2].copy(),
            "net": lambda: self.net,
            "lengths": lambda: np.array([4, 5]),
            "text": lambda: self.grid.as_json(),
            "certificate": lambda: self.certificate,
            "certificates": lambda: [self.certificate] * 2,
            "curve": lambda: self.curve,
            "lesion_recall.curve": lambda: self.lesions,
            "spiking_recall.cue": lambda: X[0].copy(),
            "spike_raster.run": lambda: self.spiking,
            "Dynamics.network": lambda: self.net,
            "separability": lambda: sa.separable(X),
            "attractors": lambda: sa.find_attractors(self.net, X, starts=5, rng=0),
            "activity": lambda: sa.hidden_activity(self.net, X),
            "losses": lambda: sa.lost_starts(self.net, X, flips=2, rng=0),
            "weights": lambda: self.net.U_.copy(),
            "U": lambda: self.net.V_ @ self.net.U_,
            "V": lambda: self.net.V_ @ self.net.U_,
            "stored": lambda: [X.copy()],
            "capacity": lambda: self.capacity.groups[0][0],
            "capacities": lambda: self.capacity,
            "comparison": lambda: self.comparison,
            "study": lambda: sa.study.read_study(self.study),
            "grids": lambda: self.grid,
            "grid": lambda: self.grid.as_json(),
            "part": lambda: sa.datasets.tune(),
            "pitches": lambda: list(range(40, 64)),
            "paths": lambda: [self.array],
            "io.load.path": lambda: self.array,
            "load.path": lambda: self.model,
            "read_grid.path": lambda: self.toml,
            "read_study.path": lambda: self.study,
            "from_pynapple.data": lambda: self.spikes,
            "from_pynapple.epochs": lambda: self.laps,
            "align_units.units": lambda: list(sa.datasets.tune().units),
            "write.truth": lambda: X.copy(),
            "run_trial.seed": lambda: np.random.SeedSequence(1),
            "lock_on_step.trajectory": lambda: np.vstack([X[3:5], X]),
            "certify.X": lambda: X.copy(),
            "load_moving_mnist.path": lambda: self.movies,
            "load_gait.folder": lambda: self.gait,
            "hidden_raster.trajectory": lambda: X.copy(),
            "weights_image.weights": lambda: self.net.U_.copy(),
            "find_attractors.X": lambda: X.copy(),
            "unbinarize.X": lambda: X.copy(),
            "sequence_rows.X": lambda: sa.datasets.toy(),
            "conflicts.lengths": lambda: np.array([4, 5]),
            "overlap_curve.X": lambda: X.copy(),
            "memory": lambda: sa.zoo.LookupMemory(on_conflict="learn").fit(X),
            "laps": lambda: [X.copy(), X.copy()],
            "events": lambda: [X.copy(), X[::-1].copy()],
            "rates": lambda: 1.0 + np.arange(5 * X.shape[1]).reshape(5, -1) % 7,
            "places": lambda: np.linspace(0, 1, X.shape[1]),
            "positions": lambda: [np.linspace(0, 1, len(X)) for _ in range(2)],
            "bayesian_decoding.bin_size": lambda: 0.1,
            "place_fields.bin_size": lambda: 0.1,
            "tested": lambda: self.tested,
            "found": lambda: self.cross_validated,
            "ReplayTest.to_pynapple.epochs": lambda: self.laps,
            "write_intervals.session": lambda: self.session,
        }
        self.good = made | {
            name: functools.partial(copy.deepcopy, value) for name, value in plain.items()
        }
        self.made: dict[str, Any] = {}

    def __call__(self, target: str, parameter: str) -> Any:
        """The good value of a parameter; KeyError if nobody wrote one down."""
        key = f"{target}.{parameter}" if f"{target}.{parameter}" in self.good else parameter
        if key not in self.made:
            self.made[key] = self.good[key]()
        return self.made[key]

    def has(self, target: str, parameter: str) -> bool:
        return f"{target}.{parameter}" in self.good or parameter in self.good

    @functools.cached_property
    def certificate(self) -> Any:
        return sa.certify(self.net, self.X)

    @functools.cached_property
    def curve(self) -> Any:
        return sa.robustness_curve(self.net, self.X, flips=[0, 2], trials=4, rng=0)

    @functools.cached_property
    def spiking(self) -> Any:
        return sa.spiking_recall(self.net, self.X[:1], 2)

    @functools.cached_property
    def lesions(self) -> Any:
        return sa.lesion_curve(self.net, self.X, fractions=[0, 0.5], draws=2, rng=0)

    @functools.cached_property
    def tested(self) -> Any:
        return sa.replay.test(self("", "memory"), self("", "events"), n_shuffles=5, rng=0)

    @functools.cached_property
    def cross_validated(self) -> Any:
        return sa.replay.cross_validate(self("", "laps"), self("", "memory"), rng=0, n_shuffles=5)

    @functools.cached_property
    def recording(self) -> Any:
        return sa.datasets.recording(n_cells=20, n_laps=2, n_events=1, rng=0)

    @functools.cached_property
    def session(self) -> str:
        path = str(self.folder / "session.nwb")
        self.recording.write_nwb(path)
        return path

    @functools.cached_property
    def capacity(self) -> Any:
        return sa.measure_capacity("hebbian", n=20, flips=1, max_trials=10, t_max=10)

    @functools.cached_property
    def comparison(self) -> Any:
        return sa.compare("random", ["hebbian", "lookup"], values=[5, 6], trials=2)

    @functools.cached_property
    def grid(self) -> Any:
        return sa.study.Grid({"network": "lookup", "n": 20, "t": [5, 6]}, trials=2)

    @functools.cached_property
    def study(self) -> str:
        path = str(self.folder / "good.db")
        sa.study.run_sweep(self.grid, path)
        return path

    @functools.cached_property
    def toml(self) -> str:
        path = self.folder / "grid.toml"
        path.write_text('[grid]\nnetwork = ["lookup"]\nn = 20\nt = [5, 6]\ntrials = 2')
        return str(path)

    @functools.cached_property
    def model(self) -> str:
        self.net.save(self.folder / "good.npz")
        return str(self.folder / "good.npz")

    @functools.cached_property
    def array(self) -> str:
        np.save(self.folder / "good.npy", self.X)
        return str(self.folder / "good.npy")

    @functools.cached_property
    def spikes(self) -> Any:
        import pynapple as nap

        return nap.TsGroup(
            {3: nap.Ts(np.array([0.1, 0.9, 4.0])), 5: nap.Ts(np.array([0.2, 3.0]))},
            time_support=self.laps,
        )

    @functools.cached_property
    def laps(self) -> Any:
        import pynapple as nap

        return nap.IntervalSet([0.0, 2.5], [2.0, 5.0])

    @functools.cached_property
    def digits(self) -> str:
        data = np.random.default_rng(0).integers(0, 256, (3, 28, 28), dtype=np.uint8)
        path = self.folder / "images-idx3-ubyte"
        path.write_bytes(
            bytes([0, 0, 8, 3]) + np.array(data.shape, dtype=">i4").tobytes() + data.tobytes()
        )
        return str(path)

    @functools.cached_property
    def movies(self) -> str:
        np.save(
            self.folder / "movies.npy",
            np.random.default_rng(0).integers(0, 256, (20, 5, 64, 64), dtype=np.uint8),
        )
        return str(self.folder / "movies.npy")

    @functools.cached_property
    def gait(self) -> str:
        from PIL import Image

        folder = self.folder / "gait"
        folder.mkdir()
        for k in range(4):
            picture = np.random.default_rng(k).integers(0, 256, (128, 88), dtype=np.uint8)
            Image.fromarray(picture).save(folder / f"{k:08d}.png")
        return str(self.folder / "gait")


# -- what is attacked
# --------------------------------------------------------------------------------------------------


@dataclasses.dataclass(frozen=True)
class Target:
    """A call: its name, what is called with keywords, the parameters that can be attacked, and
    whether it changes its network.
    """

    name: str
    call: Callable[..., Any]
    required: tuple[str, ...]
    optional: tuple[str, ...]


def public() -> Iterator[tuple[str, Any]]:
    """Everything that users can name, each once: (name, object)."""
    root, seen = Path(sa.__file__).parent, set()
    files = [*sorted(root.rglob("__init__.pyi")), root / "sequences/__init__.py"]
    listed = [
        (file, node)
        for file in files
        for node in ast.parse(file.read_text()).body
        if isinstance(node, ast.ImportFrom)
    ]
    names = [
        (file.parent.relative_to(root).parts, alias.asname or alias.name)
        for file, node in listed
        for alias in node.names
    ]
    names += [
        ((module,), name)
        for module in ("noise", "rules", "constraints", "theory")
        for name in getattr(sa, module).__all__
    ]
    for parts, name in names:
        value = getattr(importlib.import_module(".".join(("seqattractor", *parts))), name)
        if callable(value) and not inspect.ismodule(value) and id(value) not in seen:
            seen.add(id(value))
            yield ("io.load" if value is sa.io.load else name), value


def targets(shelf: Shelf) -> list[Target]:
    """All calls that are attacked. Networks are fitted with hostile parameters, and their methods
    called with hostile data.
    """
    found = []
    for name, value in public():
        if name in NOT_ATTACKED:
            continue
        if not inspect.isclass(value):
            found.append(_target(name, value))
        elif issubclass(value, sa.SequenceMemory):
            if value is sa.ThresholdNetwork:  # which does not learn
                net = sa.networks.from_arrays(shelf.net.U_, shelf.net.V_)
            else:
                found.append(_target(name, value, fit=True))
                net = value(**_few(value)).fit(shelf.X)
            methods = [
                n for n in _methods(value) if f"{name}.{n}" not in NOT_ATTACKED and hasattr(net, n)
            ]
            found += [_target(f"{name}.{n}", getattr(value, n), own=net) for n in methods]
        elif issubclass(value, TransformerMixin):
            found.append(
                Target(name, _Encode(value), ("X",), tuple(inspect.signature(value).parameters))
            )
        elif issubclass(value, Result) and value not in (sa.Sequences, sa.analysis.SuccessRate):
            # People are given results and do not make them; what they are given can be asked.
            found += [
                _target(f"{name}.{n}", getattr(value, n), own=_result(shelf, value))
                for n in _methods(value)
            ]
        else:
            found.append(_target(name, value))
    return found


def _few(cls: type) -> dict[str, Any]:
    """Parameters that make a network small."""
    small = {"n_hidden": 40, "n_latent": 10, "inference_steps": 10, "random_state": 3}
    small["network"] = sa.SequenceAttractor(40, random_state=3)  # of a network around another
    return {
        name: value for name, value in small.items() if name in inspect.signature(cls).parameters
    }


def _methods(cls: type) -> list[str]:
    """The public methods of a class of this package that take something."""
    members = inspect.getmembers(cls, inspect.isfunction)
    ours = [
        n for n, f in members if not n.startswith("_") and f.__module__.startswith("seqattractor")
    ]
    return [
        n
        for n in ours
        if f".{n}" not in NOT_ATTACKED and len(inspect.signature(getattr(cls, n)).parameters) > 1
    ]


def _result(shelf: Shelf, cls: type) -> Any:
    """A result of this class."""
    made = {
        "RobustnessCurve": lambda: shelf.curve,
        "LesionCurve": lambda: shelf.lesions,
        "Limit": lambda: sa.theory.limits(shelf.net, 24)[0],
        "LayerMargin": lambda: sa.theory.layer_margins(shelf.net, shelf.X)[0],
        "HiddenActivity": lambda: shelf("", "activity"),
        "LostStarts": lambda: shelf("", "losses"),
        "Separability": lambda: shelf("", "separability"),
        "Comparison": lambda: shelf.comparison,
        "Certificate": lambda: shelf.certificate,
        "Attractors": lambda: shelf("", "attractors"),
        "Attractor": lambda: shelf("", "attractors")[0],
        "Proof": lambda: shelf("", "separability").proof(0),
        "Study": lambda: shelf("", "study"),
        "Capacity": lambda: shelf.capacity.groups[0][0],
        "Progress": lambda: sa.study.Progress(1, 0, 2),
        "ReplayTest": lambda: shelf.tested,
        "CrossValidation": lambda: shelf.cross_validated,
        "GeneratedRecording": lambda: shelf.recording,
        "SpikingRecall": lambda: shelf.spiking,
        "SweepReport": lambda: sa.study.SweepReport(1, 0, 1, 0),
    }
    return made[cls.__name__]()


def _target(name: str, value: Any, *, own: Any = None, fit: bool = False) -> Target:
    """See a function, a class or a method as a call with keywords."""
    parameters = [
        p
        for p in inspect.signature(value).parameters.values()
        if not {f"({p.name})", f"{name}({p.name})"} & {*NOT_ATTACKED}
    ]
    parameters = [p for p in parameters if p.kind in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY)]
    call = value
    if own is not None:
        parameters, call = parameters[1:], _Method(own, name.split(".")[1])
    if fit:
        call = _Fit(value)
    if name == "style":
        call = _Entered(value)
    required = tuple(p.name for p in parameters if p.default is p.empty)
    optional = tuple(p.name for p in parameters if p.default is not p.empty)
    return Target(
        name,
        call,
        (*required, "X") if fit else required,
        (*optional, "lengths") if fit else optional,
    )


class _Method:
    """A method of a network or a result, each time of a copy: what the call changes is gone
    afterwards.
    """

    def __init__(self, own: Any, name: str) -> None:
        self.own, self.name = own, name

    def __call__(self, **given: Any) -> Any:
        own = copy.deepcopy(self.own)
        before = digest(own)
        try:
            result = getattr(own, self.name)(**given)
        except Exception:
            assert digest(own) == before, "a call that was rejected has changed its network"
            raise
        if self.name not in ("fit", "partial_fit", "transitions", "self_organise"):  # these learn
            assert digest(own) == before, "a call that only asks has changed its network"
        return result


class _Fit:
    """Make a network with hostile parameters, fit it, and recall."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def __call__(self, X: Any, lengths: Any = None, **parameters: Any) -> Any:
        net = self.cls(**_few(self.cls) | parameters)
        before = vars(net).copy()
        try:
            net.fit(X, lengths)
        except Exception:
            assert vars(net) == before or str(vars(net)) == str(before), (
                "a fit that was rejected has left something behind"
            )
            raise
        for name, value in vars(net).items():
            if isinstance(value, np.ndarray) and value.dtype.kind == "f":
                assert np.isfinite(value).all(), f"{name} is not finite"
        first = np.asarray(X if not isinstance(X, (list, tuple)) or np.ndim(X[0]) < 2 else X[0])[
            : net.order_
        ]
        path = net.recall(first[0] if net.order_ == 1 else first, 3)
        assert np.isin(path, (-1, 1)).all(), "recall gave something else than -1 and +1"
        return net


class _Encode:
    """Make an encoder with hostile parameters, fit it, and go there and back."""

    def __init__(self, cls: Any) -> None:
        self.cls = cls

    def __call__(self, X: Any, **parameters: Any) -> Any:
        encoder = self.cls(**parameters)
        before = vars(encoder).copy()
        try:
            encoder.fit(X)
        except Exception:
            left = vars(encoder)
            assert left == before or str(left) == str(before), (
                "a fit that was rejected has left something behind"
            )
            raise
        patterns = encoder.transform(X)
        assert np.isin(patterns, (-1, 1)).all(), "patterns of other values than -1 and +1"
        assert np.isfinite(encoder.inverse_transform(patterns)).all(), "numbers that are not finite"
        return patterns


class _Entered:
    """Enter a context and leave it."""

    def __init__(self, value: Any) -> None:
        self.value = value

    def __call__(self, **given: Any) -> None:
        with self.value(**given):
            pass


# -- what is hostile
# --------------------------------------------------------------------------------------------------


def guises(good: Any) -> dict[str, Any]:
    """The same value written otherwise: a call may reject it, but if it answers, then with the same
    answer.
    """
    if isinstance(good, (bool, str)) or good is None:
        return {}
    if isinstance(good, (int, float)):
        kinds = (
            np.int8,
            np.uint8,
            np.int16,
            np.int64,
            np.float64,
            np.float16,
            Fraction,
            float,
            np.array,
            Decimal,
        )
        made = {}
        for kind in kinds:
            with contextlib.suppress(OverflowError):
                made[f"{kind.__name__} of it"] = kind(good)
        return {name: value for name, value in made.items() if float(value) == good}
    if isinstance(good, (list, tuple)):
        return {
            "list of it": list(good),
            "tuple of it": tuple(good),
            "array of it": np.array(good),
            "iterator of it": iter(good),
        }
    if not isinstance(good, np.ndarray):
        return {}
    frozen = good.copy()
    frozen.flags.writeable = False
    kinds = (
        "float32",
        "float64",
        "int16",
        "int64",
        ">i4",
        ">f8",
        "object",
        "float16",
        "longdouble",
    )
    every = {
        f"{kind} of it": good.astype(kind)
        for kind in kinds
        if np.array_equal(good.astype(kind).astype(good.dtype), good)
    }
    nested = {
        "lists of it": good.tolist(),
        "rows of it": list(good),
        "tuple of it": tuple(good.tolist()),
    }
    layout = {
        "Fortran order of it": np.asfortranarray(good),
        "strided it": np.repeat(good, 2, axis=-1)[..., ::2],
        "frozen it": frozen,
    }
    return (
        every
        | nested
        | layout
        | {"iterator of it": iter(good), "memoryview of it": memoryview(np.ascontiguousarray(good))}
    )


def damages(good: Any, rng: np.random.Generator) -> dict[str, Any]:
    """An array with something wrong."""
    if not isinstance(good, np.ndarray) or good.dtype.kind not in "if":
        return {}
    damaged = {}
    for value in (np.nan, np.inf, 0.0, 2.0, 1e300, -128.0):
        array = good.astype(np.float64)
        array.flat[rng.integers(array.size)] = value
        damaged[f"it with a {value}"] = array
    for value in (10**400, None, "x", 1j, Fraction(1, 3)):
        array = good.astype(object)
        array.flat[rng.integers(array.size)] = value
        damaged[f"an object array with {str(value)[:5]}"] = array
    masked = np.ma.masked_array(good, mask=np.zeros(good.shape, dtype=bool))
    masked.mask.flat[rng.integers(good.size)] = True
    whole = {
        "it transposed": good.T,
        "half of it": good[: len(good) // 2],
        "it with an axis more": good[None],
        "it flat": good.ravel(),
    }
    kinds = {
        "it as complex": good.astype(complex),
        "it as str": good.astype(str),
        "it as bool": good > 0,
        "it masked": masked,
    }
    rest = {
        "nothing of it": good[:0],
        "one row of it": good[:1],
        "it twice": np.concatenate([good, good]),
    }
    uneven = {
        "unequal rows": [
            row.tolist()[: len(np.atleast_1d(row)) - k % 2]
            for k, row in enumerate(np.atleast_2d(good))
        ]
    }
    flat = good.reshape(len(good), -1)
    return (
        damaged
        | whole
        | kinds
        | rest
        | uneven
        | {"it sparse": csr_array(flat), "it as matrix": np.asmatrix(flat)}
    )


def constants(*, long: bool) -> dict[str, Any]:
    """Values that fit nowhere, or almost nowhere; `long` if the parameter is one of `LONG`."""
    numbers = [
        0,
        1,
        -1,
        3,
        2**63,
        2**64,
        -(2**63) - 1,
        10**30,
        10**400,
        -(10**400),
        0.5,
        -0.5,
        5e-324,
        1e-300,
        1e308,
        -1e308,
    ]
    if not long:
        numbers += [2**31 - 1, 2**31, 2**40, 2**62, 10**12]
    numbers += [
        float("nan"),
        float("inf"),
        -float("inf"),
        1j,
        Fraction(1, 3),
        Fraction(10**400),
        Fraction(1, 10**400),
        Decimal("NaN"),
    ]
    scalars = [
        np.int8(-128),
        np.int8(127),
        np.uint8(255),
        np.uint64(2**64 - 1),
        np.float16(0.1),
        np.float32(3e38),
        np.longdouble(1) / 3,
    ]
    scalars += [
        np.complex64(1),
        np.bool_(True),
        np.datetime64("2020-01-01"),
        np.timedelta64(3, "D"),
        np.str_("x"),
        np.float64("nan"),
    ]
    words = [
        "",
        "x",
        "auto",
        "\0",
        "\udcff",
        "two\nlines.npz",
        "x" * 10_000,
        "..",
        "1",
        "nan",
        b"x",
        bytearray(b"x"),
        Path("nowhere/x"),
        "random",
        "UV",
    ]
    empty = [
        None,
        [],
        (),
        {},
        set(),
        "",
        iter([]),
        range(0),
        np.zeros(0),
        np.zeros((0, 24)),
        np.zeros((9, 0)),
        [[]],
        [[], []],
        [None],
    ]
    things = [
        True,
        False,
        object(),
        len,
        int,
        ...,
        slice(3),
        {"a": 1},
        {1, -1},
        range(3),
        (k for k in (1, -1)),
        sys,
        Exception("x"),
    ]
    arrays = [
        np.array(1),
        np.array(None),
        np.array("x"),
        np.ones(3),
        np.ones((2, 3, 4)),
        np.ones((1,) * 20),
        np.array([2**63], dtype=np.uint64),
    ]
    arrays += [
        np.array([10**400, -1], dtype=object),
        np.array([[1, -1]], dtype="complex"),
        np.zeros(3, dtype=[("a", int)]),
        np.array(["2020"], "M8[D]"),
    ]
    arrays += [
        [1, [2, 3]],
        [[1, -1], [1]],
        [1, "x"],
        [float("nan")],
        [1e308, 1e308],
        [10**30],
        [-1],
        [0],
        [1, 2],
        [True, False],
        "+-",
        [[[1]]],
    ]
    arrays += [
        np.broadcast_to(np.int8(1), (2**40, 2)),
        np.lib.stride_tricks.as_strided(np.ones(1), (9, 24), (0, 0)),
    ]
    everything = [*numbers, *scalars, *words, *empty, *things, *arrays, *_others()]
    return {f"{k}: {_short(value)}": value for k, value in enumerate(everything)}


@functools.cache
def _others() -> list[Any]:
    """Networks and data that are not those of the call."""
    xor, tune, line = sa.datasets.xor(), sa.datasets.tune(), LinearRegression()
    networks = [
        sa.zoo.LookupMemory(),
        sa.zoo.LookupMemory,
        line,
        copy.deepcopy(line).fit([[1.0]], [1.0]),
        sa.OneHotNetwork().fit(xor),
    ]
    return [*networks, xor, tune, [xor, tune]]


def _short(value: Any) -> str:
    """A few letters of a value."""
    if isinstance(value, int) and abs(value) > 10**50:
        return f"{'-' if value < 0 else ''}10**{len(str(abs(value))) - 1}"
    if isinstance(value, np.ndarray):
        return f"array{value.shape} of {value.dtype}"
    return (
        " ".join(f"{type(value).__name__} {value!r:.40}".split())
        if not isinstance(value, Fraction)
        else "Fraction"
    )


# -- whether an answer is true
# -----------------------------------------------------------------------------------------------


def digest(value: Any) -> Any:
    """What can be compared of an answer or an argument, whatever it is."""
    if isinstance(value, sa.Sequences):
        return digest([value.patterns, value.lengths, value.frame_shape, value.names])
    if isinstance(value, np.ndarray):
        return (
            value.shape,
            value.astype(np.float64).tobytes()
            if value.dtype.kind in "biuf"
            else repr(value.tolist()),
        )
    if isinstance(value, (bool, int, float, np.generic)):
        with contextlib.suppress(TypeError, ValueError, OverflowError):
            return float(value)
        return repr(value)
    if isinstance(value, sa.SequenceMemory):
        return digest(
            {k: v for k, v in vars(value).items() if k.endswith("_") and not k.startswith("_")}
        )
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return digest(
            {
                field.name: getattr(value, field.name)
                for field in dataclasses.fields(value)
                if field.name != "seconds"
            }
        )
    if isinstance(value, dict):
        return tuple(sorted((str(k), digest(v)) for k, v in value.items() if k != "seconds"))
    if isinstance(value, (list, tuple)):
        return tuple(map(digest, value))
    if type(value).__name__ == "Axes":
        return digest(
            [line.get_xydata() for line in value.lines]
            + [np.asarray(image.get_array()) for image in value.images]
        )
    return value if isinstance(value, (str, type(None))) else type(value).__name__


def check_answer(name: str, answer: Any) -> None:
    """Raise AssertionError for an answer that cannot be true, whatever the question was."""
    patterns = answer.patterns if isinstance(answer, sa.Sequences) else answer
    if isinstance(patterns, np.ndarray) and patterns.dtype == np.int8 and name != "unbinarize":
        assert np.isin(patterns, (-1, 0, 1) if "hidden" in name else (-1, 1)).all(), (
            "patterns of other values than -1 and +1"
        )
    if name.split(".")[-1] in ("basin", "score", "cover"):
        assert 0 <= answer <= 1, f"{answer} is no fraction"
    if name == "wilson_interval":
        assert 0 <= answer[0] <= answer[1] <= 1, f"{answer} is no interval of rates"
    if name in ("overlap", "certify", "robustness_curve"):
        numbers = {
            "overlap": lambda: answer,
            "certify": lambda: answer.margin,
            "robustness_curve": lambda: answer.rate,
        }[name]()
        assert (np.abs(numbers) <= 1).all(), "numbers beyond -1 to 1, or none"
    if name == "certify":
        assert (answer.radius < answer.breaking).all() or (answer.radius < 0).any(), (
            "what is proven is broken"
        )
    if isinstance(answer, Result):
        assert answer.describe(), "a result without a sentence"


# -- the cases
# --------------------------------------------------------------------------------------------------


class Attacks:
    """Draws cases and does them, each in an empty folder of its own."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.shelf, self.seed, self.folder = Shelf(folder), seed, folder
        self.targets = [t for t in targets(self.shelf) if t.required or t.optional]
        missing = [
            f"{t.name}({p})"
            for t in self.targets
            for p in t.required
            if not self.shelf.has(t.name, p)
        ]
        assert not missing, f"write down in Shelf what these are given: {', '.join(missing)}"
        parameters = [len(t.required + t.optional) for t in self.targets]
        weights = np.array(
            [n / 10 if t.name in SLOW else n for t, n in zip(self.targets, parameters, strict=True)]
        )
        self.weights = weights / weights.sum()
        self.truth: dict[tuple[str, bool], Any] = {}

    def do(self, number: int, verdicts: Campaign) -> None:
        """Do one case; the same number is the same case."""
        rng = np.random.default_rng([self.seed, number])
        target = self.targets[rng.choice(len(self.targets), p=self.weights)]
        attackable = (*target.required, *target.optional)
        chosen = rng.choice(
            len(attackable), size=min(len(attackable), 1 + int(rng.random() < 0.3)), replace=False
        )
        given, labels, same = self._good(target), [], True
        for parameter in (attackable[k] for k in chosen):
            good = given.get(
                parameter,
                self.shelf(target.name, parameter)
                if self.shelf.has(target.name, parameter)
                else None,
            )
            kinds = [
                guises(good),
                damages(good, rng),
                constants(long=bool({parameter, f"{target.name}.{parameter}"} & LONG)),
            ]
            kind = kinds[rng.choice(3, p=[0.25, 0.25, 0.5])] or kinds[2]
            label = list(kind)[rng.integers(len(kind))]
            given[parameter] = kind[label]
            same &= kind is kinds[0]
            labels.append(f"{parameter} = {label}")
        what = f"case {number} of seed {self.seed}: {target.name} with {'; '.join(labels)}"
        with verdicts.case(what, rejections=REJECTIONS), self._scratch(), self._quiet():
            untouched = {
                name: pickle.dumps(value)
                for name, value in self.shelf.made.items()
                if isinstance(value, (np.ndarray, list))
            }
            answer = target.call(**given)
            check_answer(target.name, answer)
            if same and not isinstance(answer, Iterator):
                # The good values of optional arguments are given where they are written otherwise.
                plain = self._good(target) | {
                    attackable[k]: self.shelf(target.name, attackable[k]) for k in chosen
                }
                assert digest(answer) == digest(target.call(**plain)), (
                    "the same arguments, written otherwise, gave another answer"
                )
            changed = [
                name
                for name, before in untouched.items()
                if pickle.dumps(self.shelf.made[name]) != before
            ]
            assert not changed, f"the call has changed its arguments: {', '.join(changed)}"

    def _good(self, target: Target) -> dict[str, Any]:
        """Good values of all that must be given, and of what makes answers repeatable."""
        named = self.shelf.good.keys()
        also = [
            p
            for p in target.optional
            if p in ("rng", "random_state") or f"{target.name}.{p}" in named
        ]
        return {
            parameter: self.shelf(target.name, parameter) for parameter in (*target.required, *also)
        }

    def _truth(self, target: Target) -> Any:
        """Check once that the undamaged call answers."""
        if (target.name, True) not in self.truth:
            self.truth[target.name, True] = digest(target.call(**self._good(target)))
        return self.truth[target.name, True]

    @contextlib.contextmanager
    def _scratch(self) -> Iterator[None]:
        """An empty folder to write into."""
        scratch = self.folder / "scratch"
        shutil.rmtree(scratch, ignore_errors=True)
        scratch.mkdir()
        os.chdir(scratch)
        try:
            yield
        finally:
            os.chdir(self.folder)
            if "matplotlib.pyplot" in sys.modules:
                sys.modules["matplotlib.pyplot"].close("all")

    @contextlib.contextmanager
    def _quiet(self) -> Iterator[None]:
        """Warnings are errors, except that something was not learned, which is what was asked
        for.
        """
        with warnings.catch_warnings():
            warnings.simplefilter("error")
            warnings.simplefilter("ignore", ConvergenceWarning)
            yield


def main(seed: int, first: int, last: int) -> None:
    """Do some cases and print a line of JSON for each: which case begins, then how it ended."""
    report = os.fdopen(
        os.dup(1), "w", buffering=1
    )  # before a call can write to what it takes for a file: 0, 1 or 2
    for stream in (0, 1):
        os.dup2(os.open(os.devnull, os.O_RDWR), stream)
    with tempfile.TemporaryDirectory() as folder:
        attacks = Attacks(Path(folder), seed)
        for (
            target
        ) in attacks.targets:  # calls that work, before memory is short: all is imported now
            with attacks._scratch(), attacks._quiet():
                try:
                    attacks._truth(target)
                except Exception as error:
                    raise AssertionError(
                        f"{target.name} does not answer when nothing is wrong: {error!r}"
                    ) from error
        resource.setrlimit(resource.RLIMIT_AS, (MEMORY, MEMORY))
        for number in range(first, last):
            print(json.dumps({"begins": number}), file=report)
            verdicts = Campaign("calls")
            attacks.do(number, verdicts)
            print(
                json.dumps(
                    {k: v for k, v in dataclasses.asdict(verdicts).items() if v and k != "name"}
                ),
                file=report,
            )
        os.chdir("/")
    print(
        json.dumps(
            {"done": True, "memory": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024}
        ),
        file=report,
    )


if __name__ == "__main__":
    main(*map(int, sys.argv[1:]))
