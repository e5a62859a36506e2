/* Visible neurons learn while the codes of the hidden neurons change as a tape says: eqs. (8)-(9). Included for each T and KT.
 *
 * The codes of an epoch are reached from those of the epoch before by flips, all of them at its start. They move the fields of
 * SLOTS rows side by side, so that here what belongs together is a column: the numbers of all slots. */
#include "bits.h"
#include "fields.h"

#ifndef SEQATTRACTOR_REPLAY_H
#define SEQATTRACTOR_REPLAY_H

_Static_assert(SLOTS == 8, "slots are turned into columns as TURN does it");

/* `bound_of` for all slots. Here k = floor(exact), and its bits in k + ROUND are those of the integer. */
INLINE void bounds_of(Eight h0, Side minus, double kappa, double limit, Side *bounds)
{
    const Side sign_bit = (Side){0} + INT64_MIN, one = (Side)((Eight){0} + 1.0);
    const Eight exact = kappa - (Eight)((Side)h0 ^ (minus & sign_bit));
    Eight k = (exact + ROUND) - ROUND;
    k -= (Eight)((Side)(k > exact) & one);
    const Eight lowest = (Eight){0} - limit - 1.0, highest = (Eight){0} + limit;
    const Side below = k < lowest, above = k > highest;
    k = (Eight)(((Side)k & ~below & ~above) | ((Side)lowest & below) | ((Side)highest & above));
    *bounds = ((Side)(k + ROUND) - (Side)((Eight){0} + ROUND)) ^ minus;
}

#endif

/* The numbers of all slots at one place. */
#define Column PAIRED(Column)
typedef T Column __attribute__((vector_size(SLOTS * sizeof(T)), aligned(sizeof(T)), may_alias));

/* Write an array (SLOTS, width) as columns (width, SLOTS). */
static void PAIRED(write_columns_of_slots)(const T *rows, T *columns, int64_t width)
{
    for (int64_t i = 0; i < width; i += SLOTS) {
        Column block[SLOTS];
        UNROLL for (int k = 0; k < SLOTS; k++)
            block[k] = *(const Column *)(rows + k * width + i);
        TURN(block)
        UNROLL for (int k = 0; k < SLOTS; k++)
            *(Column *)(columns + (i + k) * SLOTS) = block[k];
    }
}

/* A column in wide numbers; compilers widen well by a factor of two. */
INLINE Side PAIRED(in_64_bits)(Column column)
{
    typedef int32_t Half __attribute__((vector_size(SLOTS * 4)));
    return __builtin_convertvector(__builtin_convertvector(column, Half), Side);
}

/* Write a column of numbers into rows of slots, `stride` apart. */
INLINE void PAIRED(put)(T *at, int64_t stride, Side wide)
{
    typedef int32_t Half __attribute__((vector_size(SLOTS * 4)));
    const Column column = __builtin_convertvector(__builtin_convertvector(wide, Half), Column);
    UNROLL for (int slot = 0; slot < SLOTS; slot++)
        at[slot * stride] = column[slot];
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
    Eight start = ((const Eight *)g)[t];
    for (int64_t k = group[1]; k < group[2]; k++) {
        sum += PAIRED(in_64_bits)(((const Column *)learned)[flipped[k]]);
        start += ((const Eight *)v0)[flipped[k]];
    }
    for (int64_t k = group[2]; k < group[3]; k++) {
        sum -= PAIRED(in_64_bits)(((const Column *)learned)[flipped[k]]);
        start -= ((const Eight *)v0)[flipped[k]];
    }
    ((Eight *)g)[t] = start;
    uint32_t lost = 0;
    Column now = {0};
    Side bounds;
    bounds_of(start, PAIRED(in_64_bits)(((const Column *)flip)[t]), kappa, (double)limit, &bounds);
    UNROLL for (int slot = 0; slot < SLOTS; slot++)
        now[slot] = f[slot * padded + t];
    const Side value = PAIRED(in_64_bits)(now) + 2 * sum;
    PAIRED(put)(f + t, padded, value);
    PAIRED(put)(bound + t, padded, bounds);
    const Flags over = (value > limit) | (value < -limit);
    if (is_any_set(&over))
        for (int slot = 0; slot < SLOTS; slot++)
            lost |= (uint32_t)(over[slot] & 1) << slot;
    return lost;
}

/* Add the updates at transition t, for each bit t, to a row of integer weights: +-y(t), given as words of bits (1 stands for -1). */
static void PAIRED(add_weights)(T *c, const T *flip, const uint32_t *codes, int64_t words, uint32_t updates)
{
    const uint32_t *at[LANES];
    uint32_t sign[LANES];
    int number = 0;
    for (; updates; updates &= updates - 1, number++) {
        const int t = lowest_bit(updates);
        at[number] = codes + t * words, sign[number] = (uint32_t)flip[t];
    }
    const T total = (T)number;
    for (int64_t word = 0; word < words; word++) {
        Lanes minus = {0};
        for (int k = 0; k < number; k++) {
            const uint32_t bits = at[k][word] ^ sign[k];
            UNROLL for (int p = 0; p < PARTS; p++)
                minus.part[p] = PAIRED(less_bits)(minus.part[p], bits, p);
        }
        UNROLL for (int p = 0; p < PARTS; p++) /* as many ones, less 2 for each that is minus */
            *(Reg *)(c + word * LANES + p * PER_REG) += 2 * minus.part[p] + total;
    }
}

/* Learn `rows` of V for the epochs of a tape.
 *
 * Epoch e has the codes Y[version[e]] (n, words of bits) with Gram matrix K[version[e]] (n, padded), given also as ahead[version[e]]
 * (see `look_ahead`). They are reached from those of the epoch before by the flips groups[group_start[e]:group_start[e + 1]] (see
 * `sort_flips`). Of each row: targets x, start weights V and, changed in place, start fields g0, fields with their bounds and room, and
 * the integer weights C, to which updates are added. Rows side by side are in the same epoch. Writes the state of each row, and errors
 * (epochs,), added to what is there. Rows that end NARROW are left as they were. Returns -1 if groups do not fit. */
EXPORT int64_t PAIRED(replay_rows)(int64_t n, int64_t padded, int64_t words, int64_t epochs, int64_t number, int64_t some, int64_t m,
                                   int64_t M, int64_t width, const KT *K, const KT *ahead, const uint32_t *Y, const int64_t *version,
                                   const int32_t *flipped, const int64_t *groups, const int64_t *group_start, const int64_t *rows,
                                   const int8_t *x, const double *V, double *g0, T *fields, T *bounds, int64_t *room, T *C,
                                   int64_t *errors, uint8_t *state, int64_t step, int64_t limit, double kappa, T *space,
                                   T *c, T *learned, double *reals, T *flip_columns, int32_t *row_errors)
{
    T *f = space, *flip = space + SLOTS * padded, *bound = space + 2 * SLOTS * padded;
    double *v0 = reals, *g = v0 + SLOTS * width;
    const int any_flip = group_start[epochs] > group_start[0];
    (void)m;
    if (!groups_fit(groups, group_start, epochs, n, number))
        return -1;
    for (int64_t first = 0; first < some; first += SLOTS) {
        const int taken = (int)least(SLOTS, some - first);
        int64_t left[SLOTS] = {0}, room_of_c[SLOTS] = {0};
        uint32_t updated[SLOTS], lost = ((uint32_t)1 << SLOTS) - ((uint32_t)1 << taken);
        memset(flip, 0, (size_t)(SLOTS * padded) * sizeof *flip);
        if (taken < SLOTS) /* slots without a row compute with zeros */
            memset(c, 0, (size_t)(SLOTS * width) * sizeof *c);
        memset(row_errors, 0, (size_t)(SLOTS * epochs) * sizeof *row_errors);
        const double *starts[SLOTS], *start_fields[SLOTS];
        Eight block[SLOTS];
        for (int slot = 0; slot < taken; slot++) {
            const int64_t j = rows[first + slot];
            memcpy(f + slot * padded, fields + j * padded, (size_t)padded * sizeof *f);
            memcpy(bound + slot * padded, bounds + j * padded, (size_t)padded * sizeof *f);
            memcpy(c + slot * width, C + j * width, (size_t)width * sizeof *c);
            for (int64_t t = 0; t < n; t++)
                flip[slot * padded + t] = (T)(x[j * n + t] >> 1);
            starts[slot] = V + j * M, start_fields[slot] = g0 + j * n, left[slot] = room[j];
        }
#define SILENCE_LOST                                                                        \
    for (int slot = 0; slot < SLOTS; slot++)                                                \
        if (lost >> slot & 1)                                                               \
            for (int64_t t = slot * padded; t < (slot + 1) * padded; t++)                   \
                f[t] = 0, flip[t] = 0, bound[t] = (T)(-limit - 1);
        SILENCE_LOST
        if (any_flip) {
            for (int64_t i = 0; i < M; i += SLOTS) {
                load_columns(block, starts, taken, i, M - i);
                UNROLL for (int k = 0; k < SLOTS; k++)
                    ((Eight *)v0)[i + k] = 2 * block[k]; /* a flip moves a code by 2 */
            }
            for (int64_t t = 0; t < n; t += SLOTS) {
                load_columns(block, start_fields, taken, t, n - t);
                memcpy(g + t * SLOTS, block, sizeof block);
            }
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
