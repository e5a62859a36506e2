/* The weights form of the exact engine, for long sequences: integer weights of LANES neurons side by side, GROUP transitions at a
 * time.
 *
 * In a group of four transitions a unit has one of 16 kinds, its four states. Units of one kind enter the four fields with the
 * same signs, and are changed by the same amount by whatever updates the four make. So the weights are gone through twice per
 * group, not eight times: once to add up those of each kind, from which all four fields follow, and once to add what each kind has
 * learned. An update moves the fields of the rest of its group by the overlap x(s) . x(t).
 */
#include "lanes.h"

#define GROUP 4           /* transitions that are learned with one pass over the weights; five to eight were no faster */
#define KINDS (1 << GROUP) /* bit s of a kind is set where the state is +1 in transition s */
#define COARSE_AT_ONCE 8  /* coarse start weights whose sum fits into 16 bits (weights.py) */

/* Patterns of which units are sorted by kind, in groups of transitions (sort_by_kind). */
typedef struct {
    const uint32_t *units;  /* (groups, N): numbers of units in the order of their kinds */
    const int64_t *first;   /* (groups, KINDS + 1): where each kind begins */
    const int32_t *overlap; /* (groups, GROUP, GROUP): x(s) . x(t) for s <= t */
} KERNEL(Sorted);

/* Sort the units of patterns x (n, N) of -1 and +1; beyond the last pattern states count as -1. */
EXPORT int64_t KERNEL(sort_by_kind)(int64_t n, int64_t N, int64_t groups, const int8_t *x, uint32_t *units, int64_t *first,
                                    int32_t *overlap, uint8_t *kind)
{
    for (int64_t g = 0; g < groups; g++, units += N, first += KINDS + 1, overlap += GROUP * GROUP) {
        int64_t size = least(GROUP, n - g * GROUP), place[KINDS] = {0};
        memset(kind, 0, (size_t)N);
        for (int64_t s = 0; s < size; s++)
            for (int64_t k = 0; k < N; k++)
                kind[k] |= (uint8_t)((x[(g * GROUP + s) * N + k] > 0) << s);
        for (int64_t k = 0; k < N; k++)
            place[kind[k]]++;
        for (int s = 0; s < GROUP; s++)
            for (int t = 0; t < GROUP; t++) {
                int64_t sum = 0;
                for (int p = 0; p < KINDS; p++)
                    sum += ((p >> s ^ p >> t) & 1) ? -place[p] : place[p];
                overlap[s * GROUP + t] = (int32_t)sum;
            }
        first[0] = 0;
        for (int p = 0; p < KINDS; p++) {
            first[p + 1] = first[p] + place[p];
            place[p] = first[p];
        }
        for (int64_t k = 0; k < N; k++)
            units[place[kind[k]]++] = (uint32_t)k;
    }
    return 0;
}

/* Whether units of a group and the places where kinds begin are below N and at most N, so that nothing else is ever read. */
INLINE int is_sorted(const uint32_t *units, const int64_t *first, int64_t N)
{
    int wrong = 0;
    for (int64_t k = 0; k < N; k++)
        wrong |= units[k] >= (uint32_t)N;
    for (int p = 0; p <= KINDS; p++)
        wrong |= first[p] < 0 || first[p] > N;
    return !wrong;
}

/* Whether the margin of a neuron with field h and target z comes as near to kappa as its guard. */
INLINE int is_any_near(const double *h, const double *z, double kappa, const double *guard)
{
    int64_t near = 0;
    for (int i = 0; i < LANES; i++)
        near |= fabs(kappa - z[i] * h[i]) <= guard[i] ? 1 : 0;
    return near != 0;
}

/* Fields of a group from rows of int16, int32, int64 and double; sums are of the next wider type. */
#define FROM int16_t
#define INTO int32_t
#define NAME int16
#include "weights_fields.h"
#define FROM int32_t
#define INTO int64_t
#define NAME int32
#include "weights_fields.h"
#define FROM int64_t
#define INTO int64_t
#define NAME int64
#include "weights_fields.h"
#define FROM double
#define INTO double
#define NAME double
#include "weights_fields.h"

#define T int16_t
#define WIDE int32_t
#define NAME_OF_T int16
#include "weights_learn.h"
#define T int32_t
#define WIDE int64_t
#define NAME_OF_T int32
#include "weights_learn.h"
#define T int64_t
#define WIDE int64_t
#define NAME_OF_T int64
#include "weights_learn.h"
