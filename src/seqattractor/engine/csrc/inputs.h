/* Fields of patterns that neurons learn from, by what changes from one pattern to the next.
 *
 * Patterns come in bits (n, words), where 1 stands for -1. An input keeps its value from a change to the next one, so that a film,
 * in which little changes, is summed up in a fraction of the additions that a matrix product takes.
 */
#include "bits.h"

/* List the inputs, of which there are at most 2**15, that go to +1 and to -1 with each pattern, from one of all +1. Those of
 * pattern t begin at up_starts[t] (n + 1,) and down_starts[t]. */
static void KERNEL(list_changes)(int64_t n, int64_t words, const uint32_t *bits, int16_t *up, int16_t *down,
                                 int64_t *up_starts, int64_t *down_starts)
{
    int64_t ups = 0, downs = 0;
    for (int64_t t = 0; t < n; t++) {
        up_starts[t] = ups, down_starts[t] = downs;
        for (int64_t word = 0; word < words; word++) {
            uint32_t last = t ? bits[(t - 1) * words + word] : 0, now = bits[t * words + word];
            uint32_t to_up = last & ~now, to_down = now & ~last;
            for (; to_up; to_up &= to_up - 1)
                up[ups++] = (int16_t)(LANES * word + lowest_bit(to_up));
            for (; to_down; to_down &= to_down - 1)
                down[downs++] = (int16_t)(LANES * word + lowest_bit(to_down));
        }
    }
    up_starts[n] = ups, down_starts[n] = downs;
}

/* Add to fields (m, n) those of weights[:, first:first + N] for patterns in bits. Weights are multiples of a power of two, so
 * that their sums are exact in any order (engine/grid.py). */
EXPORT int64_t KERNEL(add_start_fields)(int64_t m, int64_t n, int64_t inputs, int64_t words, double *fields,
                                        const double *weights, const uint32_t *bits, int64_t first, int64_t N,
                                        int16_t *up, int16_t *down, int64_t *up_starts, int64_t *down_starts,
                                        double *space)
{
    Eight *columns = (Eight *)space;
    KERNEL(list_changes)(n, words, bits, up, down, up_starts, down_starts);
    memset(columns + N, 0, (size_t)(LANES * words - N) * sizeof *columns);
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
