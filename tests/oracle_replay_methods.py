"""Rank order, decoding and likelihood of one event in plain loops, without the package."""

from math import exp, log, sqrt


def ranks(values):
    """Ranks from 1, the average of the ranks of tied values."""
    found = []
    for value in values:
        below = sum(other < value - 1e-9 for other in values)
        equal = sum(abs(other - value) <= 1e-9 for other in values)
        found.append(below + (equal + 1) / 2)
    return found


def pearson(x, y):
    """The correlation of two lists, 0 where one is constant."""
    mean_x, mean_y = sum(x) / len(x), sum(y) / len(y)
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    xx = sum((a - mean_x) ** 2 for a in x)
    yy = sum((b - mean_y) ** 2 for b in y)
    return xy / sqrt(xx * yy) if xx * yy > 0 else 0.0


def rank_score(event, places, first):
    """The absolute Spearman correlation of spike times with places; None for fewer than 4 cells."""
    times, where = [], []
    for cell in range(len(event[0])):
        spikes = [t for t, row in enumerate(event) for _ in range(int(row[cell]))]
        if spikes and places[cell] == places[cell]:
            times.append(spikes[0] if first else sum(spikes) / len(spikes))
            where.append(places[cell])
    return abs(pearson(ranks(times), ranks(where))) if len(times) >= 4 else None


def posterior(counts, rates, seconds):
    """The probability of each map and place given one bin, rates[map][place][cell]."""
    weights = []
    for of_map in rates:
        weights.append([])
        for of_place in of_map:
            total = 0.0
            for n, rate in zip(counts, of_place, strict=True):
                mean = max(rate, 0.1) * seconds
                total += n * log(mean) - mean
            weights[-1].append(total)
    top = max(max(each) for each in weights)
    norm = sum(exp(w - top) for each in weights for w in each)
    return [[exp(w - top) / norm for w in each] for each in weights]


def line_score(event, rates, seconds, reach):
    """The best sum along any line of the probability within reach, over bins with spikes."""
    at = [t for t, row in enumerate(event) if any(row)]
    decoded = [posterior(event[t], rates, seconds) for t in at]
    P, best = len(rates[0]), 0.0
    ends = [k * (P - 1) / (min(P, 25) - 1) for k in range(min(P, 25))]
    for m in range(len(rates)):
        for begin in ends:
            for end in ends:
                if begin == end:
                    continue
                total = 0.0
                for t, of_bin in zip(at, decoded, strict=True):
                    x = round(begin + (t - at[0]) / (at[-1] - at[0]) * (end - begin))
                    total += sum(p for place, p in enumerate(of_bin[m]) if abs(place - x) <= reach)
                best = max(best, total)
    return best


def log_likelihood(event, means, matrix):
    """Of a Poisson hidden Markov model, without factorials, which no order of bins changes."""
    K = len(means)
    state, total = [1 / K] * K, 0.0
    for t, row in enumerate(event):
        if t:
            state = [sum(state[i] * matrix[i][j] for i in range(K)) for j in range(K)]
        for j in range(K):
            state[j] *= exp(
                sum(n * log(mean) - mean for n, mean in zip(row, means[j], strict=True))
            )
        norm = sum(state)
        total += log(norm)
        state = [s / norm for s in state]
    return total
