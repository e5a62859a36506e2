/* LANES whole numbers of type T in as many registers as it takes. Included once for each pair of types.
 *
 * The includer defines FIELD_BITS, those of T, the type of fields, and K_BITS, those of KT, the type of Gram matrices, which may be
 * narrower than that of the fields that they are added to. */
#include "lanes.h"

#undef T
#undef KT
#undef PAIRED
#undef Reg
#undef Lanes
#undef KReg
#undef ZIP_LOWER
#undef ZIP_UPPER
#define T INTEGER(FIELD_BITS)
#define KT INTEGER(K_BITS)
#define PAIRED(name) KERNEL(JOIN(JOIN(name, TYPE_NAME(FIELD_BITS)), TYPE_NAME(K_BITS)))

#define Reg PAIRED(Reg)
#define Lanes PAIRED(Lanes)
#define KReg PAIRED(KReg)
#define PARTS ((int)(LANES * sizeof(T) / REGISTER))
#define PER_REG ((int)(REGISTER / sizeof(T)))

typedef T Reg __attribute__((vector_size(REGISTER), aligned(sizeof(T)), may_alias));
typedef KT KReg __attribute__((vector_size(REGISTER / sizeof(T) * sizeof(KT)), aligned(sizeof(KT)), may_alias));
typedef struct {
    Reg part[PARTS];
} Lanes;

INLINE Lanes PAIRED(load)(const T *from)
{
    Lanes value;
    UNROLL for (int p = 0; p < PARTS; p++)
        value.part[p] = *(const Reg *)(from + p * PER_REG);
    return value;
}

INLINE void PAIRED(store)(T *to, Lanes value)
{
    UNROLL for (int p = 0; p < PARTS; p++)
        *(Reg *)(to + p * PER_REG) = value.part[p];
}

/* A register of numbers of a Gram matrix as numbers of type T. */
INLINE Reg PAIRED(widened)(const KT *from)
{
#if defined(AVX512) && FIELD_BITS == 32 && K_BITS == 16 /* GCC takes three instructions for it */
    return (Reg)_mm512_cvtepi16_epi32(_mm256_loadu_si256((const __m256i *)from));
#else
    return __builtin_convertvector(*(const KReg *)from, Reg);
#endif
}

/* LANES numbers of a Gram matrix as numbers of type T. */
INLINE Lanes PAIRED(load_K)(const KT *from)
{
    Lanes value;
    UNROLL for (int p = 0; p < PARTS; p++)
        value.part[p] = PAIRED(widened)(from + p * PER_REG);
    return value;
}

INLINE Lanes PAIRED(plus)(Lanes a, Lanes b)
{
    UNROLL for (int p = 0; p < PARTS; p++)
        a.part[p] += b.part[p];
    return a;
}

/* a + b, or a + ~b if the sign is -1. */
INLINE Lanes PAIRED(plus_signed)(Lanes a, Lanes b, T sign)
{
    UNROLL for (int p = 0; p < PARTS; p++)
        a.part[p] += b.part[p] ^ sign;
    return a;
}

INLINE Lanes PAIRED(plus_number)(Lanes a, T number)
{
    UNROLL for (int p = 0; p < PARTS; p++)
        a.part[p] += number;
    return a;
}

/* Bit k says whether a <= b in lane k. */
INLINE uint32_t PAIRED(le_bits)(Lanes a, Lanes b)
{
    uint32_t bits = 0;
#if defined(AVX512)
    UNROLL for (int p = 0; p < PARTS; p++) {
        __m512i x = (__m512i)a.part[p], y = (__m512i)b.part[p];
        if (sizeof(T) == 2)
            bits = _mm512_cmple_epi16_mask(x, y);
        else
            bits |= (uint32_t)_mm512_cmple_epi32_mask(x, y) << (p * 16);
    }
#elif defined(__AVX2__)
    UNROLL for (int p = 0; p < PARTS; p += sizeof(T) == 2 ? 2 : 1) {
        __m256i greater = (__m256i)(a.part[p] > b.part[p]);
        if (sizeof(T) == 2) {
            greater = _mm256_packs_epi16(greater, (__m256i)(a.part[p + 1] > b.part[p + 1]));
            bits |= ~(uint32_t)_mm256_movemask_epi8(_mm256_permute4x64_epi64(greater, 0xd8));
        } else
            bits |= (~(uint32_t)_mm256_movemask_ps((__m256)greater) & 0xff) << (p * 8);
    }
#elif defined(__SSE2__)
    UNROLL for (int p = 0; p < PARTS; p += sizeof(T) == 2 ? 2 : 1) {
        __m128i greater = (__m128i)(a.part[p] > b.part[p]);
        if (sizeof(T) == 2) {
            greater = _mm_packs_epi16(greater, (__m128i)(a.part[p + 1] > b.part[p + 1]));
            bits |= (~(uint32_t)_mm_movemask_epi8(greater) & 0xffff) << (p * 8);
        } else
            bits |= (~(uint32_t)_mm_movemask_ps((__m128)greater) & 0xf) << (p * 4);
    }
#else
    UNROLL for (int p = 0; p < PARTS; p++) {
        Reg holds = a.part[p] <= b.part[p];
        for (int k = 0; k < PER_REG; k++)
            bits |= (uint32_t)(holds[k] & 1) << (p * PER_REG + k);
    }
#endif
    return bits;
}

/* The numbers of two registers in turns, a[0], b[0], a[1], b[1], ...: of their lower halves, and of their upper ones. */
#if REGISTER * 8 / FIELD_BITS == 32
#define ZIP_LOWER(a, b) __builtin_shufflevector(a, b, 0, 32, 1, 33, 2, 34, 3, 35, 4, 36, 5, 37, 6, 38, 7, 39, 8, 40, \
    9, 41, 10, 42, 11, 43, 12, 44, 13, 45, 14, 46, 15, 47)
#define ZIP_UPPER(a, b) __builtin_shufflevector(a, b, 16, 48, 17, 49, 18, 50, 19, 51, 20, 52, 21, 53, 22, 54, 23, 55, \
    24, 56, 25, 57, 26, 58, 27, 59, 28, 60, 29, 61, 30, 62, 31, 63)
#elif REGISTER * 8 / FIELD_BITS == 16
#define ZIP_LOWER(a, b) __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23)
#define ZIP_UPPER(a, b) __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31)
#elif REGISTER * 8 / FIELD_BITS == 8
#define ZIP_LOWER(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_UPPER(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#elif REGISTER * 8 / FIELD_BITS == 4
#define ZIP_LOWER(a, b) __builtin_shufflevector(a, b, 0, 4, 1, 5)
#define ZIP_UPPER(a, b) __builtin_shufflevector(a, b, 2, 6, 3, 7)
#endif

/* Turn a square block of PER_REG rows into columns: a perfect shuffle of all rows, as often as it halves. */
INLINE void PAIRED(turn)(const T *rows, int64_t stride, T *columns, int64_t column_stride)
{
    Reg block[PER_REG], shuffled[PER_REG];
    UNROLL for (int k = 0; k < PER_REG; k++)
        block[k] = *(const Reg *)(rows + k * stride);
    UNROLL for (int size = PER_REG; size > 1; size /= 2) {
        UNROLL for (int k = 0; k < PER_REG / 2; k++) {
            shuffled[2 * k] = ZIP_LOWER(block[k], block[k + PER_REG / 2]);
            shuffled[2 * k + 1] = ZIP_UPPER(block[k], block[k + PER_REG / 2]);
        }
        UNROLL for (int k = 0; k < PER_REG; k++)
            block[k] = shuffled[k];
    }
    UNROLL for (int k = 0; k < PER_REG; k++)
        *(Reg *)(columns + k * column_stride) = block[k];
}

/* A number that is to be put into all lanes: a pair of narrow ones, since two are loaded faster than one. */
INLINE int32_t PAIRED(ready)(KT number)
{
    return sizeof(T) == 2 ? (int32_t)((uint16_t)number * (uint32_t)0x00010001) : (int32_t)number;
}

INLINE Reg PAIRED(everywhere)(int32_t number)
{
    typedef int32_t Pairs __attribute__((vector_size(REGISTER)));
    return (Reg)((Pairs){0} + number);
}

/* Where a margin is violated, (f <= limit) != minus: the signed update, else 0. Adds `bit` to `done` where one is, and to `wrong`
 * where the code after it, (f <= border) != minus, is not the target. */
INLINE Reg PAIRED(violations)(Reg f, Reg limit, Reg border, Reg minus, T bit, Reg *done, Reg *wrong)
{
#if defined(AVX512) && FIELD_BITS == 16
    const __mmask32 flipped = _mm512_movepi16_mask((__m512i)minus);
    const __mmask32 violated = _mm512_cmple_epi16_mask((__m512i)f, (__m512i)limit) ^ flipped;
    const __mmask32 unlike = (_mm512_cmple_epi16_mask((__m512i)f, (__m512i)border) ^ flipped) & violated;
    const __m512i bits = _mm512_set1_epi16(bit);
    *done = (Reg)_mm512_or_si512((__m512i)*done, _mm512_maskz_mov_epi16(violated, bits));
    *wrong = (Reg)_mm512_or_si512((__m512i)*wrong, _mm512_maskz_mov_epi16(unlike, bits));
    return (Reg)_mm512_maskz_mov_epi16(violated, (__m512i)(minus | 1));
#else
    const Reg violated = (Reg)(f <= limit) ^ minus, unlike = ((Reg)(f <= border) ^ minus) & violated;
    *done |= violated & bit;
    *wrong |= unlike & bit;
    return violated & (minus | 1);
#endif
}

/* Subtract 1 in the lanes of register p whose bits are set. */
INLINE Reg PAIRED(less_bits)(Reg a, uint32_t bits, const int p)
{
#if defined(AVX512) && FIELD_BITS == 16
    (void)p;
    return (Reg)_mm512_mask_sub_epi16((__m512i)a, bits, (__m512i)a, _mm512_set1_epi16(1));
#elif defined(AVX512)
    return (Reg)_mm512_mask_sub_epi32((__m512i)a, (__mmask16)(bits >> (p * 16)), (__m512i)a, _mm512_set1_epi32(1));
#else
    Reg own;
    UNROLL for (int k = 0; k < PER_REG; k++)
        own[k] = (T)((uint32_t)1 << k);
    return a + (Reg)((((Reg){0} + (T)(bits >> (p * PER_REG))) & own) != 0);
#endif
}
