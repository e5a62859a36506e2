/* From real fields to tests of whole numbers: h = h0 + f, where f counts updates, is compared with kappa and 0 as f with these. */
#include "lanes.h"

#ifndef SEQATTRACTOR_BOUNDS_H
#define SEQATTRACTOR_BOUNDS_H

/* The largest integer k such that the margin is violated at z * n = k, asking the rule itself: eqs. (5), (8). */
static double threshold(double z, double h0, double kappa)
{
    double k = floor(kappa - z * h0);
    for (int again = 0; again < 2; again++) /* the line above was rounded */
        if (kappa - z * (h0 + z * (k + 1)) >= 0)
            k += 1;
    for (int again = 0; again < 2; again++)
        if (kappa - z * (h0 + z * k) < 0)
            k -= 1;
    return k;
}

/* The bound of the test (f <= bound) != (z < 0), cut to what makes a difference to |f| <= limit. */
INLINE int64_t bound_of(int z, double h0, double kappa, int64_t limit)
{
    double exact = kappa - z * h0, k = floor(exact);
    int sure = fabs(h0) + kappa < 1073741824.0 && (h0 == 0 || (exact - k > 1e-6 && exact - k < 1 - 1e-6));
    if (!sure) /* rounding of `exact` may have crossed an integer */
        k = threshold(z, h0, kappa);
    double lowest = (double)(-limit - 1), highest = (double)limit;
    int64_t cut = k <= lowest ? -limit - 1 : k >= highest ? limit : (int64_t)k;
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
