"""The statistic of replay in plain loops; it imports nothing of the package."""

from math import sqrt

LAGS = 8  # how many bins apart two bins may be of which one predicts the other


def correlation(x, y):
    """Pearson's correlation of two binary patterns; 0 if one of them is constant."""
    n = len(x)
    if not n:
        return 0.0
    mean_x, mean_y = sum(x) / n, sum(y) / n
    xy = sum((a - mean_x) * (b - mean_y) for a, b in zip(x, y, strict=True))
    xx = sum((a - mean_x) ** 2 for a in x)
    yy = sum((b - mean_y) ** 2 for b in y)
    return xy / sqrt(xx * yy) if xx > 1e-12 and yy > 1e-12 else 0.0


def runs(step, state, steps):
    """The states after 1, 2, ... steps from a state."""
    found = []
    for _ in range(steps):
        state = step(state)
        found.append(state)
    return found


def fits(ahead, bins, times, orders, max_speed):
    """For each order of bins, the mean correlation for speeds forward, then reverse.

    The bins stand at `times`; an order says which bin comes when, and `ahead` has what each memory
    recalls from each of them. Only cells count that are off in the bin that predicts.
    """
    known = {}

    def fit(source, after, target):
        place = source, after, target
        if place not in known:
            off = [cell for cell, on in enumerate(bins[source]) if not on]
            each = []
            for of_memory in ahead:
                predicted = of_memory[source][after - 1]
                each.append(
                    correlation([predicted[c] for c in off], [bins[target][c] for c in off])
                )
            known[place] = sum(each) / len(each)
        return known[place]

    found = []
    for order in orders:
        row = []
        for reverse in (False, True):
            for speed in range(1, max_speed + 1):
                each = []
                for i in range(len(times)):
                    for j in range(i + 1, len(times)):
                        lag = times[j] - times[i]
                        if lag <= LAGS:
                            source, target = (j, i) if reverse else (i, j)
                            each.append(fit(order[source], speed * lag, order[target]))
                row.append(sum(each) / len(each))
        found.append(row)
    return found


def standardised(values):
    """Numbers in standard deviations from their mean; 0 if they are all the same."""
    mean = sum(values) / len(values)
    sd = sqrt(sum((value - mean) ** 2 for value in values) / len(values))
    return [(value - mean) / sd if sd > 1e-12 else 0.0 for value in values]


def best_fits(all_fits):
    """The best fit of each order, each speed in standard deviations over the orders."""
    columns = [standardised(column) for column in zip(*all_fits, strict=True)]
    return [max(row) for row in zip(*columns, strict=True)]


def scores(all_fits):
    """The score of each order: its best fit, in standard deviations over those of the orders."""
    return standardised(best_fits(all_fits))


def p_value(own, others):
    """The fraction of scores that are as high, the event's own among them."""
    return (1 + sum(other >= own - 1e-9 for other in others)) / (1 + len(others))


def benjamini_hochberg(p):
    """Adjusted p values: the least rate of false discoveries at which each is found."""
    n = len(p)
    return [min(1.0, min(q * n / sum(r <= q for r in p) for q in p if q >= own)) for own in p]
