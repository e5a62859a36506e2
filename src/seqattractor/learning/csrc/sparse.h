/* What kernels of the sparse rule (sparse_learn.h) share whatever their type of numbers, and the draw of noise.
 *
 * Rows that are gone through in blocks are padded with zeros: `padded` numbers are looked at, and rows lie `row_of` numbers apart,
 * half a block more, since numbers of a column would else fall into the same few places of the cache.
 */
#include "bits.h"

#ifndef SEQATTRACTOR_SPARSE_H
#define SEQATTRACTOR_SPARSE_H

#define PROTOTYPE 4096           /* these three as in rule.py */
#define STEP_BITS 16
#define WRONG_AVERAGING 0.0625
#define BLOCK 64         /* numbers whose comparisons fill a word of bits */
#define PRESENTATIONS 64 /* in a window: see sparse_learn.h */
#define TILE 8           /* side of a square of numbers that is transposed in registers */

/* SparseSettings and Epoch of rule.py. */
typedef struct {
    int64_t n_winners, winners, bias, active_weight, visible_margin;
    double learned_feedback, redraw;
    int64_t hidden_step, visible_step, choosing, drive_step;
    double homeostasis, redraw_above;
} SparseRule;

/* A generator of random numbers, as numpy lays it out (numpy/random/bitgen.h). */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
} Generator;

INLINE int64_t words_of(int64_t count) { return (count + BLOCK - 1) / BLOCK; }
INLINE int64_t padded(int64_t count) { return words_of(count) * BLOCK; }
INLINE int64_t row_of(int64_t count) { return padded(count) + BLOCK / 2; }

/* The bits of the numbers that a block has, where so many are left. */
INLINE uint64_t inside(int64_t left) { return left < BLOCK ? ((uint64_t)1 << left) - 1 : ~(uint64_t)0; }

/* List the bits that are set in a word, as numbers from `first` on; returns how many there are. */
INLINE int64_t list_bits(uint64_t word, int64_t first, int32_t *list)
{
    int64_t count = 0;
    for (; word; word &= word - 1)
        list[count++] = (int32_t)(first + lowest_bit(word));
    return count;
}

/* Set z to the k highest of M scores, of equals the first; work: a list of k. */
static void mark_highest(const double *score, int64_t M, int64_t k, uint64_t *z, int32_t *best)
{
    int64_t found = 0;
    for (int32_t i = 0; k > 0 && i < M; i++) {
        if (found == k && score[i] <= score[best[k - 1]])
            continue;
        int64_t place = found < k ? found++ : k - 1;
        for (; place > 0 && score[i] > score[best[place - 1]]; place--)
            best[place] = best[place - 1];
        best[place] = i;
    }
    for (int64_t place = 0; place < found; place++)
        z[best[place] / BLOCK] |= (uint64_t)1 << best[place] % BLOCK;
}

/* A random number from 0 to span - 1, as Generator.integers draws it (Lemire 2019): none is drawn for a single one. */
INLINE uint32_t draw_below(uint32_t span, const Generator *rng)
{
    if (span == 1)
        return 0;
    uint64_t scaled = (uint64_t)rng->next_uint32(rng->state) * span;
    if ((uint32_t)scaled < span)
        while ((uint32_t)scaled < (uint32_t)-span % span) /* would not be fair */
            scaled = (uint64_t)rng->next_uint32(rng->state) * span;
    return (uint32_t)(scaled >> 32);
}

/* Draw 0 to `noise` units to flip for each of some transitions, as `rule.flip_some` does; `order` lists all units in any order. */
EXPORT int64_t KERNEL(sparse_flips)(int64_t n, int64_t noise, int64_t n_in, int32_t *flipped, int32_t *n_flipped, int32_t *order,
                                    const Generator *rng, int64_t first, int64_t last)
{
    for (int64_t t = first; t < least(last, n); t++) {
        n_flipped[t] = (int32_t)draw_below((uint32_t)noise + 1, rng);
        for (int32_t j = 0; j < n_flipped[t]; j++) { /* the first units of a shuffle */
            int32_t *other = order + j + draw_below((uint32_t)(n_in - j), rng), unit = *other;
            *other = order[j];
            flipped[t * noise + j] = order[j] = unit;
        }
    }
    return 0;
}

/* One epoch of eqs. (8)-(9) for each row of V (N, M), with fixed codes: V practises, neuron by neuron. Returns sum nu.
 *
 * active[starts[t]:starts[t + 1]] are the active hidden neurons of transition t, and column t of targets (N, n) is its x(t+1). A neuron
 * without an error is `done`, since it has no more of them. wrong[t] becomes the number of visible neurons that were wrong at t. */
EXPORT int64_t KERNEL(practise_V)(int64_t N, int64_t M, int64_t n, int64_t *V, const int8_t *targets, const int32_t *active,
                                  const int64_t *starts, uint8_t *done, double *wrong, int64_t margin, int64_t step)
{
    int64_t errors = 0;
    memset(wrong, 0, (size_t)n * sizeof *wrong);
    for (int64_t j = 0; j < N; j++) {
        int64_t *v = V + j * M, before = errors;
        const int8_t *x = targets + j * n;
        for (int64_t t = 0; t < n && !done[j]; t++) {
            int64_t g = 0;
            for (int64_t a = starts[t]; a < starts[t + 1]; a++)
                g += v[active[a]];
            if (x[t] * g > margin) /* eq. (8) */
                continue;
            errors++;
            wrong[t] += (g >= 0) != (x[t] > 0);
            for (int64_t a = starts[t]; a < starts[t + 1]; a++)
                v[active[a]] += step * x[t]; /* eq. (9) */
        }
        done[j] = errors == before;
    }
    return errors;
}

#endif
