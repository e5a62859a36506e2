"""Networks in continuous time written index by index, in plain floats. It imports nothing of the
package.

All are integrated by Euler's method: `steps` steps of `dt` each.
"""

import math


def dot(a, b):
    return sum(x * y for x, y in zip(a, b, strict=True))


def distinct(pairs):
    """Every pattern once, in the order in which it is met: x, then its successor y, of one pair
    after the other.
    """
    patterns = []
    for pair in pairs:
        for x in pair:
            if list(x) not in patterns:
                patterns.append(list(x))
    return patterns


# -- Gillett, Pereira & Brunel
# ------------------------------------------------------------------------------------


def step_function(x, q):
    """What the nonlinear rule sees of one unit."""
    return q if x >= 0 else -(1 - q)


def rate_weights(pairs, A, K, connected, q_f=None, q_g=None):
    """J_ij = (A/K) c_ij sum f(y_i) g(x_j); without q_f and q_g, f and g do nothing."""
    N = len(pairs[0][0])
    f = (lambda x: x) if q_f is None else (lambda x: step_function(x, q_f))
    g = (lambda x: x) if q_g is None else (lambda x: step_function(x, q_g))
    return [
        [A / K * connected[i][j] * sum(f(y[i]) * g(x[j]) for x, y in pairs) for j in range(N)]
        for i in range(N)
    ]


def phi(x, theta, sigma):
    return (1 + math.erf((x - theta) / (math.sqrt(2) * sigma))) / 2


def rates(J, r, theta, sigma, tau, dt, steps):
    """tau dr_i/dt = -r_i + phi(sum_j J_ij r_j)."""
    for _ in range(steps):
        r = [r[i] + dt / tau * (phi(dot(J[i], r), theta, sigma) - r[i]) for i in range(len(r))]
    return r


def correlations(patterns, r):
    """Of the rates with each pattern, up to the spread of the rates; 0 with a pattern of equal
    entries.
    """
    found = []
    for x in patterns:
        mean = sum(x) / len(x)
        spread = math.sqrt(sum((v - mean) ** 2 for v in x))
        found.append(
            sum((v - mean) * a for v, a in zip(x, r, strict=True)) / spread if spread else 0.0
        )
    return found


def most_alike(patterns, r):
    """The pattern with the largest correlation as (sign, by how much it outdoes those with the
    other sign) of each unit.
    """
    found = correlations(patterns, r)
    best = found.index(max(found))
    answer = []
    for i, sign in enumerate(patterns[best]):
        others = [c for c, x in zip(found, patterns, strict=True) if x[i] != sign]
        answer.append((sign, found[best] - max(others) if others else 1.0))
    return answer


# -- features and a delayed signal
# --------------------------------------------------------------------------------


def preceding(pairs, patterns):
    """The places of the patterns that precede each one."""
    return [sorted({patterns.index(list(x)) for x, y in pairs if list(y) == xi}) for xi in patterns]


def softmax(h):
    top = max(h)
    e = [math.exp(v - top) for v in h]
    return [v / sum(e) for v in e]


def eden(pairs, v, s, a_s, a_c, beta, T_f, T_d, dt, steps):
    """h_mu = a_s xi^mu . v + a_c sum xi^nu . s over nu -> mu; T_f dv/dt = Xi softmax(beta h / N) -
    v; T_d ds/dt = v - s.
    """
    patterns = distinct(pairs)
    before, N = preceding(pairs, patterns), len(v)
    for _ in range(steps):
        h = [
            a_s * dot(xi, v) + a_c * sum(dot(patterns[nu], s) for nu in before[mu])
            for mu, xi in enumerate(patterns)
        ]
        p = softmax([beta / N * a for a in h])
        drive = [sum(p[mu] * patterns[mu][i] for mu in range(len(patterns))) for i in range(N)]
        v, s = (
            [v[i] + dt / T_f * (drive[i] - v[i]) for i in range(N)],
            [s[i] + dt / T_d * (v[i] - s[i]) for i in range(N)],
        )
    return v, s


def gsemm(pairs, kind, v, d, a_s, a_c, b_d, gain, T_f, T_d, dt, steps):
    """V_h = sqrt(a_s) Xi^T s_f + a_c Phi^T Xi^T V_d; T_f dV_f/dt = sqrt(a_s) Xi s_h - V_f; T_d
    dV_d/dt = b_d s_f - V_d.
    """
    N, xi = len(v), memories(pairs, kind)
    for _ in range(steps):
        s_f = features(v, kind, gain)
        h = hidden(pairs, kind, s_f, d, a_s, a_c)
        s_h = softmax([gain * a for a in h]) if kind == "dense" else h
        drive = [
            math.sqrt(a_s) * sum(xi[mu][i] * s_h[mu] for mu in range(len(xi))) for i in range(N)
        ]
        v, d = (
            [v[i] + dt / T_f * (drive[i] - v[i]) for i in range(N)],
            [d[i] + dt / T_d * (b_d * s_f[i] - d[i]) for i in range(N)],
        )
    return v, d


def memories(pairs, kind):
    """The columns of Xi: the patterns, in the linear member divided by sqrt(N)."""
    patterns = distinct(pairs)
    scale = 1 if kind == "dense" else 1 / math.sqrt(len(patterns[0]))
    return [[scale * a for a in x] for x in patterns]


def features(v, kind, gain):
    """s_f: the identity in the dense member, tanh in the linear one."""
    return list(v) if kind == "dense" else [math.tanh(gain * a) for a in v]


def hidden(pairs, kind, s_f, d, a_s, a_c):
    """V_h in equilibrium."""
    xi, before = memories(pairs, kind), preceding(pairs, distinct(pairs))
    return [
        math.sqrt(a_s) * dot(xi[m], s_f) + a_c * sum(dot(xi[n], d) for n in before[m])
        for m in range(len(xi))
    ]


def gsemm_energy(pairs, kind, v, d, a_s, a_c, gain):
    """All four terms: [V_f.s_f - L_f] + [V_h.s_h - L_h] - sqrt(a_s) s_f^T Xi s_h - a_c V_d^T Xi Phi
    s_h.
    """
    xi, before = memories(pairs, kind), preceding(pairs, distinct(pairs))
    s_f = features(v, kind, gain)
    h = hidden(pairs, kind, s_f, d, a_s, a_c)
    if kind == "dense":
        s_h, L_f = softmax([gain * a for a in h]), dot(v, v) / 2
        L_h = max(h) + math.log(sum(math.exp(gain * (a - max(h))) for a in h)) / gain
    else:
        s_h, L_f, L_h = h, sum(math.log(math.cosh(gain * a)) for a in v) / gain, dot(h, h) / 2
    holding = math.sqrt(a_s) * sum(s_h[m] * dot(xi[m], s_f) for m in range(len(xi)))
    calling = a_c * sum(s_h[m] * dot(xi[n], d) for m in range(len(xi)) for n in before[m])
    return dot(v, s_f) - L_f + dot(h, s_h) - L_h - holding - calling
