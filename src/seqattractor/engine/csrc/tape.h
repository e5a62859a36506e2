/* The tape: how the codes y(t) of the hidden neurons change from epoch to epoch, and their Gram matrices. */
#include "bounds.h"

#ifndef SEQATTRACTOR_TAPE_H
#define SEQATTRACTOR_TAPE_H

#define AHEAD (2 * (LANES + 1)) /* rows of a block of `ahead` */

/* Sort flips (epoch, t, row, code) by epoch, t and code, +1 first: `flipped` are their rows. Writes groups (t, start, start of those
 * to -1, end) of one epoch and t each, and where the groups of each epoch start; returns how many groups there are, or -1 if a flip
 * is not in these epochs or transitions. place (epochs, n, 2) is work space. */
EXPORT int64_t KERNEL(sort_flips)(int64_t number, int64_t epochs, int64_t n, const int32_t *flips, int32_t *flipped, int64_t *groups,
                                  int64_t *place, int64_t *group_start)
{
    int64_t used = 0, start = 0;
    memset(place, 0, (size_t)(2 * epochs * n) * sizeof *place);
    for (int64_t k = 0; k < number; k++) {
        const int32_t *flip = flips + 4 * k;
        if (flip[0] < 0 || flip[0] >= epochs || flip[1] < 0 || flip[1] >= n)
            return -1;
        place[2 * (flip[0] * n + flip[1]) + (flip[3] < 0)]++;
    }
    for (int64_t e = 0; e < epochs; e++) {
        group_start[e] = used;
        for (int64_t t = 0; t < n; t++) {
            int64_t *here = place + 2 * (e * n + t), middle = start + here[0], end = middle + here[1];
            if (end > start) {
                int64_t *group = groups + 4 * used++;
                group[0] = t, group[1] = start, group[2] = middle, group[3] = end;
            }
            here[0] = start, here[1] = middle, start = end;
        }
    }
    group_start[epochs] = used;
    for (int64_t k = 0; k < number; k++) {
        const int32_t *flip = flips + 4 * k;
        flipped[place[2 * (flip[0] * n + flip[1]) + (flip[3] < 0)]++] = flip[2];
    }
    return used;
}

/* Whether every group is of one of n transitions and some of the flips. */
static int groups_fit(const int64_t *groups, const int64_t *group_start, int64_t epochs, int64_t n, int64_t flips)
{
    int fit = 1;
    for (int64_t e = 0; e < epochs; e++)
        fit &= group_start[e] <= group_start[e + 1];
    for (int64_t k = group_start[0]; fit && k < group_start[epochs]; k++) {
        const int64_t *group = groups + 4 * k;
        fit &= 0 <= group[0] && group[0] < n && 0 <= group[1] && group[1] <= group[2] && group[2] <= group[3] && group[3] <= flips;
    }
    return fit;
}

#endif

/* Write what updates add to the fields of later transitions among their LANES, ahead (padded / LANES, AHEAD, LANES): row 2 t is
 * K[t] after the diagonal, row 2 t + 1 its negative, for a target of -1, with zeros up to the diagonal. The last two rows are zero:
 * nothing is added where no update is left. */
EXPORT int64_t TYPED(look_ahead)(int64_t n, int64_t padded, const T *K, T *ahead)
{
    memset(ahead, 0, (size_t)(padded / LANES * AHEAD * LANES) * sizeof *ahead);
    for (int64_t t = 0; t < n; t++) {
        const int64_t base = t / LANES * LANES;
        T *row = ahead + base * AHEAD + 2 * (t - base) * LANES;
        for (int64_t s = t + 1; s < base + LANES; s++) {
            row[s - base] = K[t * padded + s];
            row[s - base + LANES] = (T)-K[t * padded + s];
        }
    }
    return 0;
}

/* Apply the flips of some epochs to the codes (M, padded), their bits (n, words) and their Gram matrix K (n, padded), and write each
 * version of K, with `look_ahead`, and of the bits. `version` says which of them each epoch has. Returns -1 if groups do not fit. */
EXPORT int64_t TYPED(play)(int64_t n, int64_t padded, int64_t M, int64_t words, int64_t number, int64_t epochs, T *K, int8_t *codes,
                           uint32_t *bits, const int32_t *flipped, const int64_t *groups, const int64_t *version,
                           const int64_t *group_start, T *K_versions, T *ahead_versions, uint32_t *bit_versions)
{
    (void)M;
    if (!groups_fit(groups, group_start, epochs, n, number))
        return -1;
    for (int64_t e = 0; e < epochs; e++) {
        for (int64_t k = group_start[e]; k < group_start[e + 1]; k++) {
            const int64_t *group = groups + 4 * k, t = group[0];
            T *row = K + t * padded, own = row[t];
            for (int64_t f = group[1]; f < group[3]; f++) {
                const int32_t i = flipped[f], code = f < group[2] ? 1 : -1;
                int8_t *y = codes + i * padded;
                for (int64_t s = 0; s < padded; s++)
                    row[s] = (T)(row[s] + (T)(2 * code) * y[s]);
                y[t] = (int8_t)code;
                bits[t * words + i / 32] ^= (uint32_t)1 << i % 32;
            }
            row[t] = own;
            for (int64_t s = 0; s < n; s++)
                K[s * padded + t] = row[s];
        }
        if (e == 0 || group_start[e + 1] > group_start[e]) {
            memcpy(K_versions + version[e] * n * padded, K, (size_t)(n * padded) * sizeof *K);
            TYPED(look_ahead)(n, padded, K, ahead_versions + version[e] * padded * AHEAD);
            memcpy(bit_versions + version[e] * n * words, bits, (size_t)(n * words) * sizeof *bits);
        }
    }
    return 0;
}

/* Write the bounds (m, padded) of all rows for targets z and start fields h0; padding is never violated. */
EXPORT int64_t TYPED(set_bounds)(int64_t m, int64_t padded, int64_t n, T *bounds, const int8_t *z, const double *h0, double kappa,
                                 int64_t limit)
{
    for (int64_t i = 0; i < m; i++) {
        for (int64_t t = 0; t < n; t++)
            bounds[i * padded + t] = (T)bound_of(z[i * n + t], h0[i * n + t], kappa, limit);
        for (int64_t t = n; t < padded; t++)
            bounds[i * padded + t] = (T)(-limit - 1);
    }
    return 0;
}
