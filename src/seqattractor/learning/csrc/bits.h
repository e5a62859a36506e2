/* States of -1 or 0 and +1 in bits, and vectors of 64 bytes: what kernels that look sums up have in common. */
#include "lanes.h"

#ifndef SEQATTRACTOR_BITS_H
#define SEQATTRACTOR_BITS_H

#define WAYS 16 /* to add up four numbers, or not, or with all signs */

typedef double Eight __attribute__((vector_size(64), aligned(8)));
typedef int64_t Flags __attribute__((vector_size(64), aligned(8))); /* of a comparison: -1 where it holds, else 0 */

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

/* Copy some states, usually all of them: then it is one instruction. */
#define COPY_STATES(to, from, some, all) ((some) == (all) ? memcpy(to, from, all) : memcpy(to, from, (size_t)(some)))

#endif
