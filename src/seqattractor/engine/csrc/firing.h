/* The states of threshold neurons for many inputs at once (firing.py), by whole numbers, in which sums are exact.
 *
 * Each neuron's weights are rounded to whole numbers in a unit of its own, a power of two so coarse that every sum of them stays below
 * 2**SUM_BITS. What is wrong with a sum is then at most what rounding took off the weights, a known number. A sum further than this from
 * the threshold, and further than float64 itself may err, decides as float64 does; the others are left to the caller.
 */
#include "bits.h"
#include "walk.h"

#define SUM_BITS 30
#define ABREAST 16 /* neurons */

typedef int32_t Sums __attribute__((vector_size(4 * ABREAST), aligned(4)));
typedef int32_t Whole __attribute__((vector_size(32), aligned(4)));
typedef int8_t Answers __attribute__((vector_size(ABREAST)));

#define SIZE(v) ((Eight)((Flags)(v) & INT64_MAX))

INLINE double sum_of_eight(const Eight *v)
{
    double total = 0;
    for (int i = 0; i < 8; i++)
        total += (*v)[i];
    return total;
}

/* The sum of the sizes of n numbers; -1 if one is neither 0 nor of a size that can be multiplied by the units of others. */
static double KERNEL(size_of)(const double *w, int64_t n)
{
    Eight total = {0}, v;
    Flags strange = {0};
    for (int64_t k = 0; k < n; k += 8) {
        load_eight(&v, w + k, n - k);
        total += SIZE(v);
        strange |= (v != 0) & ~((SIZE(v) > 1e-100) & (SIZE(v) < 1e100));
    }
    return is_any_set(&strange) ? -1 : sum_of_eight(&total);
}

/* Round n weights to whole numbers of a unit; returns what was taken off in all, and the sum of the numbers. Writes up to the next
 * multiple of 8. */
static double KERNEL(round_row)(const double *w, int64_t n, double unit, int32_t *whole, double *total)
{
    Eight lost = {0}, sums = {0}, v;
    for (int64_t k = 0; k < n; k += 8) {
        load_eight(&v, w + k, n - k);
        Eight scaled = v * unit, rounded = (scaled + ROUND) - ROUND;
        Whole numbers = __builtin_convertvector(rounded, Whole);
        lost += SIZE(scaled - rounded);
        sums += rounded;
        memcpy(whole + k, &numbers, sizeof numbers);
    }
    *total = sum_of_eight(&sums);
    return sum_of_eight(&lost);
}

/* The sum over active inputs from which on W x >= bound, for inputs of `low` and 1. */
INLINE int32_t least_sum(double bound, int64_t total, int64_t low)
{
    double most = (double)(1 << SUM_BITS), limit = ceil(bound);
    int64_t whole = (int64_t)(limit > most ? most : limit < -most ? -most : limit);
    return (int32_t)(low < 0 ? (whole + total + 1) >> 1 : whole); /* W x = 2 (sum of the active) - (sum of all) */
}

/* Round the weights (neurons, inputs) of a layer, whose neurons fire where W x + offset >= 0, for inputs of `low`, -1 or 0, and 1.
 * Returns 1 if a weight or an offset is too large or too small for that. */
EXPORT int64_t KERNEL(round_layer)(int64_t neurons, int64_t inputs, int64_t padded, const double *W, const double *offset,
                                   int32_t *whole, int32_t *surely, int32_t *perhaps, int64_t low, int32_t *rows)
{
    int64_t stride = (inputs + 7) / 8 * 8;
    if (KERNEL(size_of)(offset, neurons) < 0)
        return 1;
    for (int64_t first = 0; first < padded; first += ABREAST) {
        for (int64_t i = 0; i < ABREAST; i++) {
            int64_t neuron = first + i;
            if (neuron >= neurons) { /* nobody reaches that */
                surely[neuron] = perhaps[neuron] = 1 << SUM_BITS;
                memset(rows + i * stride, 0, (size_t)stride * sizeof *rows);
                continue;
            }
            const double *w = W + neuron * inputs;
            double size = KERNEL(size_of)(w, inputs), total;
            int exponent;
            if (size < 0)
                return 1;
            frexp(size * (1 + (double)inputs * 0x1p-29), &exponent); /* rounding may add half a unit for each weight */
            double unit = ldexp(1, SUM_BITS - exponent), threshold = -offset[neuron] * unit;
            double lost = KERNEL(round_row)(w, inputs, unit, rows + i * stride, &total);
            /* What float64 may err by in adding up terms, here and there, twice over. Whole numbers it adds without an error. */
            double rounding = 0x1p-51 * (double)(inputs + 8) * ((double)(1 << SUM_BITS) + fabs(threshold));
            double doubt = lost > 0 ? lost + rounding : 0;
            surely[neuron] = least_sum(threshold + doubt, (int64_t)total, low);
            perhaps[neuron] = least_sum(threshold - doubt, (int64_t)total, low);
        }
        for (int64_t k = 0; k < inputs; k++)
            for (int64_t i = 0; i < ABREAST; i++)
                whole[k * padded + first + i] = rows[i * stride + k];
    }
    return 0;
}

/* Write the sums of all choices of four weights; bit k of the place is set where the k-th is chosen. */
INLINE void set_choices(Sums *ways, const Sums *of)
{
    ways[0] = (Sums){0};
    for (int k = 0; k < 4; k++)
        for (int p = 0; p < 1 << k; p++)
            ways[p + (1 << k)] = ways[p] + of[k];
}

/* Add to the sums (states) of ABREAST neurons their weights of 64 inputs, whose 16 sums of every four are looked up. */
static void KERNEL(add_inputs)(Sums *sums, const int32_t *W, int64_t padded, int64_t inputs, const uint8_t *bits, int64_t bytes,
                               int64_t states)
{
    _Alignas(64) Sums ways[8][2][WAYS], weights[8];
    int some = (int)least(8, (inputs + 7) / 8);
    for (int k = 0; k < some; k++) {
        for (int i = 0; i < 8; i++)
            weights[i] = 8 * k + i < inputs ? *(const Sums *)(W + (8 * k + i) * padded) : (Sums){0};
        set_choices(ways[k][0], weights);
        set_choices(ways[k][1], weights + 4);
    }
    for (int64_t b = 0; b < states; b++) {
        Sums low = sums[b], high = {0};
        for (int k = 0; k < some; k++) {
            int byte = bits[b * bytes + k];
            low += ways[k][0][byte & 15];
            high += ways[k][1][byte >> 4];
        }
        sums[b] = low + high;
    }
}

/* Write the answers (states, neurons), 1 or `silent`, of a rounded layer to x (states, inputs) of `low` and 1. Sets doubtful (states)
 * to 1 where a sum does not decide, and returns their number; -1 if x has other states. */
EXPORT int64_t KERNEL(respond)(int64_t inputs, int64_t padded, int64_t states, int64_t neurons, const KERNEL(Layer) *layer,
                               const int8_t *x, int8_t *answers, uint8_t *doubtful, int64_t low, int64_t silent, uint8_t *bits,
                               int32_t *space)
{
    int64_t bytes = (inputs + 7) / 8, number = 0;
    Sums *sums = (Sums *)space;
    for (int64_t b = 0; b < states; b++) {
        const int8_t *state = x + b * inputs;
        int strange = 0;
        doubtful[b] = 0;
        for (int64_t k = 0; k < inputs; k++)
            strange |= state[k] != 1 && state[k] != low;
        if (strange)
            return -1;
        for (int64_t j = 0; j < inputs / 8; j++)
            bits[b * bytes + j] = in_bits(state + 8 * j, 8);
        if (inputs % 8)
            bits[b * bytes + inputs / 8] = in_bits(state + inputs / 8 * 8, inputs % 8);
    }
    for (int64_t first = 0; first < neurons; first += ABREAST) {
        Sums surely = *(const Sums *)(layer->surely + first), perhaps = *(const Sums *)(layer->perhaps + first);
        memset(sums, 0, (size_t)states * sizeof *sums);
        for (int64_t k = 0; k < inputs; k += 64)
            KERNEL(add_inputs)(sums, layer->W + k * padded + first, padded, inputs - k, bits + k / 8, bytes, states);
        for (int64_t b = 0; b < states; b++) {
            Sums fires = sums[b] >= surely;
            Flags open = (Flags)((sums[b] >= perhaps) ^ fires);
            Answers answer = __builtin_convertvector((fires & (int32_t)(1 - silent)) + (int32_t)silent, Answers);
            COPY_BYTES(answers + b * neurons + first, &answer, least(ABREAST, neurons - first), ABREAST);
            if (is_any_set(&open))
                doubtful[b] = 1;
        }
    }
    for (int64_t b = 0; b < states; b++)
        number += doubtful[b];
    return number;
}
