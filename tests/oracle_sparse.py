"""The sparse rule written index by index, as its description says it. It imports nothing of the package.

Weights are lists of lists of whole numbers, so every sum is exact.
"""


def flip_some(x, most, order, rng):
    x = list(x)
    if most == 0:
        return x
    for j in range(int(rng.integers(0, most + 1))):
        other = int(rng.integers(j, len(x)))
        order[j], order[other] = order[other], order[j]
        x[order[j]] = -x[order[j]]
    return x


def choose(wish, k, winners):
    if not winners:
        return [1 if w >= 0 else 0 for w in wish]
    ranked = sorted(range(len(wish)), key=lambda i: (-wish[i], i))
    return [1 if i in ranked[:k] else 0 for i in range(len(wish))]


def learn(pairs, drive, U, V, theta, average, s, steps, rng):
    """All epochs; `s` holds the settings by name, `steps` a (hidden, visible) step for each epoch. Changes its lists."""
    M, N = len(U), len(V)
    z_of, wrong_of, kept = [[0] * M for _ in pairs], [0.0] * len(pairs), [False] * len(pairs)
    errors = []
    for epoch, (hidden_step, visible_step) in enumerate(steps):
        mu_sum = nu_sum = 0
        order = list(range(len(pairs[0][0])))
        for t, (clean, x_next) in enumerate(pairs):
            x = [*flip_some(clean, s["noise"], order, rng), s["bias"]]
            h = [sum(U[i][k] * x[k] for k in range(len(x))) for i in range(M)]
            if epoch < s["target_epochs"]:
                above = [h[i] / s["margin"] - average[i] for i in range(M)]
                wish = [(drive[t][i] - theta[i]) + s["feedback"] * above[i] for i in range(M)]
                for i in range(M):
                    average[i] += 2.0**-5 * above[i]
                if not kept[t]:
                    z_of[t] = choose(wish, s["n_winners"], s["winners"])
            if s["homeostasis_epochs"] <= epoch < s["redraw_epochs"] and wrong_of[t] > s["redraw_tolerance"] * N:
                wish = [(drive[t][i] - theta[i]) + s["redraw"] * rng.standard_normal() for i in range(M)]
                z_of[t] = choose(wish, s["n_winners"], s["winners"])
                kept[t], wrong_of[t] = True, 0.0
            z = z_of[t]
            if epoch < s["homeostasis_epochs"]:
                for i in range(M):
                    fading = s["homeostasis"] * (1.0 - epoch / s["homeostasis_epochs"])
                    theta[i] += fading * (z[i] - s["n_winners"] / M)
            for i in range(M):
                if z[i] and h[i] <= s["active_margin"]:
                    change = hidden_step * s["active_weight"]
                elif not z[i] and h[i] >= -s["margin"]:
                    change = -hidden_step
                else:
                    continue
                mu_sum += 1
                for k in range(len(x)):
                    U[i][k] += change * x[k]
            y = [1 if sum(U[i][k] * x[k] for k in range(len(x))) >= 0 else 0 for i in range(M)]
            wrong = 0
            for j in range(N):
                g = sum(V[j][i] * y[i] for i in range(M))
                wrong += (1 if g >= 0 else -1) != x_next[j]
                if x_next[j] * g <= s["visible_margin"]:
                    nu_sum += 1
                    for i in range(M):
                        V[j][i] += visible_step * x_next[j] * y[i]
            wrong_of[t] += (wrong - wrong_of[t]) / 16
        errors.append((mu_sum, nu_sum))
    return errors
