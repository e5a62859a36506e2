/* Which instruction sets this library was compiled for, and the processor knows. */
#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#else
#define EXPORT __attribute__((visibility("default")))
#endif

EXPORT const char *known_instruction_sets(void);

/* Names with spaces between them, the best last. */
EXPORT const char *known_instruction_sets(void)
{
#if SETS > 1
    __builtin_cpu_init();
    if (!__builtin_cpu_supports("avx2") || !__builtin_cpu_supports("bmi2"))
        return "base";
    if (__builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl")
        && __builtin_cpu_supports("avx512vpopcntdq"))
        return "base avx2 avx512";
    return "base avx2";
#else
    return "base";
#endif
}
