/* A self-test of the kernels without Python: each is run on pseudo-random numbers and prints its name and a checksum of its results.
 *
 * core_selftest.py writes the calls (calls.h) from the declarations of kernels.py, compiles all for one instruction set, and compares
 * what it prints on different processors. Arrays have exactly the length that they are declared with, so that AddressSanitizer
 * sees whatever lies beyond.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.c"

#define MOST_ARRAYS 128

static uint64_t state, sum;
static void *arrays[MOST_ARRAYS];
static int number_of_arrays;

/* The next pseudo-random number (splitmix64). */
static uint64_t draw(void)
{
    uint64_t z = (state += 0x9e3779b97f4a7c15u);
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

/* A whole number from low to high, both included. */
static int64_t between(int64_t low, int64_t high)
{
    uint64_t span = (uint64_t)high - (uint64_t)low + 1; /* 0 for all of them */
    return (int64_t)((uint64_t)low + (span ? draw() % span : draw()));
}

/* What kernels draw from, laid out as numpy lays out its generators. */
static uint64_t next_uint64(void *unused) { return (void)unused, draw(); }
static uint32_t next_uint32(void *unused) { return (void)unused, (uint32_t)(draw() >> 32); }
static double next_double(void *unused) { return (void)unused, (double)(draw() >> 11) / 9007199254740992.0; }
typedef struct {
    void *state;
    uint64_t (*next_uint64)(void *);
    uint32_t (*next_uint32)(void *);
    double (*next_double)(void *);
    uint64_t (*next_raw)(void *);
} Bits;
static Bits generator = {NULL, next_uint64, next_uint32, next_double, next_uint64};

/* Memory that begins with a cache line, full of what no kernel should depend on. */
static void *memory(size_t size)
{
    void *made = NULL;
    if (number_of_arrays == MOST_ARRAYS || posix_memalign(&made, 64, size ? size : 1))
        abort();
    memset(made, 0x5a, size);
    return arrays[number_of_arrays++] = made;
}

/* Add the bytes of results to the checksum (FNV-1a). */
static void add_bytes(const void *bytes, size_t size)
{
    for (size_t k = 0; k < size; k++)
        sum = (sum ^ ((const unsigned char *)bytes)[k]) * 0x100000001b3u;
}

/* Add results that have gone through tanh or exp, which each system rounds as it likes. */
static void add_rounded(const double *results, int64_t length)
{
    for (int64_t k = 0; k < length; k++) {
        int64_t rounded = (int64_t)rint(results[k] * 1048576.0);
        add_bytes(&rounded, sizeof rounded);
    }
}

#define SPACE(T, name, length) T *name = memory((size_t)(length) * sizeof(T))
/* Pseudo-random numbers from low to high, divided by `by`. */
#define NUMBERS(T, name, length, low, high, by) \
    SPACE(T, name, length);                     \
    for (int64_t k_ = 0; k_ < (length); k_++)   \
        name[k_] = (T)(between(low, high) / (by))
#define CHECK(name, length) add_bytes(name, (size_t)(length) * sizeof *name)

#include "calls.h"

int main(void)
{
#define RUN(name, rounds)                         \
    sum = 0xcbf29ce484222325u, state = 1;         \
    for (int round = 0; round < rounds; round++) { \
        call_##name(round);                       \
        while (number_of_arrays)                  \
            free(arrays[--number_of_arrays]);     \
    }                                             \
    printf("%s %016" PRIx64 "\n", #name, sum);
    KERNELS(RUN)
    return 0;
}
