/* A self-test of the kernels without Python: each is run on pseudo-random numbers and prints its name and a checksum of its results.
 *
 * Compiled with all kernels in it, for one instruction set, by core_selftest.py, which compares what it prints on different
 * processors. Arrays have exactly the length that they are declared with, so that AddressSanitizer sees whatever lies beyond.
 *
 * To add a kernel: a function that makes arrays by SPACE or NUMBERS, calls the kernel and passes its results to CHECK; and a
 * line in KERNELS. Each is called in ROUNDS with other numbers.
 */
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "core.c"

#define ROUNDS 20
#define MOST_ARRAYS 64

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
static int64_t between(int64_t low, int64_t high) { return low + (int64_t)(draw() % (uint64_t)(high - low + 1)); }

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

#define SPACE(T, name, length) T *name = memory((size_t)(length) * sizeof(T))
/* Pseudo-random numbers from low to high, divided by `by`. */
#define NUMBERS_BY(T, name, length, low, high, by) \
    SPACE(T, name, length);                        \
    for (int64_t k_ = 0; k_ < (length); k_++)      \
        name[k_] = (T)between(low, high) / (by);
#define NUMBERS(T, name, length, low, high)   \
    SPACE(T, name, length);                   \
    for (int64_t k_ = 0; k_ < (length); k_++) \
        name[k_] = (T)between(low, high);
#define CHECK(name, length) add_bytes(name, (size_t)(length) * sizeof *name)

/* Patterns in bits, most of which stay as they were in the pattern before. */
static uint32_t *film(int64_t n, int64_t words, int64_t N)
{
    SPACE(uint32_t, bits, n * words);
    for (int64_t t = 0; t < n; t++)
        for (int64_t word = 0; word < words; word++) {
            uint32_t used = N >= 32 * (word + 1) ? 0xffffffffu : N <= 32 * word ? 0 : (1u << (N - 32 * word)) - 1;
            uint32_t before = t ? bits[(t - 1) * words + word] : (uint32_t)draw();
            bits[t * words + word] = (before ^ (uint32_t)(draw() & draw() & draw())) & used;
        }
    return bits;
}

static void test_products(void)
{
    int64_t n = between(1, 70), N = between(1, 200), words = (N + 31) / 32, padded = (n + 31) / 32 * 32;
    uint32_t *bits = film(n, words, N);
    SPACE(uint32_t, columns, words * n);
    SPACE(int32_t, unlike, n);
    SPACE(int16_t, narrow, n * padded);
    SPACE(int32_t, wide, n * padded);
    SPACE(int64_t, wider, n * padded);
    KERNEL(products_int16)(n, padded, words, narrow, bits, N, columns, unlike);
    KERNEL(products_int32)(n, padded, words, wide, bits, N, columns, unlike);
    KERNEL(products_int64)(n, padded, words, wider, bits, N, columns, unlike);
    CHECK(narrow, n * padded);
    CHECK(wide, n * padded);
    CHECK(wider, n * padded);
}

/* Patterns of N inputs, given by what changes. */
typedef struct {
    int64_t n, N;
    int64_t *up_starts, *down_starts;
    int16_t *up, *down;
} Changes;

static Changes some_changes(void)
{
    Changes made = {.n = between(1, 40), .N = between(1, 150)};
    int64_t words = (made.N + 31) / 32;
    uint32_t *bits = film(made.n, words, made.N);
    SPACE(uint32_t, last, words);
    made.up_starts = memory((size_t)(made.n + 1) * sizeof *made.up_starts);
    made.down_starts = memory((size_t)(made.n + 1) * sizeof *made.down_starts);
    KERNEL(count_changes)(made.n, words, bits, made.up_starts, made.down_starts, last);
    int64_t ups = made.up_starts[made.n], downs = made.down_starts[made.n];
    made.up = memory((size_t)ups * sizeof *made.up);
    made.down = memory((size_t)downs * sizeof *made.down);
    int64_t code = KERNEL(list_changes)(made.n, words, ups, downs, bits, made.up, made.down, last);
    CHECK(&code, 1);
    if (downs) { /* and with too little room, where nothing is written beyond it */
        SPACE(int16_t, less, downs - 1);
        code = KERNEL(list_changes)(made.n, words, ups, downs - 1, bits, made.up, less, last);
        CHECK(&code, 1);
        KERNEL(list_changes)(made.n, words, ups, downs, bits, made.up, made.down, last);
    }
    return made;
}

static void test_count_changes(void)
{
    Changes some = some_changes();
    CHECK(some.up_starts, some.n + 1);
    CHECK(some.down_starts, some.n + 1);
}

static void test_list_changes(void)
{
    Changes some = some_changes();
    CHECK(some.up, some.up_starts[some.n]);
    CHECK(some.down, some.down_starts[some.n]);
}

static void test_add_start_fields(void)
{
    Changes some = some_changes();
    int64_t m = between(1, 20), first = between(0, 5), inputs = first + some.N + between(0, 5);
    NUMBERS_BY(double, fields, m * some.n, -1000, 1000, 7.0);
    NUMBERS_BY(double, weights, m * inputs, -1000000, 1000000, 3000.0);
    SPACE(int64_t, space, 8 * inputs);
    KERNEL(add_start_fields)
    (m, some.n, inputs, fields, weights, some.up, some.down, some.up_starts, some.down_starts, first, some.N, 1048576.0, 10485.76, space);
    CHECK(fields, m * some.n);
}

static void test_add_sums(void)
{
    Changes some = some_changes();
    int64_t m = between(1, 20), first = between(0, 5), inputs = first + some.N + between(0, 5);
    NUMBERS_BY(double, weights, m * inputs, -1000000, 1000000, 3000.0);
    NUMBERS(int64_t, counts, m * some.n, -50, 50);
    SPACE(int64_t, space, 8 * inputs);
    KERNEL(add_sums)
    (m, inputs, some.n, weights, counts, some.up, some.down, some.up_starts, some.down_starts, first, some.N, 0.001, space);
    CHECK(weights, m * inputs);
}

#define KERNELS(X) X(products) X(count_changes) X(list_changes) X(add_start_fields) X(add_sums)

int main(void)
{
#define RUN(name)                                      \
    sum = 0xcbf29ce484222325u, state = 1;              \
    for (int round = 0; round < ROUNDS; round++) {     \
        test_##name();                                 \
        while (number_of_arrays)                       \
            free(arrays[--number_of_arrays]);          \
    }                                                  \
    printf("%s %016" PRIx64 "\n", #name, sum);
    KERNELS(RUN)
    return 0;
}
