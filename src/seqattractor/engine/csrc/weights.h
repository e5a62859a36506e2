/* The weights form of the exact engine: neurons learn on their weights, for presentations and for long sequences.
 *
 * Weights are in steps of eta on a dyadic grid, on which every sum is exact in double and in any order (engine/grid.py). SIDE
 * neurons are worked on side by side, one in each lane of a vector. They learn SPAN transitions at a time: first their fields at all
 * of them, then, transition by transition, which of them learn, where an update moves the fields of the rest of the span by the
 * overlap x(s) . x(t), and at the end what all updates of the span add to the weights.
 *
 * States are +-1, so both sums are looked up: four inputs have 16 possible sums, which are the same for all transitions of a span, and
 * four transitions change a weight in 16 possible ways, which are the same for all inputs.
 */
#include "bits.h"

#define SPAN 32   /* transitions */

typedef Eight Neurons;
typedef int8_t States __attribute__((vector_size(SIDE)));

/* Write the sums of four vectors with all signs; bit k of the place is set where the sign of the k-th is +. */
INLINE void set_ways(Neurons *ways, const Neurons *of)
{
    ways[0] = -(of[0] + of[1] + of[2] + of[3]);
    for (int k = 0; k < 4; k++) {
        Neurons twice = of[k] + of[k];
        for (int p = 0; p < 1 << k; p++)
            ways[p + (1 << k)] = ways[p] + twice;
    }
}

/* Write patterns x (size, N) of a span in bits: by transitions, rows (SPAN, bytes), and by inputs, columns (SPAN / 8, 8 * bytes). */
static void KERNEL(pack)(const int8_t *x, int64_t size, int64_t N, int64_t bytes, uint8_t *rows, uint8_t *columns)
{
    memset(rows, 0, (size_t)(SPAN * bytes));
    memset(columns, 0, (size_t)(SPAN * bytes));
    for (int64_t t = 0; t < size; t++) {
        uint8_t *restrict column = columns + t / 8 * 8 * bytes;
        for (int64_t j = 0; j < N / 8; j++)
            rows[t * bytes + j] = in_bits(x + t * N + 8 * j, 8);
        if (N % 8)
            rows[t * bytes + N / 8] = in_bits(x + t * N + N / 8 * 8, N % 8);
        for (int64_t k = 0; k < N; k++)
            column[k] |= (uint8_t)((x[t * N + k] > 0) << t % 8);
    }
}

/* Write the overlaps (SPAN, SPAN) of these patterns, x(s) . x(t) for s <= t. */
static void KERNEL(set_overlaps)(const uint8_t *rows, int64_t size, int64_t N, int64_t bytes, double *overlaps)
{
    for (int64_t s = 0; s < size; s++)
        for (int64_t t = s; t < size; t++) {
            int64_t unlike = 0;
            for (int64_t j = 0; j < bytes; j += 8) {
                uint64_t a, b;
                memcpy(&a, rows + s * bytes + j, 8);
                memcpy(&b, rows + t * bytes + j, 8);
                unlike += number_of_bits(a ^ b);
            }
            overlaps[s * SPAN + t] = (double)(N - 2 * unlike);
        }
}

/* Write the fields of SIDE at the transitions of a span, less theta: of 64 inputs at a time, whose sums stay in the first cache. */
static void KERNEL(set_fields)(Neurons *restrict fields, const Neurons *weights, const uint8_t *rows, int64_t size, int64_t bytes,
                               int64_t used, double theta)
{
    _Alignas(64) Neurons ways[8][2][WAYS];
    for (int64_t t = 0; t < size; t++)
        fields[t] = (Neurons){0} - theta;
    for (int64_t j = 0; j < used; j += 8) {
        int some = (int)least(8, used - j);
        for (int k = 0; k < some; k++) {
            set_ways(ways[k][0], weights + 8 * (j + k));
            set_ways(ways[k][1], weights + 8 * (j + k) + 4);
        }
        for (int64_t t = 0; t < size; t++) {
            Neurons low = fields[t], high = {0};
            for (int k = 0; k < some; k++) {
                int byte = rows[t * bytes + j + k];
                low += ways[k][0][byte & 15];
                high += ways[k][1][byte >> 4];
            }
            fields[t] = low + high;
        }
    }
}

/* Add to the weights what the updates `steps` (SPAN) of a span have taught them: eqs. (6) and (9). */
static void KERNEL(add_steps)(Neurons *weights, const Neurons *steps, const uint8_t *columns, int64_t bytes, int64_t N)
{
    _Alignas(64) Neurons ways[SPAN / 4][WAYS];
    for (int g = 0; g < SPAN / 4; g++)
        set_ways(ways[g], steps + 4 * g);
    for (int64_t k = 0; k < N; k++) {
        Neurons low = weights[k], high = {0};
        for (int g = 0; g < SPAN / 8; g++) {
            int byte = columns[g * 8 * bytes + k];
            low += ways[2 * g][byte & 15];
            high += ways[2 * g + 1][byte >> 4];
        }
        weights[k] = low + high;
    }
}

/* Let SIDE learn a span, once their fields are known: eqs. (5)-(7), or (8)-(9), seen by the fields. Writes their updates into
 * steps (SPAN) and, if there are codes, their states after each transition. Returns the number of updates. */
static int64_t KERNEL(learn_span)(Neurons *restrict fields, Neurons *restrict steps, const double *overlaps, int64_t size,
                                  double kappa, const int8_t *targets, int64_t width, int8_t *codes, int64_t code_width,
                                  int64_t neurons)
{
    Neurons total = {0};
    States target = {0}; /* a target of 0, where there is no neuron, is never learned */
    int64_t errors = 0;
    memset(steps, 0, SPAN * sizeof *steps);
    for (int64_t t = 0; t < size; t++) {
        COPY_BYTES(&target, targets + t * width, neurons, SIDE);
        Neurons z = __builtin_convertvector(target, Neurons);
        Flags step = (z * fields[t] <= kappa) & (Flags)z;
        if (is_any_set(&step)) {
            steps[t] = (Neurons)step;
            total += z * steps[t];
            for (int64_t s = t; s < size; s++)
                fields[s] += overlaps[t * SPAN + s] * steps[t];
        }
        if (code_width) {
            States code = __builtin_convertvector(((fields[t] >= 0) & 2) - 1, States);
            COPY_BYTES(codes + t * code_width, &code, neurons, SIDE);
        }
    }
    for (int i = 0; i < SIDE; i++)
        errors += (int64_t)total[i];
    return errors;
}

/* Let neurons with weights (m, N) learn some transitions once, SIDE at a time. Adds to updates (blocks) how many each SIDE has
 * made; those that are settled make none, and their codes are their targets. The neurons have the columns from `column` on of the
 * targets (n, width), and of the codes (n, code_width), which are written if there are any. */
EXPORT int64_t KERNEL(learn_weights)(int64_t m, int64_t N, int64_t blocks, int64_t n, int64_t width,
                                     int64_t code_width, double *weights, const uint8_t *settled, int64_t *updates,
                                     const int8_t *x, const int8_t *targets, int8_t *codes, int64_t column,
                                     double kappa, double theta, uint8_t *rows, uint8_t *columns, double *overlaps,
                                     double *space)
{
    int64_t bytes = (N + 63) / 64 * 8;
    Neurons *side = (Neurons *)space, fields[SPAN], steps[SPAN], block[SIDE];
    (void)blocks;
    for (int64_t t = 0; t < n; t += SPAN) {
        int64_t size = least(SPAN, n - t);
        KERNEL(pack)(x + t * N, size, N, bytes, rows + t * bytes, columns + t * bytes);
        KERNEL(set_overlaps)(rows + t * bytes, size, N, bytes, overlaps + t * SPAN);
    }
    for (int64_t first = 0, b = 0; first < m; first += SIDE, b++) {
        int64_t some = least(SIDE, m - first), before = updates[b];
        const int8_t *z = targets + column + first;
        int8_t *y = codes + column + first;
        const double *starts[SIDE];
        if (settled[b]) {
            for (int64_t t = 0; t < n && code_width; t++)
                memcpy(y + t * code_width, z + t * width, (size_t)some);
            continue;
        }
        for (int64_t i = 0; i < some; i++)
            starts[i] = weights + (first + i) * N;
        for (int64_t k = 0; k < N; k += 8)
            load_columns(side + k, starts, (int)some, k, N - k);
        for (int64_t t = 0; t < n; t += SPAN) {
            int64_t size = least(SPAN, n - t);
            KERNEL(set_fields)(fields, side, rows + t * bytes, size, bytes, (N + 7) / 8, theta);
            int64_t made = KERNEL(learn_span)(fields, steps, overlaps + t * SPAN, size, kappa, z + t * width, width,
                                              y + t * code_width, code_width, some);
            if (made)
                KERNEL(add_steps)(side, steps, columns + t * bytes, bytes, N);
            updates[b] += made;
        }
        for (int64_t k = 0; k < N && updates[b] > before; k += 8) {
            memcpy(block, side + k, sizeof block);
            TURN(block)
            for (int64_t i = 0; i < some; i++)
                store_eight(weights + (first + i) * N + k, &block[i], N - k);
        }
    }
    return 0;
}
