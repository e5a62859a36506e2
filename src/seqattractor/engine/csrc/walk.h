/* A single state on its way through a hidden and a visible layer, one step after another (firing.py). */
#include "lanes.h"

#define UNDECIDED (-1)
#define ROWS_AT_ONCE 4 /* so that sums are loaded and stored less often */

/* A layer of threshold neurons by the sums over its active inputs, which are whole numbers of at most 30 bits. */
typedef struct {
    const int32_t *W;       /* (inputs, padded): weights; neurons are padded to a multiple of LANES */
    const int32_t *surely;  /* (padded): from this sum on a neuron fires */
    const int32_t *perhaps; /* (padded): below this sum it does not; between them, float64 has to decide */
} KERNEL(Layer);

/* List the first `neurons` that fire if the inputs on[:number] do; returns how many do, or UNDECIDED. */
static int64_t KERNEL(fire)(const KERNEL(Layer) *of, int64_t padded, int64_t neurons, const int64_t *on, int64_t number,
                            int32_t *restrict sums, int64_t *restrict fires)
{
    int64_t k = 0, fired = 0;
    int undecided = 0;
    memset(sums, 0, (size_t)padded * sizeof *sums);
    for (; k + ROWS_AT_ONCE <= number; k += ROWS_AT_ONCE) {
        const int32_t *a = of->W + on[k] * padded, *b = of->W + on[k + 1] * padded, *c = of->W + on[k + 2] * padded,
                      *d = of->W + on[k + 3] * padded;
        for (int64_t j = 0; j < padded; j++)
            sums[j] += a[j] + b[j] + c[j] + d[j];
    }
    for (; k < number; k++)
        for (int64_t j = 0; j < padded; j++)
            sums[j] += of->W[on[k] * padded + j];
    for (int64_t j = 0; j < padded; j++)
        undecided |= (sums[j] >= of->perhaps[j]) != (sums[j] >= of->surely[j]);
    if (undecided)
        return UNDECIDED;
    for (int64_t j = 0; j < neurons; j++) {
        fires[fired] = j;
        fired += sums[j] >= of->surely[j];
    }
    return fired;
}

/* Let a state (N) of -1 and 1 go on, and write the states that follow into path (steps, N), eqs. (2) and (3). Returns the number
 * of steps before one that is not decided. */
EXPORT int64_t KERNEL(walk)(int64_t N, int64_t padded_M, int64_t M, int64_t padded_N, int64_t steps, const KERNEL(Layer) *hidden,
                            const KERNEL(Layer) *visible, const int8_t *state, int8_t *path, int32_t *sums, int64_t *xi,
                            int64_t *zeta)
{
    int64_t active = 0;
    for (int64_t k = 0; k < N; k++) {
        xi[active] = k;
        active += state[k] > 0;
    }
    for (int64_t step = 0; step < steps; step++) {
        int64_t firing = KERNEL(fire)(hidden, padded_M, M, xi, active, sums, zeta);
        if (firing == UNDECIDED)
            return step;
        active = KERNEL(fire)(visible, padded_N, N, zeta, firing, sums, xi);
        if (active == UNDECIDED)
            return step;
        memset(path + step * N, -1, (size_t)N);
        for (int64_t k = 0; k < active; k++)
            path[step * N + xi[k]] = 1;
    }
    return steps;
}
