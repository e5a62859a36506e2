"""Integrate-and-fire neurons in plain Python, one event after another; nothing of the package.

Pulses come when they are told to; whether a neuron fires then is found out here.
"""

import heapq
import math

ARRIVAL, PULSE = 0, 1


class Neuron:
    """A membrane with the time constant tau_m and the threshold theta, at rest at time 0."""

    def __init__(self, tau_m, theta):
        self.tau_m, self.theta, self.v, self.at = tau_m, theta, 0.0, 0.0

    def jump(self, time, size):
        """Leak until `time`, jump, and return whether the threshold is reached."""
        self.v = self.v * math.exp(-(time - self.at) / self.tau_m) + size
        self.at = time
        return self.v >= self.theta


def run(layers, cue, pulses, dead, tau, tau_m):
    """Return which neurons of each layer fire at their pulses.

    Each layer is (weights, offsets, state of silent inputs), with plain lists. `cue` has the spike
    times of the visible neurons, a list for each pattern, with None for no spike; `pulses[k][r][i]`
    is the time of the r-th pulse of neuron i of layer k; `dead[k]` is a set.
    """
    lag = tau / len(layers) / 2
    gain = math.exp(lag / tau_m)
    neurons, lifts, jumps = [], [], []
    for weights, offsets, silent in layers:
        J = [[(2 if silent == -1 else 1) * w * gain for w in row] for row in weights]
        c = [o - (sum(row) if silent == -1 else 0) for row, o in zip(weights, offsets, strict=True)]
        theta = [sum(map(abs, row)) + gain * abs(b) + 1 for row, b in zip(J, c, strict=True)]
        neurons.append([Neuron(tau_m, t) for t in theta])
        lifts.append([t + b for t, b in zip(theta, c, strict=True)])
        jumps.append(J)
    n_visible, order = len(cue[0]), len(cue)
    events = [
        (time, PULSE, k, r, i)
        for k, rows in enumerate(pulses)
        for r, row in enumerate(rows)
        for i, time in enumerate(row)
    ]

    def send(time, layer, sender):
        """Let a spike set off for the layer above; of visible neurons also to where it arrives
        windows later.
        """
        to = (layer + 1) % len(layers)
        for m in range(order if to == 0 else 1):
            place = (order - 1 - m) * n_visible + sender if to == 0 else sender
            heapq.heappush(events, (time + lag + m * tau, ARRIVAL, to, place, 0))

    heapq.heapify(events)
    # A pattern that was shown long ago takes the long way alone.
    for r, row in enumerate(cue):
        for j, time in enumerate(row):
            if time is not None and j not in dead[-1]:
                for m in range(order - 1 - r, order):
                    place = (order - 1 - m) * n_visible + j
                    heapq.heappush(events, (time + lag + m * tau, ARRIVAL, 0, place, 0))
    fired = [[[False] * len(row) for row in rows] for rows in pulses]
    while events:
        time, kind, k, r, i = heapq.heappop(events)
        if kind == ARRIVAL:
            for neuron, row in zip(neurons[k], jumps[k], strict=True):
                assert not neuron.jump(time, row[r]), "a neuron fires without a pulse"
        else:
            neuron = neurons[k][i]
            fires = neuron.jump(time, lifts[k][i]) and i not in dead[k]
            neuron.v = 0.0
            if fires:
                fired[k][r][i] = True
                send(time, k, i)
    return fired
