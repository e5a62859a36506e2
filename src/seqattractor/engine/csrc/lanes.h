/* What all kernels have in common: names, widths of vectors, bits. A file that is included once for each integer type T finds BITS
 * defined, those of T. Operators on vectors are those of GCC and Clang. */
#include <math.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

#ifndef SEQATTRACTOR_LANES_H
#define SEQATTRACTOR_LANES_H

#define LANES 32 /* rows are padded to a multiple of this, so that no loop has a scalar rest */
#define SIDE 8   /* neurons that are worked on side by side where numbers are of 64 bits */

#if defined(__AVX512BW__) && defined(__AVX512DQ__) && defined(__AVX512VL__)
#define AVX512 1
#define REGISTER 64 /* bytes */
#elif defined(__AVX2__)
#define REGISTER 32
#else
#define REGISTER 16
#endif

#define JOIN_(a, b) a##_##b
#define JOIN(a, b) JOIN_(a, b)
#define KERNEL(name) JOIN(name, ISA)                 /* learn_avx2 */
#define TYPE_NAME_(bits) int##bits
#define TYPE_NAME(bits) TYPE_NAME_(bits)
#define TYPED(name) KERNEL(JOIN(name, TYPE_NAME(BITS))) /* learn_int16_avx2 */
#define INTEGER(bits) JOIN(TYPE_NAME(bits), t)

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

/* Before a loop over registers, which has to be written out for them to be registers. */
#if defined(__clang__)
#define UNROLL _Pragma("clang loop unroll(full)")
#else
#define UNROLL _Pragma("GCC unroll 64")
#endif

#define INLINE static inline __attribute__((always_inline, unused))

INLINE int lowest_bit(uint64_t word) { return __builtin_ctzll(word); }
INLINE int number_of_bits(uint64_t word) { return __builtin_popcountll(word); }

/* Add bit k of updates to counts[k]. */
INLINE void count(int32_t *counts, uint32_t updates)
{
    for (int k = 0; k < LANES; k++)
        counts[k] += (int32_t)(updates >> k & 1);
}

/* Bits of those of the next LANES that there are, if so many are left; padding has none. */
INLINE uint32_t lanes_left(int64_t left) { return left >= LANES ? ~(uint32_t)0 : left <= 0 ? 0 : ((uint32_t)1 << left) - 1; }
INLINE int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }
INLINE int64_t most(int64_t a, int64_t b) { return a > b ? a : b; }

#endif
