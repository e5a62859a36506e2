/* The paper's rule under constraints on synapses, exactly what engine/own_learning.py does: neurons learn on their weights, transition by
 * transition. Weights are in steps of eta, on a grid on which every sum is exact in double and in any order (engine/grid.py). What is
 * fixed of each synapse is in two arrays: the lowest and the highest value that it may have. Both are 0 where it does not exist.
 */
#include "bits.h"

#define GRID 16777216.0 /* numbers of it in a step of eta */
typedef uint64_t Unsigned __attribute__((vector_size(64), aligned(8)));

#define DRAWN 64        /* random numbers at a time */

/* All bits where a number has the sign -: a difference, whose comparison some compilers would do one by one. */
#define negative(a) (-(Side)((Unsigned)(a) >> 63))

/* Move n synapses of a neuron to one of the two nearest levels, by chance, which no branch could foresee. */
static void KERNEL(choose_levels)(double *w, int64_t n, double spacing, const Generator *rng)
{
    const Eight one = (Eight){0} + 1;
    double drawn[DRAWN] = {0};
    for (int64_t first = 0; first < n; first += DRAWN) {
        int64_t some = least(DRAWN, n - first);
        for (int64_t j = 0; j < some; j++)
            drawn[j] = (double)draw_real(rng);
        for (int64_t j = 0; j < some; j += 8) {
            Eight chance = *(const Eight *)(drawn + j), level, below;
            load_eight(&level, w + first + j, some - j);
            level /= spacing;
            below = (level + ROUND) - ROUND; /* the nearest whole number, */
            below -= (Eight)((Side)one & negative(level - below)); /* then the one below, as floor has it */
            level = (below + (Eight)((Side)one & negative(chance - (level - below)))) * spacing;
            store_eight(w + first + j, &level, some - j);
        }
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
                const double *restrict input = x + t * N, *least_of = low + i * synapses, *most_of = high + i * synapses;
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
                    if (spacing > 0)
                        KERNEL(choose_levels)(w, synapses, spacing, rng);
                    for (int64_t j = 0; j < synapses; j++) {
                        double at_least = w[j] > least_of[j] ? w[j] : least_of[j];
                        w[j] = at_least < most_of[j] ? at_least : most_of[j];
                    }
                    h = coded ? dot(w, input, N) - theta : h;
                }
                updates[i] += learns;
                if (coded)
                    codes[t * m + i] = h >= 0 ? 1 : -1; /* eq. (7) */
            }
    return 0;
}
