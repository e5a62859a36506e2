/* What kernels of the sparse rule (sparse_learn.h) share whatever their type of numbers, and the draw of noise.
 *
 * Rows that are gone through in blocks are padded with zeros: `padded` numbers are looked at, and rows lie `row_of` numbers apart,
 * half a block more, since numbers of a column would else fall into the same few places of the cache.
 */
#include "bits.h"

#ifndef SEQATTRACTOR_SPARSE_H
#define SEQATTRACTOR_SPARSE_H

#define PROTOTYPE 4096           /* these four as in rule.py */
#define STEP_BITS 16
#define WRONG_AVERAGING 0.0625
#define RAISES 10
#define BLOCK 64                 /* numbers whose comparisons fill a word of bits */
#define PRESENTATIONS 256        /* for which the same transposed arrays are used, at most */
#define FEEDBACK_PRESENTATIONS 32 /* the same for feedback: each change is made there, too, in a column */
#define PENDING 4096             /* updates that are added to what these say, at most */
#define NEURONS 16               /* hidden neurons that share tables */
#define GROUP 4                  /* input units that are looked up together */
#define PATTERNS 16              /* that they can have */
#define TILE 8                   /* side of a square of numbers that is transposed in registers */

#if defined(__clang__) /* which would write columns by scattered vectors */
#define ONE_BY_ONE _Pragma("clang loop vectorize(disable)")
#else
#define ONE_BY_ONE
#endif

/* SparseSettings and Epoch of rule.py. */
typedef struct {
    int64_t n_winners, winners, bias, margin, active_margin, active_weight, visible_margin;
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

/* In how many units x differs from each of the first patterns, whose words are columns `stride` apart; only units with a bit in
 * `where` count, if that is given. The words of x are `step` apart. */
static void count_differences(const uint64_t *restrict patterns, int64_t stride, int64_t words, const uint64_t *x, int64_t step,
                              const uint64_t *where, int64_t *restrict out, int64_t count)
{
    memset(out, 0, (size_t)count * sizeof *out);
    for (int64_t word = 0; word < words; word++) {
        uint64_t here = x[word * step], mask = where ? where[word] : ~(uint64_t)0;
        for (int64_t s = 0; s < count; s++)
            out[s] += number_of_bits(mask & (patterns[word * stride + s] ^ here));
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

#endif
