"""A grid of trials: lists of settings, and every combination of them a number of times."""

from __future__ import annotations

import itertools
import json
import math
import os
import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from seqattractor._checks import check_count, check_kind, say
from seqattractor._suggest import did_you_mean
from seqattractor.networks.own_learning import as_text
from seqattractor.networks.registry import REGISTRY, parameters_of, takes_hidden
from seqattractor.study.protocol import RETRIEVAL, Point, Rounds, canonical, check_seed
from seqattractor.study.settings import DEFAULTS

Value = bool | int | float | str | None

# The smallest value of whole-number settings.
_COUNTS = {"n": 1, "m": 1, "t": 2, "sequences": 1, "flips": 0, "recall_noise": 0, "periods": 1}
_KINDS = {bool: "true or false", float: "a number", str: "a word"}
_SET_BY_TRIALS = ("n_hidden", "random_state", "verbose")


class Grid:
    """Every combination of some settings, a number of trials each.

    Parameters
    ----------
    settings : dict
        Lists of values by the name of the setting: those of a trial (see `run_trial`) and
        parameters of the networks. A parameter that a network does not have is left out for that
        network.
    trials : int
        How many trials at each point.
    seed : int
    only : dict
        Further parameters of single networks, by the name of the network.

    Examples
    --------
    >>> grid = Grid({"network": ["attractor", "one-hot"], "m": [80, 160], "t": [10, 20]}, trials=3)
    >>> len(grid.points()), len(grid.all_trials())  # one-hot has no M to set
    (6, 18)
    """

    def __init__(
        self,
        settings: dict[str, Any],
        *,
        trials: int = 20,
        seed: int = 0,
        only: dict[str, dict[str, Any]] | None = None,
    ) -> None:
        for name, table in {
            "settings": settings,
            "only": only or {},
            **(only if isinstance(only, dict) else {}),
        }.items():
            check_kind(table, dict, str(name), "a dict of settings by name")
        self.settings = {key: _as_list(key, value) for key, value in settings.items()}
        self.trials = check_count(trials, "trials")
        self.seed = check_seed(seed)
        self.only = {
            name: {k: _as_list(k, v) for k, v in table.items()}
            for name, table in (only or {}).items()
        }
        self._check()

    @property
    def networks(self) -> list[str]:
        """The short names of the networks."""
        return [str(name) for name in self.settings.get("network", [DEFAULTS["network"]])]

    def points(self) -> list[Point]:
        """All combinations, in the order of the lists, each once."""
        combinations = itertools.chain.from_iterable(map(self._combinations, self.networks))
        points = (Point(RETRIEVAL, settings, self.seed) for settings in combinations)
        return list({point.key: point for point in points}.values())

    def all_trials(self) -> Rounds:
        """The first trial of every point, then the second, and so on."""
        return Rounds((point, self.trials) for point in self.points())

    def as_json(self) -> str:
        """Write the grid down, in one way only."""
        return canonical(
            {"settings": self.settings, "trials": self.trials, "seed": self.seed, "only": self.only}
        )

    @classmethod
    def from_json(cls, text: str) -> Grid:
        """Read what `as_json` wrote."""
        return cls(**json.loads(text))

    def _combinations(self, network: str) -> Iterator[dict[str, Any]]:
        """The settings of all points of one network."""
        known = parameters_of(network)
        lists = {**self.settings, **self.only.get(network, {})}
        lists.pop("network", None)
        lists = {k: v for k, v in lists.items() if k in DEFAULTS or k in known}
        if not takes_hidden(network):
            lists.pop("m", None)
        lists = {
            k: [_same_kind(v, {**known, **DEFAULTS}[k]) for v in values]
            for k, values in lists.items()
        }
        for values in itertools.product(*lists.values()):
            chosen = dict(zip(lists, values, strict=True))
            given = {k: v for k, v in chosen.items() if k not in DEFAULTS or v != DEFAULTS[k]}
            yield {"network": network, **given}

    def _check(self) -> None:
        """Reject what no trial could make sense of."""
        for name, table in self.only.items():
            if name not in self.networks:
                raise ValueError(
                    f"there are parameters for the network {name!r}, which is not in the grid."
                )
            for key in table:
                _check_known(key, [name])
        for key, values in self.settings.items():
            if key not in DEFAULTS:
                _check_known(key, self.networks)
            for value in values:
                if key in _COUNTS:
                    check_count(value, key, _COUNTS[key])
                elif key in DEFAULTS and not isinstance(
                    _same_kind(value, DEFAULTS[key]), type(DEFAULTS[key])
                ):
                    raise ValueError(
                        f"{key} must be {_KINDS[type(DEFAULTS[key])]}, but it is {say(value)}."
                    )
        for combination in itertools.chain.from_iterable(map(self._combinations, self.networks)):
            given = DEFAULTS | combination
            for key in ("flips", "recall_noise"):
                if given[key] > given["n"]:
                    raise ValueError(
                        f"{key} = {given[key]} is more than the {given['n']} units (n) of a "
                        "pattern."
                    )
            if not 0 <= given["correlation"] < 1:
                raise ValueError(
                    f"correlation must be 0 or more and below 1, but it is {given['correlation']}."
                )
            if not -1 < given["pattern_bias"] < 1:
                raise ValueError(
                    f"pattern_bias must lie between -1 and 1, but it is {given['pattern_bias']}."
                )


def read_grid(path: str | os.PathLike[str]) -> Grid:
    r"""Read a grid from a TOML file.

    Parameters
    ----------
    path : str or path
        A file with a table ``[grid]``: lists (or single values) of ``network``, ``n``, ``m``,
        ``t``, ... and of parameters of the networks, and the numbers ``trials`` and ``seed``.
        ``[grid.NETWORK]`` holds parameters of one network.

    Returns
    -------
    Grid

    Examples
    --------
    >>> import pathlib, tempfile
    >>> path = pathlib.Path(tempfile.mkdtemp()) / "grid.toml"
    >>> text = '[grid]\nnetwork = ["attractor"]\nn = 40\nm = 80\nt = [10, 20]\ntrials = 5'
    >>> _ = path.write_text(text)
    >>> [point.settings["t"] for point in read_grid(path).points()]
    [10, 20]
    """
    try:
        content = tomllib.loads(Path(path).read_text(encoding="utf-8"))
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise ValueError(f"{path} is not a TOML file: {error}.") from None
    if set(content) != {"grid"} or not isinstance(content["grid"], dict):
        raise ValueError(
            f"{path} must hold one table [grid], but it holds {', '.join(content) or 'nothing'}."
        )
    table = dict(content["grid"])
    only = {key: table.pop(key) for key in list(table) if isinstance(table[key], dict)}
    options = {key: table.pop(key) for key in ("trials", "seed") if key in table}
    try:
        for name in only:
            if name not in REGISTRY:
                meant = did_you_mean(name, REGISTRY) or f"the networks are {', '.join(REGISTRY)}."
                raise ValueError(f"[grid.{name}] names no network; {meant}")
        return Grid(table, only=only, **options)
    except (ValueError, TypeError) as error:
        raise ValueError(f"{path}: {error}") from None


def _several(value: Any) -> list[Any]:
    return list(value) if isinstance(value, (list, tuple)) else [value]


def _as_list(key: str, value: Any) -> list[Value]:
    """A list of plain values, from a list or one value."""
    values = [as_text(each, key) for each in _several(value)]
    if not values:
        raise ValueError(f"the list of {key} is empty; give at least one value, or leave it out.")
    for each in values:
        if each is not None and not isinstance(each, (bool, int, float, str)):
            raise ValueError(f"{key} must be numbers or words, but one is {say(each)}.")
        if isinstance(each, float) and not math.isfinite(each):
            raise ValueError(f"{key} must be finite, but one is {say(each)}.")
    return values


def _same_kind(value: Value, default: Any) -> Value:
    """1 and 1.0 are the same setting where the default is a float."""
    return float(value) if isinstance(default, float) and type(value) is int else value


def _check_known(key: str, networks: list[str]) -> None:
    """Reject a key that is neither a setting of a trial nor a parameter of one of the networks."""
    known: dict[str, None] = {}
    for name in networks:
        known |= dict.fromkeys(
            parameter for parameter in parameters_of(name) if parameter not in _SET_BY_TRIALS
        )
    if key not in known:
        of_networks = f" and, of {' or '.join(networks)}, {', '.join(known)}" if known else ""
        meant = did_you_mean(key, [*DEFAULTS, "trials", "seed", *known])
        every = f"the keys are {', '.join(DEFAULTS)}, trials, seed{of_networks}."
        raise ValueError(f"unknown key {key!r}; {meant or every}")
