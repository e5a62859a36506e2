/* From real fields to tests of whole numbers: h = h0 + f, where f counts updates, is compared with kappa and 0 as f with these. */
#include "lanes.h"

#ifndef SEQATTRACTOR_BOUNDS_H
#define SEQATTRACTOR_BOUNDS_H

/* The bound of the test (f <= bound) != (z < 0): z f violates the margin of eqs. (5), (8) up to k = floor(kappa - z h0), which is
 * exact on the grid of engine/grid.py. It is cut to what makes a difference to |f| <= limit. */
INLINE int64_t bound_of(int z, double h0, double kappa, int64_t limit)
{
    double k = floor(kappa - z * h0);
    int64_t cut = k <= (double)(-limit - 1) ? -limit - 1 : k >= (double)limit ? limit : (int64_t)k;
    return cut ^ (int64_t)(z >> 1); /* for z = -1: f >= -k, which is f > -k - 1 = k ^ -1 */
}

/* After an update by `change` the code of eq. (7) is -1 if and only if f <= edge was true before it; cut as a bound is. */
INLINE int64_t edge_of(double h0, double change, double lowest, double highest)
{
    double k = ceil(-h0) - 1 - change;
    k = k < lowest ? lowest : k;
    return (int64_t)(k > highest ? highest : k);
}

#endif
