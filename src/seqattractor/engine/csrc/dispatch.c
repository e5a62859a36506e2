/* What this library was compiled from, and the instruction sets that it was compiled for and this processor has. */
#include "lanes.h"

EXPORT const char *digest_of_sources(void) { return DIGEST; }

#if SETS > 1
#include <cpuid.h>
#define BIT(word, k) ((word) >> (k) & 1)

/* The registers that the operating system saves, by xgetbv: bits 1 and 2 for AVX, 5 to 7 for AVX-512. */
static unsigned saved_registers(void)
{
    unsigned low, high;
    __asm__ volatile("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
    return low;
}
#endif

/* Names with spaces between them, the best last. By cpuid, since not every compiler brings what __builtin_cpu_supports needs. */
EXPORT const char *known_instruction_sets(void)
{
#if SETS > 1
    unsigned a, b, c, d, saved, lzcnt;
    if (!__get_cpuid(0x80000001, &a, &b, &c, &d))
        return "base";
    lzcnt = BIT(c, 5);
    if (!__get_cpuid(1, &a, &b, &c, &d) || !BIT(c, 23) /* popcnt */ || !BIT(c, 27) /* xgetbv */ || !BIT(c, 28) /* avx */)
        return "base";
    saved = saved_registers();
    if (!lzcnt || (saved & 0x06) != 0x06 || !__get_cpuid_count(7, 0, &a, &b, &c, &d))
        return "base";
    if (!BIT(b, 3) /* bmi */ || !BIT(b, 5) /* avx2 */ || !BIT(b, 8) /* bmi2 */)
        return "base";
    if ((saved & 0xe0) == 0xe0 && BIT(b, 16) /* f */ && BIT(b, 17) /* dq */ && BIT(b, 30) /* bw */ && BIT(b, 31) /* vl */
        && BIT(c, 14) /* vpopcntdq */)
        return "base avx2 avx512";
    return "base avx2";
#else
    return "base";
#endif
}
