"""One fit over a Dask cluster: the same weights as on one machine, also when a worker dies."""

import gc
import os
import signal
import threading
import time
import weakref
from concurrent.futures import CancelledError

import numpy as np
import pytest

import seqattractor as sa
import written_pages
from dask_cluster import dask_cluster
from quiet import fit_quietly, quietly
from seqattractor.engine.exact import cluster as cluster_module
from seqattractor.engine.problem import Problem

distributed = pytest.importorskip("distributed")


@pytest.fixture(scope="module")
def cluster():
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=":0", silence_logs=50
    ) as started:
        yield started


@pytest.fixture(scope="module")
def client(cluster):
    with distributed.Client(cluster) as connected:
        yield connected


def assert_same(one, other):
    biases = ("hidden_bias_", "visible_bias_", "target_bias_") if one.bias else ()
    for name in ("U_", "V_", "P_", "hidden_errors_", "visible_errors_", *biases):
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
    assert (one.n_iter_, one.converged_) == (other.n_iter_, other.converged_)


@pytest.mark.parametrize(
    ("T", "parameters"),
    [
        (12, {}),
        (60, {"max_epochs": 40}),  # does not converge
        (12, {"max_epochs": 1}),
        (12, {"init_scale": 0.0, "eta": 2.0**-10}),
        (12, {"order": 2, "input_threshold": 1.5}),
        (12, {"bias": True}),
    ],
)
def test_a_fit_on_a_cluster_gives_the_weights_of_a_fit_here(client, T, parameters):
    X = sa.datasets.random_periodic(T, 40, rng=0)
    here, there = (
        sa.SequenceAttractor(n_hidden=70, random_state=1, **parameters) for _ in range(2)
    )
    assert_same(fit_quietly(here, X), quietly(there.fit_on_cluster, client, X))


@pytest.mark.parametrize("bias", [False, True])
def test_a_cluster_learns_V_alone_where_U_is_fixed(client, bias):
    X = sa.datasets.random_periodic(12, 40, rng=0)
    here, there = (sa.FixedHiddenNetwork(n_hidden=70, random_state=1, bias=bias) for _ in range(2))
    assert_same(fit_quietly(here, X), quietly(there.fit_on_cluster, client, X))


def test_a_cluster_chooses_as_many_hidden_neurons_as_are_chosen_here(client):
    X = sa.datasets.random_periodic(20, 60, rng=2)
    here, there = (sa.SequenceAttractor(n_hidden="auto", random_state=1) for _ in range(2))
    assert_same(here.fit(X), there.fit_on_cluster(client, X))
    assert there.n_hidden_ == here.n_hidden_ > 25


def test_a_callback_on_a_cluster_is_called_after_every_epoch_and_can_stop(client):
    X = sa.datasets.random_periodic(12, 40, rng=0)
    reported = []

    def stop_at_seven(epoch, hidden, visible):
        reported.append((epoch, hidden, visible))
        return epoch == 7

    stopped = quietly(
        sa.SequenceAttractor(n_hidden=50, random_state=1).fit_on_cluster,
        client,
        X,
        callback=stop_at_seven,
    )
    here = fit_quietly(sa.SequenceAttractor(n_hidden=50, random_state=1, max_epochs=7), X)
    assert_same(stopped, here)
    assert reported == [(e + 1, here.hidden_errors_[e], here.visible_errors_[e]) for e in range(7)]


def test_a_worker_lost_while_it_gets_its_data_is_done_without(client, monkeypatch):
    """The scheduler then looks in vain for the worker; it takes luck to kill one at that moment, so
    this simulates it.
    """
    X = sa.datasets.random_periodic(12, 40, rng=0)
    scatter, lost = client.scatter, ["tcp://127.0.0.1:1"]

    def scatter_once_in_vain(*args, **kwargs):
        if lost:
            raise KeyError(lost.pop())
        return scatter(*args, **kwargs)

    monkeypatch.setattr(client, "scatter", scatter_once_in_vain)
    there = sa.SequenceAttractor(n_hidden=50, random_state=1).fit_on_cluster(client, X)
    assert not lost
    assert_same(sa.SequenceAttractor(n_hidden=50, random_state=1).fit(X), there)


class WatchedClient:
    """A client that counts the blocks on their way, and loses the results of some gathers as a
    dying worker would.
    """

    def __init__(self, client, lost=()):
        self.client, self.lost = client, lost
        self.submitted = self.gathered = self.most = 0

    def __getattr__(self, name):
        return getattr(self.client, name)

    def scatter(self, data, **options):
        assert not options.get(
            "broadcast"
        )  # for which the scheduler tries for ever if a worker is lost meanwhile
        return self.client.scatter(data, **options)

    def submit(self, *args, **options):
        self.submitted += 1
        self.most = max(self.most, self.submitted - self.gathered)
        return self.client.submit(*args, **options)

    def gather(self, tasks):
        self.gathered += len(tasks)
        if self.gathered in self.lost:
            raise CancelledError("lost with a worker")
        return self.client.gather(tasks)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of 16 rows at most: 63 of U, 13 of V."""
    monkeypatch.setattr(cluster_module, "_BLOCK_BYTES", 1)
    X = sa.datasets.random_periodic(12, 200, rng=0)
    return X, sa.SequenceAttractor(n_hidden=1000, random_state=1).fit(X)


def test_a_few_blocks_are_on_their_way_at_a_time_so_that_no_machine_holds_all_weights_twice(
    client, small_blocks
):
    X, here = small_blocks
    watched = WatchedClient(client)
    assert_same(
        here, sa.SequenceAttractor(n_hidden=1000, random_state=1).fit_on_cluster(watched, X)
    )
    assert watched.submitted == watched.gathered == len(range(0, 1000, 16)) + len(range(0, 200, 16))
    assert watched.most <= 2 * 2  # for each of two workers one that learns and one that waits


def test_learned_weights_take_the_place_of_the_start_weights(client):
    X = sa.datasets.random_periodic(12, 40, rng=0)
    rng = np.random.default_rng(0)
    z = rng.choice(np.array([-1, 1], dtype=np.int8), (11, 70))
    starts = [np.rint(100 * rng.standard_normal(shape)) for shape in ((70, 40), (40, 70))]
    U, V = (start.copy() for start in starts)
    patterns = np.asarray(X)
    learned = cluster_module.learn(
        Problem(patterns[:-1], patterns[1:], V, 100.0, 20, U=U, hidden_targets=z), client=client
    )
    assert learned.U is U
    assert learned.V is V
    assert not np.array_equal(U, starts[0])


def test_blocks_that_have_learned_are_not_learned_again_when_a_worker_is_lost(client, small_blocks):
    X, here = small_blocks
    watched = WatchedClient(client, lost=(30, 70))
    assert_same(
        here, sa.SequenceAttractor(n_hidden=1000, random_state=1).fit_on_cluster(watched, X)
    )
    blocks = len(range(0, 1000, 16)) + len(range(0, 200, 16))
    assert blocks < watched.submitted <= blocks + 2 * 4  # what was on its way


def test_a_cluster_keeps_no_network_that_it_has_learned(client):
    """Its weights may be most of the memory of a machine, and an exception cached by the client
    would hold them.
    """
    net = sa.SequenceAttractor(n_hidden=50, random_state=1).fit_on_cluster(
        client, sa.datasets.random_periodic(12, 40, rng=0)
    )
    there = weakref.ref(net)
    del net
    gc.collect()
    assert there() is None


def test_the_cluster_benchmark_counts_all_that_is_sent_once_in_each_direction(client):
    X = sa.datasets.random_periodic(12, 40, rng=0)
    counting = written_pages.script("cluster").CountingClient(client, 2)
    here = fit_quietly(sa.SequenceAttractor(n_hidden=70, random_state=1), X)
    assert_same(
        here, quietly(sa.SequenceAttractor(n_hidden=70, random_state=1).fit_on_cluster, counting, X)
    )
    weights, targets = here.U_.nbytes + here.V_.nbytes, 11 * (70 + 40)
    assert counting.to_one == weights + targets
    assert counting.to_each > 2 * 11 * 40  # the inputs, as patterns and in products, and the codes
    assert counting.back > weights  # and errors and flips
    assert counting.sent == counting.to_one + 2 * counting.to_each + counting.back
    assert counting.tasks == len(range(0, 70, 16)) + len(range(0, 40, 16))


@pytest.mark.slow
@pytest.mark.parametrize("delay", [0.1, 0.3, 0.6, 1.0, 1.5])
def test_a_worker_that_dies_in_the_middle_of_a_fit_changes_nothing(cluster, client, delay):
    X = sa.datasets.random_periodic(300, 300, rng=0)
    here = fit_quietly(sa.SequenceAttractor(n_hidden=800, random_state=1, max_epochs=100), X)
    killed = []

    def kill():
        time.sleep(delay)
        while not (alive := [nanny.pid for nanny in cluster.workers.values() if nanny.pid]):
            time.sleep(0.01)  # those killed by an earlier test are starting again
        killed.append(alive[0])
        os.kill(killed[0], signal.SIGKILL)

    thread = threading.Thread(target=kill)
    thread.start()
    there = quietly(
        sa.SequenceAttractor(n_hidden=800, random_state=1, max_epochs=100).fit_on_cluster, client, X
    )
    thread.join()
    assert killed
    assert_same(here, there)


@pytest.mark.slow
def test_a_fit_whose_scheduler_is_killed_ends_with_one_sentence_and_leaves_the_network_as_it_was(
    tmp_path,
):
    net = sa.SequenceAttractor(n_hidden=50, random_state=1)
    with (
        dask_cluster(tmp_path, 1) as processes,
        distributed.Client(processes.address, timeout=5) as lost,
    ):
        net.fit_on_cluster(lost, sa.datasets.random_periodic(12, 40, rng=0))
        before = net.V_.copy()
        processes.scheduler.kill()
        processes.scheduler.wait()
        with pytest.raises(
            OSError, match=r"the Dask cluster was lost: .*; start it again, then fit again\."
        ):
            net.fit_on_cluster(lost, sa.datasets.random_periodic(13, 40, rng=0))
    assert np.array_equal(net.V_, before)
