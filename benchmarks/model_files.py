"""Size of model files, packed and with all arrays as they are, and the time to save and load them.

    python benchmarks/model_files.py

One thread, processor time. What is loaded is compared with what was saved, bit for bit. Prints the table of docs/trust.rst.
"""

from __future__ import annotations

import tempfile
import time
import warnings
from pathlib import Path

import numpy as np
from threadpoolctl import threadpool_limits

import seqattractor as sa
from seqattractor.io._attached import attach
from seqattractor.tasks.learn import learn


def film(folder: Path) -> sa.Sequences:
    """A GIF of 100 x 100 pixels and 30 frames: a disc that goes round on a drifting pattern."""
    rng = np.random.default_rng(0)
    y, x = np.mgrid[:100, :100]
    waves = sum(np.cos((k * x + m * y) / 9 + p) for k, m, p in zip(*rng.normal(size=(3, 8)), strict=True))
    frames = []
    for t in range(30):
        angle = 2 * np.pi * t / 30
        disc = (x - 50 - 25 * np.cos(angle)) ** 2 + (y - 50 - 25 * np.sin(angle)) ** 2 < 200
        frames.append(disc | (np.roll(waves, (2 * t, t), (0, 1)) > 2))
    sa.io.write(folder / "film.gif", sa.Sequences(np.where(np.reshape(frames, (30, -1)), 1, -1), frame_shape=(100, 100)))
    return sa.io.load(folder / "film.gif")


def networks(folder: Path) -> dict[str, sa.SequenceMemory]:
    """The networks of the table, trained."""
    random, digits = sa.datasets.random_periodic, sa.datasets.moving_digits
    attractor, sparse = sa.SequenceAttractor, sa.SparseSequenceAttractor
    data = film(folder)
    learned = learn(data, parameters={"random_state": 0})  # as the command does
    attach(learned.net, data)
    went_on = attractor(500, random_state=0).fit(random(70, 100, rng=0))
    for _ in range(10):
        went_on.partial_fit(random(20, 100, rng=1))
    return {
        f"a GIF of {(folder / 'film.gif').stat().st_size / 1e3:.0f} kB, `learn`, M = {learned.net.V_.shape[1]}": learned.net,
        "walker, M = 200": attractor(200, random_state=0).fit(sa.datasets.walker()),
        "moving digits, N = 4096, M = 1000": attractor(1000, random_state=0).fit(digits()),
        "random patterns, N = 100, M = 500, T = 70": attractor(500, random_state=0).fit(random(70, 100, rng=0)),
        "the same from zero weights": attractor(500, init_scale=0, random_state=0).fit(random(70, 100, rng=0)),
        "the same, 10 times `partial_fit` of others": went_on,
        "only V learned, T = 30": attractor(500, learn="V", random_state=0).fit(random(30, 100, rng=0)),
        "sparse, N = 100, M = 500, T = 200, noise = 0": sparse(500, noise=0, random_state=0).fit(random(200, 100, rng=0)),
        "sparse, N = 100, M = 500, T = 500": sparse(500, random_state=0).fit(random(500, 100, rng=0)),
        "no hidden neurons, N = 1000, T = 100": sa.VisibleNetwork(random_state=0).fit(random(100, 1000, rng=0)),
    }


def measure(net: sa.SequenceMemory, path: Path, *, compact: bool) -> tuple[int, float, float]:
    """Bytes, and seconds to save and to load."""
    started = time.process_time()
    net.save(path, compact=compact)
    saved = time.process_time()
    again = sa.load(path)
    loaded = time.process_time()
    for name, value in vars(net).items():
        if isinstance(value, np.ndarray):
            assert getattr(again, name).tobytes() == value.tobytes(), name
    return path.stat().st_size, saved - started, loaded - saved


def main() -> None:
    """Print one row for each network."""
    warnings.simplefilter("ignore")
    with tempfile.TemporaryDirectory() as name, threadpool_limits(1):
        folder = Path(name)
        print("network: as they are -> packed, times smaller; seconds to save, to load")
        for title, net in networks(folder).items():
            whole = measure(net, folder / "whole.npz", compact=False)
            packed = measure(net, folder / "packed.npz", compact=True)
            sizes = f"{whole[0] / 1e3:,.0f} -> {packed[0] / 1e3:,.0f} kB, {whole[0] / packed[0]:.1f}"
            print(f"{title}: {sizes}; {whole[1]:.2f} -> {packed[1]:.2f}, {whole[2]:.2f} -> {packed[2]:.2f}", flush=True)


if __name__ == "__main__":
    main()
