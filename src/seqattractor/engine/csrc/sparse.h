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
#define BLOCK 64                 /* numbers whose comparisons fill a word of bits */
#define WINDOW 64                /* presentations whose fields are looked up together */
#define TILE 8                   /* side of a square of numbers that is transposed in registers */

/* SparseSettings and Epoch of rule.py. */
typedef struct {
    int64_t n_winners, winners, bias, active_weight, visible_margin;
    double learned_feedback, redraw;
    int64_t hidden_step, visible_step, choosing, drive_step;
    double homeostasis, redraw_above;
} SparseRule;

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

/* 64 bytes of 0 or 1 as the bits of a word. */
INLINE uint64_t bits_of(const uint8_t *bytes)
{
#if defined(AVX512)
    __m512i all = _mm512_loadu_si512(bytes);
    return _mm512_test_epi8_mask(all, all);
#else
    uint64_t bits = 0, some;
    for (int k = 0; k < BLOCK / 8; k++) {
        some = 0;
        for (int byte = 0; byte < 8; byte++) /* compilers know this as one instruction */
            some |= (uint64_t)bytes[8 * k + byte] << (8 * byte);
        bits |= (some * 0x0102040810204080) >> 56 << (8 * k);
    }
    return bits;
#endif
}

/* Bit k says whether scores[k] >= threshold. */
INLINE uint64_t scores_above(const double *scores, double threshold)
{
    uint8_t above[BLOCK];
    for (int k = 0; k < BLOCK; k++)
        above[k] = scores[k] >= threshold;
    return bits_of(above);
}

/* Products of x with each of the first patterns, whose words are columns `stride` apart, as those of x are `step` apart: `length` less
 * twice the number of units that differ. Only units with a bit in `where` count, if that is given. */
static void products(const uint64_t *restrict patterns, int64_t stride, int64_t words, const uint64_t *x, int64_t step,
                     const uint64_t *where, int64_t length, int32_t *restrict out, int64_t count)
{
    for (int64_t first = 0; first < count; first += BLOCK, patterns += BLOCK) {
        int64_t different[BLOCK] = {0}, some = least(BLOCK, count - first);
        for (int64_t word = 0; word < words; word++) {
            uint64_t here = x[word * step], mask = where ? where[word] : ~(uint64_t)0;
            for (int64_t s = 0; s < some; s++)
                different[s] += number_of_bits(mask & (patterns[word * stride + s] ^ here));
        }
        for (int64_t s = 0; s < some; s++)
            out[first + s] = (int32_t)(length - 2 * different[s]);
    }
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
