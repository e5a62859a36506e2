/* Patterns that neurons learn from: products of every two, and sums over them by what changes from one pattern to the next.
 *
 * Patterns come in bits (n, words), where 1 stands for -1. An input keeps its value from a change to the next one, so that a film,
 * in which little changes, is summed up in a fraction of the additions that a matrix product takes. Everything here is whole
 * numbers: sums are exact in any order.
 */
#include "bits.h"

/* The Gram matrix K (n, padded n) = X X^T of patterns of N units: N less twice the units in which two of them differ. Padding is 0. */
#define DEFINE_PRODUCTS(T, NAME)                                                                                                    \
    EXPORT int64_t KERNEL(NAME)(int64_t n, int64_t padded, int64_t words, T *K, const uint32_t *bits, int64_t N, uint32_t *columns, \
                                int32_t *unlike)                                                                                    \
    {                                                                                                                               \
        for (int64_t t = 0; t < n; t++)                                                                                             \
            for (int64_t word = 0; word < words; word++)                                                                            \
                columns[word * n + t] = bits[t * words + word];                                                                     \
        for (int64_t t = 0; t < n; t++) {                                                                                           \
            memset(unlike, 0, (size_t)n * sizeof *unlike);                                                                          \
            for (int64_t word = 0; word < words; word++) {                                                                          \
                uint32_t here = bits[t * words + word];                                                                             \
                const uint32_t *row = columns + word * n;                                                                           \
                for (int64_t s = 0; s < n; s++)                                                                                     \
                    unlike[s] += __builtin_popcount(row[s] ^ here);                                                                 \
            }                                                                                                                       \
            for (int64_t s = 0; s < n; s++)                                                                                         \
                K[t * padded + s] = (T)(N - 2 * (int64_t)unlike[s]);                                                                \
            for (int64_t s = n; s < padded; s++)                                                                                    \
                K[t * padded + s] = 0;                                                                                              \
        }                                                                                                                           \
        return 0;                                                                                                                   \
    }
DEFINE_PRODUCTS(int16_t, products_int16)
DEFINE_PRODUCTS(int32_t, products_int32)
DEFINE_PRODUCTS(int64_t, products_int64)

/* Count the inputs that go to +1 and to -1 with each pattern, from one of all +1: up and down (n + 1,), where those of each begin. */
EXPORT int64_t KERNEL(count_changes)(int64_t n, int64_t words, const uint32_t *bits, int64_t *up, int64_t *down, uint32_t *last)
{
    memset(last, 0, (size_t)words * sizeof *last);
    up[0] = down[0] = 0;
    for (int64_t t = 0; t < n; t++) {
        up[t + 1] = up[t], down[t + 1] = down[t];
        for (int64_t word = 0; word < words; word++) {
            uint32_t now = bits[t * words + word];
            up[t + 1] += number_of_bits(last[word] & ~now);
            down[t + 1] += number_of_bits(now & ~last[word]);
            last[word] = now;
        }
    }
    return 0;
}

/* List these inputs, of which there are at most 2**15, in the order of the patterns. Returns 1 if there are more than the arrays hold. */
EXPORT int64_t KERNEL(list_changes)(int64_t n, int64_t words, int64_t ups, int64_t downs, const uint32_t *bits, int16_t *up,
                                    int16_t *down, uint32_t *last)
{
    memset(last, 0, (size_t)words * sizeof *last);
    for (int64_t t = 0; t < n; t++)
        for (int64_t word = 0; word < words; word++) {
            uint32_t now = bits[t * words + word], to_up = last[word] & ~now, to_down = now & ~last[word];
            ups -= number_of_bits(to_up), downs -= number_of_bits(to_down);
            if (ups < 0 || downs < 0)
                return 1;
            for (; to_up; to_up &= to_up - 1)
                *up++ = (int16_t)(LANES * word + lowest_bit(to_up));
            for (; to_down; to_down &= to_down - 1)
                *down++ = (int16_t)(LANES * word + lowest_bit(to_down));
            last[word] = now;
        }
    return 0;
}

/* Add to fields (m, n) those of weights[:, first:first + N], for patterns given by changes. Weights are multiples of a power of two,
 * so that their sums are exact in any order (engine/grid.py). */
EXPORT int64_t KERNEL(add_start_fields)(int64_t m, int64_t n, int64_t inputs, double *fields, const double *weights, const int16_t *up,
                                        const int16_t *down, const int64_t *up_starts, const int64_t *down_starts, int64_t first,
                                        int64_t N, double *space)
{
    Eight *columns = (Eight *)space;
    for (int64_t row = 0; row < m; row += SIDE) {
        const int some = (int)least(SIDE, m - row);
        const double *rows[SIDE];
        Eight block[SIDE], now, total = {0};
        for (int side = 0; side < some; side++)
            rows[side] = weights + (row + side) * inputs + first;
        for (int64_t i = 0; i < N; i += 8) {
            load_columns(block, rows, some, i, N - i);
            for (int k = 0; k < (int)least(8, N - i); k++)
                total += columns[i + k] = block[k];
        }
        for (int64_t t = 0; t < n; t++) {
            Eight change = {0};
            for (int64_t k = up_starts[t]; k < up_starts[t + 1]; k++)
                change += columns[up[k]];
            for (int64_t k = down_starts[t]; k < down_starts[t + 1]; k++)
                change -= columns[down[k]];
            block[t % 8] = total += 2 * change;
            if (t % 8 < 7 && t < n - 1)
                continue;
            TURN(block)
            for (int side = 0; side < some; side++) {
                double *here = fields + (row + side) * n + t / 8 * 8;
                load_eight(&now, here, t % 8 + 1);
                now += block[side];
                store_eight(here, &now, t % 8 + 1);
            }
        }
    }
    return 0;
}

/* Add counts X to weights[:, first:first + N], eqs. (6) and (9), for whole numbers `counts` (m, n) and patterns given by changes: each
 * change adds or takes away twice the sum of all counts from its pattern on. */
EXPORT int64_t KERNEL(add_sums)(int64_t m, int64_t inputs, int64_t n, double *weights, const int64_t *counts, const int16_t *up,
                                const int16_t *down, const int64_t *up_starts, const int64_t *down_starts, int64_t first, int64_t N,
                                int64_t *space)
{
    Side *columns = (Side *)space;
    for (int64_t row = 0; row < m; row += SIDE) {
        const int some = (int)least(SIDE, m - row);
        const double *rows[SIDE]; /* of counts: what is turned may be any 64 bits */
        Eight block[SIDE], now;
        Side total = {0};
        for (int side = 0; side < some; side++)
            rows[side] = (const double *)counts + (row + side) * n;
        memset(space, 0, (size_t)(N * SIDE) * sizeof *space);
        for (int64_t t = n - 1; t >= 0; t--) {
            if (t % 8 == 7 || t == n - 1)
                load_columns(block, rows, some, t / 8 * 8, n - t / 8 * 8);
            total += (Side)block[t % 8];
            Side twice = 2 * total;
            for (int64_t k = up_starts[t]; k < up_starts[t + 1]; k++)
                columns[up[k]] += twice;
            for (int64_t k = down_starts[t]; k < down_starts[t + 1]; k++)
                columns[down[k]] -= twice;
        }
        for (int64_t i = 0; i < N; i += 8) {
            for (int k = 0; k < (int)least(8, N - i); k++)
                block[k] = __builtin_convertvector(columns[i + k] + total, Eight);
            TURN(block)
            for (int side = 0; side < some; side++) {
                double *w = weights + (row + side) * inputs + first + i;
                load_eight(&now, w, N - i);
                now += block[side];
                store_eight(w, &now, N - i);
            }
        }
    }
    return 0;
}
