/* Visible neurons learn while the codes of the hidden neurons change as a tape says: eqs. (8)-(9). Included for each T and KT.
 *
 * The codes of an epoch are reached from those of the epoch before by flips, all of them at its start. They move the fields of
 * SLOTS rows side by side, so that here what belongs together is a column: the numbers of all slots. */
#include "bits.h"
#include "fields.h"

#ifndef SEQATTRACTOR_REPLAY_H
#define SEQATTRACTOR_REPLAY_H

typedef double Reals __attribute__((vector_size(8 * SLOTS), aligned(8)));

/* Define a function that writes an array (SLOTS, width) as columns (width, SLOTS), by perfect shuffles of square blocks. */
#define ZIP_8_LOWER(a, b) __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11)
#define ZIP_8_UPPER(a, b) __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15)
#define DEFINE_COLUMNS(name, number)                                                                              \
    static void name(const number *rows, number *columns, int64_t width)                                          \
    {                                                                                                             \
        typedef number Row __attribute__((vector_size(SLOTS * sizeof(number)), aligned(sizeof(number)), may_alias)); \
        for (int64_t i = 0; i < width; i += SLOTS) {                                                              \
            Row block[SLOTS], shuffled[SLOTS];                                                                    \
            UNROLL for (int k = 0; k < SLOTS; k++)                                                                \
                block[k] = *(const Row *)(rows + k * width + i);                                                  \
            UNROLL for (int round = 0; round < 3; round++) {                                                      \
                UNROLL for (int k = 0; k < SLOTS / 2; k++) {                                                      \
                    shuffled[2 * k] = ZIP_8_LOWER(block[k], block[k + SLOTS / 2]);                                \
                    shuffled[2 * k + 1] = ZIP_8_UPPER(block[k], block[k + SLOTS / 2]);                            \
                }                                                                                                 \
                UNROLL for (int k = 0; k < SLOTS; k++)                                                            \
                    block[k] = shuffled[k];                                                                       \
            }                                                                                                     \
            UNROLL for (int k = 0; k < SLOTS; k++)                                                                \
                *(Row *)(columns + (i + k) * SLOTS) = block[k];                                                   \
        }                                                                                                         \
    }
DEFINE_COLUMNS(write_columns_of_reals, double)

/* `bound_of` for all slots, for fields whose bounds rounding has no say in: |h0| + kappa below 2**30, and not near to a whole
 * number. The bits of `sure` are set where that is so. Here k = floor(exact), and its bits in k + ROUND are those of the integer. */
INLINE void bounds_of(Reals h0, Side minus, double kappa, double limit, Side *bounds, Side *sure)
{
    const Side sign_bit = (Side){0} + INT64_MIN, one = (Side)((Reals){0} + 1.0);
    const Reals exact = kappa - (Reals)((Side)h0 ^ (minus & sign_bit)), size = (Reals)((Side)h0 & ~sign_bit) + kappa;
    Reals k = (exact + ROUND) - ROUND;
    k -= (Reals)((Side)(k > exact) & one);
    const Reals rest = exact - k, lowest = (Reals){0} - limit - 1.0, highest = (Reals){0} + limit;
    *sure = (size < 1073741824.0) & ((h0 == 0.0) | ((rest > 1e-6) & (rest < 1 - 1e-6)));
    const Side below = k < lowest, above = k > highest;
    k = (Reals)(((Side)k & ~below & ~above) | ((Side)lowest & below) | ((Side)highest & above));
    *bounds = ((Side)(k + ROUND) - (Side)((Reals){0} + ROUND)) ^ minus;
}

#endif

DEFINE_COLUMNS(PAIRED(write_columns_of_slots), T)

/* A column in wide numbers; compilers widen well by a factor of two. */
INLINE Side PAIRED(in_64_bits)(const T *column)
{
    typedef T Column __attribute__((vector_size(SLOTS * sizeof(T)), aligned(sizeof(T)), may_alias));
#if FIELD_BITS == 64
    return *(const Column *)column;
#else
    typedef int32_t Half __attribute__((vector_size(SLOTS * 4)));
    return __builtin_convertvector(__builtin_convertvector(*(const Column *)column, Half), Side);
#endif
}

/* Let a group of flips (t, start, start of those to -1, end) move what all slots have at t, to V . y(t) with the new code y(t).
 *
 * f[:, t] moves by twice the learned weights of the inputs that flip, g[t] by the start weights v0, which are doubled already; both
 * are given in columns. bound[:, t] is that of g[t]. Returns the bits of slots whose integers are too narrow. */
INLINE uint32_t PAIRED(flip_group)(T *f, T *bound, const T *flip, double *g, const T *learned, const double *v0,
                                   const int32_t *flipped, const int64_t *group, int64_t padded, double kappa, int64_t limit)
{
    const int64_t t = group[0];
    Side sum = {0};
    Reals start = *(const Reals *)(g + t * SLOTS);
    for (int64_t k = group[1]; k < group[2]; k++) {
        sum += PAIRED(in_64_bits)(learned + (int64_t)flipped[k] * SLOTS);
        start += *(const Reals *)(v0 + (int64_t)flipped[k] * SLOTS);
    }
    for (int64_t k = group[2]; k < group[3]; k++) {
        sum -= PAIRED(in_64_bits)(learned + (int64_t)flipped[k] * SLOTS);
        start -= *(const Reals *)(v0 + (int64_t)flipped[k] * SLOTS);
    }
    *(Reals *)(g + t * SLOTS) = start;
    uint32_t lost = 0;
    int64_t value[SLOTS], highest = 0, lowest = 0;
    Side sure, bounds;
    bounds_of(start, PAIRED(in_64_bits)(flip + t * SLOTS), kappa, (double)limit, &bounds, &sure);
    UNROLL for (int slot = 0; slot < SLOTS; slot++) {
        value[slot] = f[slot * padded + t] + 2 * sum[slot];
        highest = most(highest, value[slot]);
        lowest = least(lowest, value[slot]);
        f[slot * padded + t] = (T)value[slot];
        bound[slot * padded + t] = (T)bounds[slot];
    }
    if (highest > limit || lowest < -limit)
        for (int slot = 0; slot < SLOTS; slot++)
            lost |= (uint32_t)(value[slot] > limit || value[slot] < -limit) << slot;
    const Flags unsure = ~sure;
    if (is_any_set(&unsure))
        for (int slot = 0; slot < SLOTS; slot++)
            bound[slot * padded + t] = (T)bound_of(1 + 2 * flip[t * SLOTS + slot], start[slot], kappa, limit);
    return lost;
}

/* Add the updates at transition t, for each bit t, to a row of integer weights: +-y(t), given as words of bits (1 stands for -1). */
static void PAIRED(add_weights)(T *c, const T *flip, const uint32_t *codes, int64_t words, uint32_t updates)
{
    const T total = (T)number_of_bits(updates);
    for (int64_t word = 0; word < words; word++) {
        Lanes minus = {0};
        for (uint32_t left = updates; left; left &= left - 1) {
            const int t = lowest_bit(left);
            const uint32_t bits = codes[t * words + word] ^ (uint32_t)flip[t];
            UNROLL for (int p = 0; p < PARTS; p++)
                minus.part[p] += PAIRED(lanes_of_bits)(bits, p);
        }
        UNROLL for (int p = 0; p < PARTS; p++) /* as many ones, less 2 for each that is minus */
            *(Reg *)(c + word * LANES + p * PER_REG) += 2 * minus.part[p] + total;
    }
}

/* Learn `rows` of V for the epochs of a tape.
 *
 * Epoch e has the codes Y[version[e]] (n, words of bits) with Gram matrix K[version[e]] (n, padded), given also as ahead[version[e]]
 * (see `look_ahead`). They are reached from those of the epoch before by the flips groups[group_start[e]:group_start[e + 1]] (see
 * `sort_flips`). Of each row: targets x, start weights V, on the grid rint(V * factor) / scale, and, changed in place: start fields
 * g0, fields with their bounds and room, and the integer weights C, to which updates are added. Rows side by side are in the same
 * epoch. Writes the state of each row, and errors (epochs,), added to what is there. Rows that end NARROW are left as they were.
 * Returns -1 if groups do not fit. */
EXPORT int64_t PAIRED(replay_rows)(int64_t n, int64_t padded, int64_t words, int64_t epochs, int64_t number, int64_t some, int64_t m,
                                   int64_t M, int64_t width, const KT *K, const KT *ahead, const uint32_t *Y, const int64_t *version,
                                   const int32_t *flipped, const int64_t *groups, const int64_t *group_start, const int64_t *rows,
                                   const int8_t *x, const double *V, double *g0, T *fields, T *bounds, int64_t *room, T *C,
                                   int64_t *errors, uint8_t *state, int64_t step, int64_t limit, double kappa, double factor,
                                   double scale, T *space, T *c, T *learned, double *reals, T *flip_columns, int32_t *row_errors)
{
    T *f = space, *flip = space + SLOTS * padded, *bound = space + 2 * SLOTS * padded;
    double *rows_of_V = reals, *v0 = rows_of_V + SLOTS * width, *rows_of_g = v0 + SLOTS * width, *g = rows_of_g + SLOTS * padded;
    const int any_flip = group_start[epochs] > group_start[0];
    const double unit = 2 / scale; /* a power of 2: a flip moves a code by 2 */
    (void)m;
    if (!groups_fit(groups, group_start, epochs, n, number))
        return -1;
    for (int64_t first = 0; first < some; first += SLOTS) {
        const int taken = (int)least(SLOTS, some - first);
        int64_t left[SLOTS] = {0}, room_of_c[SLOTS] = {0};
        uint32_t updated[SLOTS], lost = ((uint32_t)1 << SLOTS) - ((uint32_t)1 << taken);
        memset(flip, 0, (size_t)(SLOTS * padded) * sizeof *flip);
        if (taken < SLOTS) { /* slots without a row compute with zeros */
            memset(c, 0, (size_t)(SLOTS * width) * sizeof *c);
            memset(reals, 0, (size_t)(2 * SLOTS * (width + padded)) * sizeof *reals);
        }
        memset(row_errors, 0, (size_t)(SLOTS * epochs) * sizeof *row_errors);
        for (int slot = 0; slot < taken; slot++) {
            const int64_t j = rows[first + slot];
            memcpy(f + slot * padded, fields + j * padded, (size_t)padded * sizeof *f);
            memcpy(bound + slot * padded, bounds + j * padded, (size_t)padded * sizeof *f);
            memcpy(c + slot * width, C + j * width, (size_t)width * sizeof *c);
            for (int64_t t = 0; t < n; t++)
                flip[slot * padded + t] = (T)(x[j * n + t] >> 1);
            if (any_flip) {
                memcpy(rows_of_g + slot * padded, g0 + j * n, (size_t)n * sizeof *g);
                for (int64_t i = 0; i < M; i++)
                    rows_of_V[slot * width + i] = ((V[j * M + i] * factor + ROUND) - ROUND) * unit;
            }
            left[slot] = room[j];
        }
#define SILENCE_LOST                                                                        \
    for (int slot = 0; slot < SLOTS; slot++)                                                \
        if (lost >> slot & 1)                                                               \
            for (int64_t t = slot * padded; t < (slot + 1) * padded; t++)                   \
                f[t] = 0, flip[t] = 0, bound[t] = (T)(-limit - 1);
        SILENCE_LOST
        if (any_flip) {
            write_columns_of_reals(rows_of_V, v0, width);
            write_columns_of_reals(rows_of_g, g, padded);
            PAIRED(write_columns_of_slots)(flip, flip_columns, padded);
        }
        int quiet = 0, up_to_date = 0; /* whether nobody was updated, and whether `learned` are the columns of c */
        for (int64_t e = 0; e < epochs; e++) {
            if (group_start[e + 1] > group_start[e]) {
                if (!up_to_date)
                    PAIRED(write_columns_of_slots)(c, learned, width);
                up_to_date = 1;
                for (int64_t k = group_start[e]; k < group_start[e + 1]; k++)
                    lost |= PAIRED(flip_group)(f, bound, flip_columns, g, learned, v0, flipped, groups + 4 * k, padded, kappa, limit);
                SILENCE_LOST
                memset(left, 0, sizeof left);
            } else if (quiet)
                continue;
            quiet = 1;
            for (int64_t base = 0; base < padded; base += LANES) {
                const int64_t row = version[e] * n + base;
                PAIRED(decide)(f + base, flip + base, bound + base, NULL, padded, ahead + (version[e] * padded + base) * AHEAD, updated,
                               NULL);
                for (int slot = 0; slot < taken; slot++) {
                    const uint32_t mask = updated[slot] & lanes_left(n - base);
                    const int64_t at = slot * padded, number = number_of_bits(mask);
                    if (!mask)
                        continue;
                    quiet = up_to_date = 0;
                    if (room_of_c[slot] < number)
                        room_of_c[slot] = PAIRED(room_for)(c + slot * width, width, limit, 1);
                    room_of_c[slot] -= number;
                    if (room_of_c[slot] < 0
                        || !PAIRED(add)(f + at, flip + at + base, K + row * padded, padded, mask, &left[slot], limit, step)) {
                        lost |= (uint32_t)1 << slot;
                        SILENCE_LOST
                        continue;
                    }
                    PAIRED(add_weights)(c + slot * width, flip + at + base, Y + row * words, words, mask);
                    row_errors[slot * epochs + e] += (int32_t)number;
                }
            }
        }
        for (int slot = 0; slot < taken; slot++) {
            const int64_t j = rows[first + slot];
            state[first + slot] = lost >> slot & 1 ? NARROW : RUNNING;
            if (lost >> slot & 1)
                continue;
            room[j] = left[slot];
            for (int64_t e = 0; e < epochs; e++)
                errors[e] += row_errors[slot * epochs + e];
            memcpy(fields + j * padded, f + slot * padded, (size_t)padded * sizeof *f);
            memcpy(bounds + j * padded, bound + slot * padded, (size_t)padded * sizeof *f);
            memcpy(C + j * width, c + slot * width, (size_t)width * sizeof *c);
            for (int64_t t = 0; any_flip && t < n; t++)
                g0[j * n + t] = g[t * SLOTS + slot];
        }
    }
    return 0;
}
