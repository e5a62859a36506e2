/* The exact engine on fields: rows (neurons) learn some epochs on fixed inputs. Included once for each pair of T and KT.
 *
 * A row sees only its integer fields f(t) = sum_s c(s) K(t, s), where c(s) counts its signed updates and K is the Gram matrix of
 * its inputs; an update at t adds +-K[t] to the row of fields. A margin of eqs. (5), (8) is violated if (f <= bound) != (flip < 0),
 * with flip = 0 for a target +1 and -1 for a target -1.
 *
 * Learning a row is a chain: an update moves the fields that tell where the next one is. So LANES transitions at a time it is done
 * in two steps. First the updates among these transitions are found from their own fields alone, held in registers: by `decide`
 * for SLOTS rows in turns, so that while one waits for its next violation the others go on, or by `decide_columns` for ROWS rows at
 * once, which takes no jump that depends on the data and is faster where there are many updates. Then `add_updates` adds them to
 * the whole row, where nothing waits for anything. Before it does, `room` says how many updates cannot leave the integer type of
 * the fields; a row that runs out of room is left as it was and reported as NARROW, so that it can be done again in a wider type.
 */
#include "bounds.h"
#include "registers.h"

#ifndef SEQATTRACTOR_FIELDS_H
#define SEQATTRACTOR_FIELDS_H

#define SLOTS 8
#define ROWS 64                /* two registers of narrow numbers: while one waits for what was decided, the other goes on */

#define MANY (3 * ROWS)        /* updates of ROWS rows at LANES transitions; with more in the last epoch, columns are faster */
#define CHUNK 4                /* transitions whose fields and updates are held in registers */

enum { RUNNING, SETTLED, NARROW, FULL }; /* goes on; had an epoch without update; needs a wider integer; more room for flips */

#endif

/* Find the updates of SLOTS rows at LANES transitions, as bits in updated[slot].
 *
 * f, flip, bound and edge point to the first of these transitions in the first row; rows are `stride` apart. What an update adds to
 * the fields of later transitions among these is in the rows of `ahead` (see `look_ahead`). Each step is one update of each row
 * that has one left. No field is moved by its own update or a later one, so that in the end all are as they were when their turn
 * came, and one more test of them tells which were updated. The bits of wrong[slot] are those of them whose code differs from the
 * target after the update; edge may be NULL. The fields in memory stay as they are: should they leave their type here, `room_for`
 * will say so before they are changed. */
INLINE void PAIRED(decide)(const T *f, const T *flip, const T *bound, const T *edge, int64_t stride, const KT *ahead,
                          uint32_t *updated, uint32_t *wrong)
{
    const Lanes none = {0};
    Lanes fields[SLOTS], bounds[SLOTS];
    uint32_t minus[SLOTS], violated[SLOTS], left = 0;
    UNROLL for (int k = 0; k < SLOTS; k++) {
        minus[k] = ~PAIRED(le_bits)(none, PAIRED(load)(flip + k * stride));
        bounds[k] = PAIRED(load)(bound + k * stride);
        fields[k] = PAIRED(load)(f + k * stride);
        violated[k] = PAIRED(le_bits)(fields[k], bounds[k]) ^ minus[k];
        left |= violated[k];
    }
    while (left) {
        left = 0;
        UNROLL for (int k = 0; k < SLOTS; k++) {
            const int t = lowest_bit(violated[k] | (uint64_t)1 << LANES); /* LANES, a row of zeros, if none is left */
            const uint64_t row = 2 * (uint64_t)t + ((uint64_t)minus[k] >> t & 1);
            fields[k] = PAIRED(plus)(fields[k], PAIRED(load_K)(ahead + row * LANES));
            const uint32_t later = ~(violated[k] ^ (violated[k] - 1));
            violated[k] = (PAIRED(le_bits)(fields[k], bounds[k]) ^ minus[k]) & later;
            left |= violated[k];
        }
    }
    UNROLL for (int k = 0; k < SLOTS; k++) {
        updated[k] = PAIRED(le_bits)(fields[k], bounds[k]) ^ minus[k];
        if (edge)
            wrong[k] = (PAIRED(le_bits)(fields[k], PAIRED(load)(edge + k * stride)) ^ minus[k]) & updated[k];
    }
}

/* Add the updates at t, for each bit t, to some vectors of a row of fields: K[t], or minus that where flip[t] is -1. */
INLINE void PAIRED(add_to)(T *f, const int vectors, const T *flip, const KT *K, int64_t padded, uint32_t updates)
{
    Lanes sum[8];
    T subtracted = 0;
    UNROLL for (int k = 0; k < vectors; k++)
        sum[k] = PAIRED(load)(f + k * LANES);
    for (; updates; updates &= updates - 1) {
        const int t = lowest_bit(updates);
        const T sign = flip[t]; /* -K is (K ^ -1) + 1, and the ones are added at the end */
        subtracted = (T)(subtracted - sign);
        UNROLL for (int k = 0; k < vectors; k++)
            sum[k] = PAIRED(plus_signed)(sum[k], PAIRED(load_K)(K + t * padded + k * LANES), sign);
    }
    UNROLL for (int k = 0; k < vectors; k++)
        PAIRED(store)(f + k * LANES, PAIRED(plus_number)(sum[k], subtracted));
}

/* Add them to a whole row. Not inlined: three copies for each pair of types would take the compiler a third of its time. */
static __attribute__((noinline)) void PAIRED(add_updates)(T *f, const T *flip, const KT *K, int64_t padded, uint32_t updates)
{
    int64_t left = padded / LANES;
    for (; left > 8; left -= 8, f += 8 * LANES, K += 8 * LANES)
        PAIRED(add_to)(f, 8, flip, K, padded, updates);
    switch (left) { /* a number that the compiler knows: sums are then held in registers */
    case 1: PAIRED(add_to)(f, 1, flip, K, padded, updates); break;
    case 2: PAIRED(add_to)(f, 2, flip, K, padded, updates); break;
    case 3: PAIRED(add_to)(f, 3, flip, K, padded, updates); break;
    case 4: PAIRED(add_to)(f, 4, flip, K, padded, updates); break;
    case 5: PAIRED(add_to)(f, 5, flip, K, padded, updates); break;
    case 6: PAIRED(add_to)(f, 6, flip, K, padded, updates); break;
    case 7: PAIRED(add_to)(f, 7, flip, K, padded, updates); break;
    default: PAIRED(add_to)(f, 8, flip, K, padded, updates);
    }
}

/* How many updates of at most `step` each keep every |f| <= limit. */
static int64_t PAIRED(room_for)(const T *f, int64_t length, int64_t limit, int64_t step)
{
    T highest = f[0], lowest = f[0];
    for (int64_t s = 0; s < length; s++) {
        highest = f[s] > highest ? f[s] : highest;
        lowest = f[s] < lowest ? f[s] : lowest;
    }
    return (limit - most(highest, -(int64_t)lowest)) / step;
}

/* Add updates to a row with *room for so many; returns whether integers are wide enough. */
INLINE int PAIRED(add)(T *f, const T *flip, const KT *K, int64_t padded, uint32_t updates, int64_t *room, int64_t limit, int64_t step)
{
    if (*room < number_of_bits(updates))
        *room = PAIRED(room_for)(f, padded, limit, step);
    while (updates) { /* perhaps there is no room for all of them at their worst, but one by one, as they are */
        const uint32_t now = *room < number_of_bits(updates) ? updates & -updates : updates;
        if (*room < 1)
            *room = PAIRED(room_for)(f, padded, limit, step);
        if (*room < 1)
            return 0;
        PAIRED(add_updates)(f, flip, K, padded, now);
        *room -= number_of_bits(now);
        updates ^= now;
    }
    return 1;
}

/* Find the signed updates (CHUNK) of a register of rows, one transition after another; `numbers` begins with what the first of them
 * adds to itself. */
INLINE void PAIRED(decide_chunk)(const T *fields, const T *flip, const T *bound, const T *edge, const int32_t *numbers,
                                 int first_bit, Reg *updates, Reg *done, Reg *wrong)
{
#define AT(array, i) (*(const Reg *)((array) + (i) * ROWS))
    Reg f[CHUNK];
    UNROLL for (int i = 0; i < CHUNK; i++)
        f[i] = AT(fields, i);
    UNROLL for (int i = 0; i < CHUNK; i++) {
        const T bit = (T)(1 << (first_bit + i));
        updates[i] = PAIRED(violations)(f[i], AT(bound, i), AT(edge, i), AT(flip, i), bit, done, wrong);
        UNROLL for (int later = i + 1; later < CHUNK; later++)
            f[later] += updates[i] * PAIRED(everywhere)(numbers[i * LANES + later]);
    }
#undef AT
}

/* The same as `decide` for ROWS rows at once: a lane is a row here, not a transition.
 *
 * What belongs to transitions is given in columns (LANES, ROWS). Fields f (ROWS rows, `stride` apart) are turned, since updates are
 * added to rows. `numbers` (LANES, LANES) is what an update adds to the fields of its LANES transitions, each number ready to be put
 * into all lanes of a register. Transitions are dealt with one after another, with the same operations whether a row is updated or
 * not. */
INLINE void PAIRED(decide_columns)(const T *f, int64_t stride, const T *flip, const T *bound, const T *edge,
                                   const int32_t *numbers, T *turned, uint32_t *updated, uint32_t *wrong)
{
    for (int row = 0; row < ROWS; row += PER_REG)
        for (int t = 0; t < LANES; t += PER_REG)
            PAIRED(turn)(f + row * stride + t, stride, turned + t * ROWS + row, ROWS);
    for (int row = 0; row < ROWS; row += 2 * PER_REG) { /* two registers: while one waits for what was decided, the other goes on */
        Reg done[2] = {{0}}, off[2] = {{0}};
        for (int begin = 0; begin < LANES; begin += CHUNK) {
            const int32_t *here = numbers + begin * LANES + begin;
            Reg updates[2][CHUNK];
            UNROLL for (int k = 0; k < 2; k++) {
                const int place = begin * ROWS + row + k * PER_REG;
                PAIRED(decide_chunk)(turned + place, flip + place, bound + place, edge + place, here, begin % 16, updates[k],
                                     &done[k], &off[k]);
            }
            for (int later = CHUNK; later < LANES - begin; later++) {
                Reg *fields = (Reg *)(turned + (begin + later) * ROWS + row), more[2] = {{0}};
                UNROLL for (int i = 0; i < CHUNK; i++) {
                    const Reg number = PAIRED(everywhere)(here[i * LANES + later]);
                    more[0] += updates[0][i] * number;
                    more[1] += updates[1][i] * number;
                }
                fields[0] += more[0];
                fields[1] += more[1];
            }
            if (begin % 16 == 16 - CHUNK) { /* as many bits fit into the narrowest number */
                T found[2 * PER_REG], found_wrong[2 * PER_REG];
                memcpy(found, done, sizeof found);
                memcpy(found_wrong, off, sizeof found_wrong);
                for (int k = 0; k < 2 * PER_REG; k++) {
                    const uint32_t bits = (uint16_t)found[k], wrong_bits = (uint16_t)found_wrong[k];
                    updated[row + k] = begin < 16 ? bits : updated[row + k] | bits << 16;
                    wrong[row + k] = begin < 16 ? wrong_bits : wrong[row + k] | wrong_bits << 16;
                }
                memset(done, 0, sizeof done);
                memset(off, 0, sizeof off);
            }
        }
    }
}

/* What `learn_rows` works in; the arrays of a row that is taken are copied into a slot, in the nearest cache. */
#define Slots PAIRED(Slots)
typedef struct {
    T *f, *flip, *bound, *edge;                            /* (ROWS, padded) */
    T *flip_columns, *bound_columns, *edge_columns;        /* (padded, ROWS) */
    int32_t *added;                                        /* (ROWS, padded): updates since the row was taken */
    uint32_t *wrong;                                       /* (ROWS, words) */
    int32_t *errors;                                       /* (epochs, ROWS) */
    int64_t place[ROWS], room[ROWS], epoch[ROWS], updates[ROWS];
    int columns_written;                                   /* whether columns are those of the slots as they are */
} Slots;

/* Let a slot have no violation ever. */
static void PAIRED(silence)(Slots *s, int64_t slot, int64_t padded, int64_t limit)
{
    for (int64_t t = slot * padded; t < (slot + 1) * padded; t++) {
        s->flip[t] = 0;
        s->bound[t] = s->edge[t] = (T)(-limit - 1);
    }
    s->columns_written = 0;
}

/* Write all slots as columns. */
static void PAIRED(write_columns)(Slots *s, int64_t padded)
{
    for (int64_t slot = 0; slot < ROWS; slot += PER_REG)
        for (int64_t t = 0; t < padded; t += PER_REG) {
            const int64_t from = slot * padded + t, to = t * ROWS + slot;
            PAIRED(turn)(s->flip + from, padded, s->flip_columns + to, ROWS);
            PAIRED(turn)(s->bound + from, padded, s->bound_columns + to, ROWS);
            PAIRED(turn)(s->edge + from, padded, s->edge_columns + to, ROWS);
        }
    s->columns_written = 1;
}

/* Let slot b take the place of slot a. */
static void PAIRED(move)(Slots *s, int64_t a, int64_t b, int64_t padded)
{
    if (a == b)
        return;
    T *rows[] = {s->f, s->flip, s->bound, s->edge};
    for (int k = 0; k < 4; k++)
        memcpy(rows[k] + a * padded, rows[k] + b * padded, (size_t)padded * sizeof(T));
    memcpy(s->added + a * padded, s->added + b * padded, (size_t)padded * sizeof *s->added);
    memcpy(s->wrong + a * padded / LANES, s->wrong + b * padded / LANES, (size_t)(padded / LANES) * sizeof *s->wrong);
    for (int64_t e = 0; e < s->epoch[b]; e++)
        s->errors[e * ROWS + a] = s->errors[e * ROWS + b];
    s->place[a] = s->place[b], s->room[a] = s->room[b], s->epoch[a] = s->epoch[b], s->updates[a] = s->updates[b];
    s->columns_written = 0;
}

/* Learn `rows` on fixed inputs for some epochs: eqs. (5)-(7) for U, or the margin perceptron of eqs. (8)-(9).
 *
 * K (n, padded) is the Gram matrix, given also as `ahead` (see `look_ahead`), `step` its largest entry, `limit` what T holds. Of
 * each row: targets z, start fields h0, bounds and, changed in place, fields, room, counts of updates, and wrong (bits: whether the
 * code differs from z); with_codes says whether anybody asks for codes. A slot whose row is done takes the next one, so that rows
 * side by side need not be in the same epoch. Writes errors (epochs,), added to what is there, the state of each row, and flips of
 * codes (epoch, t, row, new code). Rows that end NARROW or FULL are left as they were, but for their flips. Returns the number of
 * flips. */
EXPORT int64_t PAIRED(learn_rows)(int64_t n, int64_t padded, int64_t some, int64_t m, int64_t words, int64_t epochs, int64_t capacity,
                                  const KT *K, const KT *ahead, const int64_t *rows, const int8_t *z, const double *h0, T *fields,
                                  const T *bounds, int64_t *room, int32_t *counts, uint32_t *wrong, int64_t *errors, uint8_t *state,
                                  int32_t *flips, int64_t step, int64_t limit, int64_t with_codes, T *space, T *columns, T *turned,
                                  int32_t *numbers, int32_t *added, uint32_t *wrong_space, int32_t *row_errors)
{
    const int64_t size = ROWS * padded;
    Slots s = {.f = space, .flip = space + size, .bound = space + 2 * size, .edge = space + 3 * size,
               .flip_columns = columns, .bound_columns = columns + size, .edge_columns = columns + 2 * size,
               .added = added, .wrong = wrong_space, .errors = row_errors};
    const double lowest = (double)(-limit - 1), highest = (double)limit;
    uint32_t updated[ROWS], now_wrong[ROWS] = {0};
    int64_t busy = 0, taken = 0, used = 0;
    (void)m;
    for (int64_t t = 0; t < n; t++)
        for (int lane = 0; lane < LANES; lane++)
            numbers[t * LANES + lane] = PAIRED(ready)(K[t * padded + t / LANES * LANES + lane]);
    memset(numbers + n * LANES, 0, (size_t)((padded - n) * LANES) * sizeof *numbers);
    memset(s.f, 0, (size_t)size * sizeof(T));
    for (int64_t slot = 0; slot < ROWS; slot++)
        PAIRED(silence)(&s, slot, padded, limit);
    int32_t *many = row_errors + epochs * ROWS; /* updates at each word of transitions in the last epoch of all slots */
    memset(many, 0, (size_t)words * sizeof *many);
    while (busy || taken < some) {
        for (; busy < ROWS && taken < some; busy++, taken++) { /* take a row */
            const int64_t i = rows[taken], at = busy * padded;
            memcpy(s.f + at, fields + i * padded, (size_t)padded * sizeof(T));
            memcpy(s.bound + at, bounds + i * padded, (size_t)padded * sizeof(T));
            memset(s.added + at, 0, (size_t)padded * sizeof *s.added);
            for (int64_t t = 0; t < n; t++) {
                const int sign = z[i * n + t];
                s.flip[at + t] = (T)(sign >> 1);
                s.edge[at + t] = (T)((-limit - 1) ^ (sign >> 1)); /* never wrong */
            }
            for (int64_t t = 0; with_codes && t < n; t++)
                s.edge[at + t] = (T)edge_of(h0[i * n + t], z[i * n + t] * (double)K[t * padded + t], lowest, highest);
            for (int64_t t = n; t < padded; t++)
                s.flip[at + t] = 0, s.edge[at + t] = (T)(-limit - 1);
            if (with_codes)
                memcpy(s.wrong + busy * words, wrong + i * words, (size_t)words * sizeof *wrong);
            s.place[busy] = taken, s.room[busy] = room[i], s.epoch[busy] = 0, s.columns_written = 0;
        }
        if (with_codes && used + busy * n > capacity) { /* every slot may flip at every transition */
            for (int64_t slot = 0; slot < busy; slot++)
                if (s.place[slot] >= 0)
                    state[s.place[slot]] = FULL;
            for (; taken < some; taken++)
                state[taken] = FULL;
            break;
        }
        memset(s.updates, 0, sizeof s.updates);
        int any_done = 0;
        for (int64_t base = 0, word = 0; base < padded; base += LANES, word++) {
            if (many[word] > MANY) {
                if (!s.columns_written)
                    PAIRED(write_columns)(&s, padded);
                const int64_t column = base * ROWS;
                PAIRED(decide_columns)(s.f + base, padded, s.flip_columns + column, s.bound_columns + column, s.edge_columns + column,
                                       numbers + base * LANES, turned, updated, now_wrong);
            } else
                for (int64_t slot = 0; slot < busy; slot += SLOTS) {
                    const int64_t at = slot * padded + base;
                    PAIRED(decide)(s.f + at, s.flip + at, s.bound + at, s.edge + at, padded, ahead + base * AHEAD, updated + slot,
                                   now_wrong + slot);
                }
            many[word] = 0;
            const uint32_t there = lanes_left(n - base);
            for (int64_t slot = 0; slot < busy; slot++) {
                const int64_t at = slot * padded;
                const uint32_t mask = updated[slot] & there, off = now_wrong[slot] & there;
                if (mask && s.place[slot] >= 0) {
                    if (!PAIRED(add)(s.f + at, s.flip + at + base, K + base * padded, padded, mask, &s.room[slot], limit, step)) {
                        state[s.place[slot]] = NARROW;
                        s.place[slot] = -1;
                        any_done = 1;
                        PAIRED(silence)(&s, slot, padded, limit);
                        continue;
                    }
                    count(s.added + at + base, mask);
                    s.updates[slot] += number_of_bits(mask);
                    many[word] += number_of_bits(mask);
                }
                uint32_t changed = with_codes && s.place[slot] >= 0 ? (s.wrong[slot * words + word] ^ off) & there : 0;
                if (changed) {
                    const int64_t i = rows[s.place[slot]];
                    s.wrong[slot * words + word] = off;
                    for (; changed; changed &= changed - 1, used++) {
                        const int lane = lowest_bit(changed);
                        const int sign = z[i * n + base + lane];
                        int32_t *flip = flips + 4 * used;
                        flip[0] = (int32_t)s.epoch[slot], flip[1] = (int32_t)(base + lane), flip[2] = (int32_t)i;
                        flip[3] = off >> lane & 1 ? -sign : sign;
                    }
                }
            }
        }
        for (int64_t slot = 0; slot < busy; slot++) {
            s.errors[s.epoch[slot] * ROWS + slot] = (int32_t)s.updates[slot];
            s.epoch[slot]++;
            any_done |= s.updates[slot] == 0 || s.epoch[slot] == epochs;
        }
        for (int64_t slot = 0; any_done && slot < busy;) {
            const int64_t r = s.place[slot];
            if (r >= 0) {
                if (s.updates[slot] && s.epoch[slot] < epochs) {
                    slot++;
                    continue;
                }
                const int64_t i = rows[r], at = slot * padded;
                state[r] = s.updates[slot] ? RUNNING : SETTLED;
                room[i] = s.room[slot];
                memcpy(fields + i * padded, s.f + at, (size_t)padded * sizeof(T));
                for (int64_t e = 0; e < s.epoch[slot]; e++)
                    errors[e] += s.errors[e * ROWS + slot];
                for (int64_t t = 0; t < n; t++)
                    counts[i * n + t] += s.added[at + t];
                if (with_codes)
                    memcpy(wrong + i * words, s.wrong + slot * words, (size_t)words * sizeof *wrong);
            }
            busy--; /* the last slot takes the place of the one that is done */
            PAIRED(move)(&s, slot, busy, padded);
            PAIRED(silence)(&s, busy, padded, limit);
        }
    }
    return used;
}
