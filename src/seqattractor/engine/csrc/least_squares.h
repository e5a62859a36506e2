/* Recursive least squares inside a running rate network (zoo/pinned.py has the equations). */
#include "bits.h"

/* Set k to P r over the first m inputs, let P (stride, stride) learn of them, and return c = 1 / (1 + r . k). */
static double KERNEL(follow)(double *restrict P, int64_t stride, const double *restrict r, double *restrict k, int64_t m)
{
    double total = 1;
    memset(k, 0, (size_t)m * sizeof *k);
    for (int64_t a = 0; a < m; a++) /* P is symmetric: its rows, added up, are P r */
        for (int64_t b = 0; b < m; b++)
            k[b] += P[a * stride + b] * r[a];
    for (int64_t a = 0; a < m; a++)
        total += r[a] * k[a];
    double c = 1 / total;
    for (int64_t a = 0; a < m; a++)
        for (int64_t b = 0; b < m; b++)
            P[a * stride + b] -= c * k[a] * k[b];
    return c;
}

/* Run a sparse network of tanh neurons, tau dx/dt = -x + W r + drive, and train it on the way; writes r of every step into rates.
 *
 * A neuron has `counts` (n) incoming connections with weights (n, K) from sources (n, K). The first ones are plastic: each has a P
 * (plastic, K, K), and learns at every `every`-th of the first `taught` steps to have the wanted rates (taught, n). */
EXPORT int64_t KERNEL(run_innate)(int64_t n, int64_t K, int64_t steps, int64_t taught, int64_t plastic, int64_t size,
                                  double *weights, const int64_t *sources, const int64_t *counts, const double *drive,
                                  const double *wanted, double *P, double *x, double *rates, int64_t every, double tau, double *r,
                                  double *inputs, double *k)
{
    (void)size;
    for (int64_t i = 0; i < n; i++)
        r[i] = tanh(x[i]);
    for (int64_t t = 0; t < steps; t++) {
        for (int64_t i = 0; i < n; i++) {
            double field = drive[t * n + i];
            for (int64_t a = 0; a < counts[i]; a++)
                field += weights[i * K + a] * r[sources[i * K + a]];
            x[i] += (field - x[i]) / tau;
        }
        for (int64_t i = 0; i < n; i++)
            r[i] = rates[t * n + i] = tanh(x[i]);
        if (t >= taught || t % every)
            continue;
        for (int64_t i = 0; i < plastic; i++) {
            for (int64_t a = 0; a < counts[i]; a++)
                inputs[a] = r[sources[i * K + a]];
            double c = KERNEL(follow)(P + i * K * K, K, inputs, k, counts[i]);
            for (int64_t a = 0; a < counts[i]; a++)
                weights[i * K + a] -= c * (r[i] - wanted[t * n + i]) * k[a];
        }
    }
    return 0;
}

/* Run a network of sigmoid units, tau dx/dt = -x + J r + drive, and train the columns `plastic` of J (N, N) on the way; writes x
 * of every step into states. One P (m, m) serves all units, which learn in the first `taught` steps to have the wanted inputs J r
 * (taught, N). */
EXPORT int64_t KERNEL(run_pinning)(int64_t N, int64_t m, int64_t steps, int64_t taught, double *J, const int64_t *plastic,
                                   const double *drive, const double *wanted, double *P, double *x, double *states, double tau,
                                   double *r, double *field, double *inputs, double *k)
{
    for (int64_t t = -1; t < steps; t++) { /* the first field is that of the state at the start */
        for (int64_t i = 0; i < N && t >= 0; i++) {
            x[i] += (field[i] + drive[t * N + i] - x[i]) / tau;
            states[t * N + i] = x[i];
        }
        for (int64_t i = 0; i < N; i++)
            r[i] = 1 / (1 + exp(-x[i]));
        for (int64_t i = 0; i < N; i++)
            field[i] = dot(J + i * N, r, N);
        if (t < 0 || t >= taught)
            continue;
        for (int64_t a = 0; a < m; a++)
            inputs[a] = r[plastic[a]];
        double c = KERNEL(follow)(P, m, inputs, k, m);
        for (int64_t i = 0; i < N; i++) {
            double error = c * (field[i] - wanted[t * N + i]);
            for (int64_t a = 0; a < m; a++)
                J[i * N + plastic[a]] -= error * k[a];
            field[i] += error * (1 - 1 / c); /* the field after this update; r . k is 1 / c - 1 */
        }
    }
    return 0;
}
