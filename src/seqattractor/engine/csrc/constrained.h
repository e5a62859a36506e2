/* The paper's rule under constraints on synapses, exactly what engine/own_learning.py does: neurons learn on their weights, transition by
 * transition. Weights are in steps of eta, on a grid on which every sum is exact in double and in any order (engine/grid.py). What is
 * fixed of each synapse is in two arrays: the lowest and the highest value that it may have. Both are 0 where it does not exist.
 */
#include "bits.h"

#define GRID 16777216.0 /* numbers of it in a step of eta */

/* Bring n synapses of a neuron to what is possible; between two levels chance decides. */
static void KERNEL(constrain)(double *restrict w, const double *restrict low, const double *restrict high, int64_t n, double spacing,
                              const Generator *rng)
{
    for (int64_t j = 0; j < n && spacing > 0; j++) {
        double level = w[j] / spacing, below = floor(level);
        w[j] = (below + (draw_real(rng) < level - below)) * spacing;
    }
    for (int64_t j = 0; j < n; j++) {
        double at_least = w[j] > low[j] ? w[j] : low[j];
        w[j] = at_least < high[j] ? at_least : high[j];
    }
}

/* Let neurons with weights (m, N) learn some transitions once, eqs. (5)-(7), or (8)-(9); x (n, N) are the inputs. The first `synapses`
 * of each neuron's weights keep the fraction `left` of themselves at every transition, and obey constraints. Adds to updates (m) how
 * many each neuron has made; those that are settled make none, and their codes are their targets (n, m). Writes codes (n, m), if there
 * are any.
 *
 * Neurons are independent, so that each learns all transitions while its weights are at hand; but chance is drawn transition by
 * transition. */
EXPORT int64_t KERNEL(learn_constrained)(int64_t m, int64_t N, int64_t synapses, int64_t n, int64_t coded, double *weights,
                                         const double *low, const double *high, const uint8_t *settled, int64_t *updates,
                                         const double *x, const int8_t *targets, int8_t *codes, const Generator *rng, double spacing,
                                         double left, double kappa, double theta)
{
    int64_t together = spacing > 0 ? m : 1;
    for (int64_t first = 0; first < m; first += together)
        for (int64_t t = 0; t < n; t++)
            for (int64_t i = first; i < first + together; i++) {
                double *restrict w = weights + i * N, z = targets[t * m + i];
                const double *restrict input = x + t * N;
                if (settled[i]) {
                    if (coded)
                        codes[t * m + i] = targets[t * m + i];
                    continue;
                }
                double h = dot(w, input, N) - theta;
                int learns = z * h <= kappa; /* eqs. (5), (8) */
                for (int64_t j = 0; j < synapses && left < 1; j++)
                    w[j] = rint(w[j] * left * GRID) / GRID;
                for (int64_t j = 0; j < N && learns; j++)
                    w[j] += z * input[j]; /* eqs. (6), (9) */
                if (learns || left < 1) {
                    KERNEL(constrain)(w, low + i * synapses, high + i * synapses, synapses, spacing, rng);
                    h = coded ? dot(w, input, N) - theta : h;
                }
                updates[i] += learns;
                if (coded)
                    codes[t * m + i] = h >= 0 ? 1 : -1; /* eq. (7) */
            }
    return 0;
}
