/* States of -1 or 0 and +1 in bits, vectors of eight numbers of 64 bits, and chance: what kernels have in common. */
#include "lanes.h"

#ifndef SEQATTRACTOR_BITS_H
#define SEQATTRACTOR_BITS_H

#define WAYS 16 /* to add up four numbers, or not, or with all signs */

typedef double Eight __attribute__((vector_size(64), aligned(8)));
typedef int64_t Side __attribute__((vector_size(64), aligned(8)));
typedef Side Flags; /* of a comparison: -1 where it holds, else 0 */

/* (a + ROUND) - ROUND is a rounded to a whole number, as np.rint does it, for |a| < 2**51 */
#define ROUND (1.5 * 4503599627370496.0)

INLINE int is_any_set(const Flags *flags)
{
#if AVX512
    return _mm512_test_epi64_mask((__m512i)*flags, (__m512i)*flags) != 0;
#else
    int64_t some = 0;
    for (int i = 0; i < 8; i++)
        some |= (*flags)[i];
    return some != 0;
#endif
}

/* One bit for each of eight states, set where it is +1; those beyond `number` are not. */
INLINE uint8_t in_bits(const int8_t *x, int64_t number)
{
    uint64_t word = 0;
    memcpy(&word, x, (size_t)number); /* little endian: the first state is in the lowest byte */
    word &= ~(word >> 7) & 0x0101010101010101; /* +1 is odd and has no sign */
    return (uint8_t)((word * 0x0102040810204080) >> 56);
}

/* Copy some bytes, usually all of them: then it is one instruction. */
#define COPY_BYTES(to, from, some, all) ((some) == (all) ? memcpy(to, from, all) : memcpy(to, from, (size_t)(some)))

/* Some of n numbers from w on, and 0 beyond them. */
INLINE void load_eight(Eight *some, const double *w, int64_t n)
{
    *some = (Eight){0};
    COPY_BYTES(some, w, 8 * least(n, 8), 64);
}

INLINE void store_eight(double *w, const Eight *some, int64_t n) { COPY_BYTES(w, some, 8 * least(n, 8), 64); }

/* Turn eight vectors of eight numbers, rows, into columns: a perfect shuffle of all of them, as often as eight halves. */
#define ZIP_8_LOWER(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_8_UPPER(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define TURN(block)                                                              \
    UNROLL for (int round = 0; round < 3; round++) {                             \
        __typeof__((block)[0]) shuffled[8];                                      \
        UNROLL for (int k = 0; k < 4; k++) {                                     \
            shuffled[2 * k] = ZIP_8_LOWER((block)[k], (block)[k + 4]);           \
            shuffled[2 * k + 1] = ZIP_8_UPPER((block)[k], (block)[k + 4]);       \
        }                                                                        \
        UNROLL for (int k = 0; k < 8; k++)                                       \
            (block)[k] = shuffled[k];                                            \
    }

/* Eight columns of the n numbers that some of eight rows have from `at` on; 0 where there is no row, or no number. */
INLINE void load_columns(Eight *block, const double *const *rows, int some, int64_t at, int64_t n)
{
    if (some == 8 && n >= 8)
        UNROLL for (int k = 0; k < 8; k++)
            block[k] = *(const Eight *)(rows[k] + at);
    else
        for (int k = 0; k < 8; k++)
            if (k < some)
                load_eight(block + k, rows[k] + at, n);
            else
                block[k] = (Eight){0};
    TURN(block)
}

#define PARTIAL_SUMS 16 /* partial sums, so that an addition need not wait for the one before */

INLINE double dot(const double *a, const double *b, int64_t n)
{
    double sums[PARTIAL_SUMS] = {0}, total = 0;
    int64_t i = 0;
    for (; i + PARTIAL_SUMS <= n; i += PARTIAL_SUMS)
        for (int k = 0; k < PARTIAL_SUMS; k++)
            sums[k] += a[i + k] * b[i + k];
    for (int k = 0; k < PARTIAL_SUMS; k++)
        total += sums[k];
    for (; i < n; i++)
        total += a[i] * b[i];
    return total;
}

/* A generator of random numbers, as numpy lays it out (numpy/random/bitgen.h). */
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *state);
    uint32_t (*next_uint32)(void *state);
} Generator;

/* A random number from 0 to below 1, as Generator.random draws it in single precision. */
INLINE float draw_real(const Generator *rng) { return (float)(rng->next_uint32(rng->state) >> 8) * (1.0f / 16777216.0f); }

#endif
