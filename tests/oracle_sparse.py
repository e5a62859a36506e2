"""The sparse rule written index by index, as it is described. It imports nothing of the package.

Weights are lists of lists of whole numbers, so every sum is exact.
"""

import math


def flip_some(x, most, order, rng):
    x = list(x)
    if most == 0:
        return x
    for j in range(int(rng.integers(0, most + 1))):
        other = int(rng.integers(j, len(x)))
        order[j], order[other] = order[other], order[j]
        x[order[j]] = -x[order[j]]
    return x


def choose(score, k, winners):
    if not winners:
        return [1 if w >= 0 else 0 for w in score]
    ranked = sorted(range(len(score)), key=lambda i: (-score[i], i))
    return [1 if i in ranked[:k] else 0 for i in range(len(score))]


def dot(a, b):
    return sum(p * q for p, q in zip(a, b, strict=True))


def possible(w, low, high, spacing, chance):
    """What a synapse may be: a level, by chance one of the two nearest, and within its bounds."""
    if spacing:
        below = math.floor(w / spacing)
        w = int((below + (chance.random(dtype="float32") < w / spacing - below)) * spacing)
    return int(min(max(w, low), high))


def learn(pairs, fixed_drive, U, V, Q, P, theta, s, epochs, rng, obey=None, chance_of=None):
    """All epochs; `s` holds the settings by name, `epochs` what happens in each, by name. Changes
    its lists. `obey` holds what synapses of U, and of V transposed, obey: low, high, spacing, left;
    `chance_of` makes two generators for an epoch.
    """
    M, N = len(U), len(V)
    z_of, wrong_of, redrawn, raised = (
        [[0] * M for _ in pairs],
        [0.0] * len(pairs),
        [False] * len(pairs),
        [0] * M,
    )
    errors, wanted, at_most = [], True, math.inf
    (of_U, of_V), run = obey or (None, None), 0
    for now in epochs:
        clean_and_fixed = not (now["noise"] or now["choosing"] or now["redraw_above"] < math.inf)
        V_alone, U_alone = (
            clean_and_fixed and not now["hidden_step"],
            clean_and_fixed and not now["visible_step"],
        )
        if now["at_most"] != at_most:
            at_most, wrong_ones = now["at_most"], sum(1 for wrong in wrong_of if wrong != 0)
            few = wrong_ones <= max(8, at_most * len(pairs))
            wanted = at_most == math.inf or (few and (wrong_ones > 0 or V_alone))
        if not wanted or (at_most < math.inf and errors and errors[-1] == (0, 0)):
            continue
        mu_sum = nu_sum = 0
        run += 1
        chance = chance_of(run) if obey else None
        erred = [False] * M
        order = list(range(len(pairs[0][0])))
        for t, (clean, x_next) in enumerate(pairs):
            x = [*flip_some(clean, now["noise"], order, rng), s["bias"]]
            drive = fixed_drive[t]
            if s["learn_drive"]:
                drive = [
                    dot(P[i], clean) * (1 / math.sqrt(max(dot(P[i], P[i]), 1))) for i in range(M)
                ]
            if now["choosing"] and not redrawn[t]:
                score = [
                    (drive[i] - theta[i]) + s["learned_feedback"] * dot(Q[i], x_next)
                    for i in range(M)
                ]
                z_of[t] = choose(score, s["n_winners"], s["winners"])
            if wrong_of[t] > now["redraw_above"]:
                score = [
                    (drive[i] - theta[i]) + s["redraw"] * rng.standard_normal() for i in range(M)
                ]
                z_of[t] = choose(score, s["n_winners"], s["winners"])
                redrawn[t], wrong_of[t] = True, 0.0
            z = z_of[t]
            fields = [dot(row, x) for row in U]
            if obey and of_U["left"] < 1 and now["hidden_step"]:
                for row in U:
                    row[:-1] = [round(w * of_U["left"]) for w in row[:-1]]
            if now["choosing"]:
                for i in range(M):
                    theta[i] += now["homeostasis"] * (z[i] - s["n_winners"] / M)
                    if z[i] and s["learn_drive"]:
                        P[i] = [
                            p + now["drive_step"] * (4096 * c - p) // 65536
                            for p, c in zip(P[i], clean, strict=True)
                        ]
            for i in range(M):
                h = fields[i]
                if not now["hidden_step"]:
                    continue
                change = 0
                tenths = 10 + raised[i] if U_alone else 10
                if z[i] and h <= s["active_margin"] * tenths // 10:
                    change = now["hidden_step"] * s["active_weight"]
                elif not z[i] and h >= -(s["margin"] * tenths // 10):
                    change = -now["hidden_step"]
                mu_sum += change != 0
                erred[i] |= change != 0
                for k in range(len(x)):
                    U[i][k] += change * x[k]
                if obey and (change or of_U["left"] < 1):
                    bounds = zip(U[i][:-1], of_U["low"][i], of_U["high"][i], strict=True)
                    U[i][:-1] = [possible(*w, of_U["spacing"], chance[0]) for w in bounds]
            if not now["visible_step"]:
                continue
            y = [1 if dot(U[i], x) >= 0 else 0 for i in range(M)]
            wrong, before = 0, nu_sum
            g_of = [dot(row, y) for row in V]
            if obey and of_V["left"] < 1:
                for row in V:
                    row[:] = [round(w * of_V["left"]) for w in row]
            for j in range(N):
                g = g_of[j]
                wrong += (1 if g >= 0 else -1) != x_next[j]
                if x_next[j] * g <= s["visible_margin"]:
                    nu_sum += 1
                    for i in range(M):
                        V[j][i] += now["visible_step"] * x_next[j] * y[i]
                        Q[i][j] += now["visible_step"] * x_next[j] * y[i]
            for i in range(M if obey else 0):
                if of_V["left"] < 1 or (y[i] and nu_sum > before):
                    for j in range(N):
                        bounds = of_V["low"][i][j], of_V["high"][i][j]
                        V[j][i] = possible(V[j][i], *bounds, of_V["spacing"], chance[1])
                for j in range(N):
                    Q[i][j] = V[j][i]
            wrong_of[t] = wrong if V_alone else wrong_of[t] + (wrong - wrong_of[t]) / 16
        if U_alone and now["hidden_step"]:
            raised = [often + (not err) for often, err in zip(raised, erred, strict=True)]
        errors.append((mu_sum, nu_sum))
    return errors
