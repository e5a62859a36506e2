/* Learning on integer weights; included once for each type: T that of the weights, WIDE that of their fields, NAME_OF_T. */
#define Neurons TYPED(Neurons)
typedef struct {
    T *C;                      /* (N, LANES): weights in steps of eta, but for a fraction of a step in the start */
    const double *start;       /* (N, LANES): these fractions, on their grid; or no rows, if all are 0 */
    const int16_t *coarse;     /* (N, LANES): the same in whole numbers of `unit`; or no rows */
    const double *guard;       /* (LANES): what a field of coarse start weights can be wrong by; below 0 where there is no neuron */
    double unit, theta, kappa; /* the latter two in steps of eta */
} Neurons;

/* Write the start fields (GROUP, LANES) less theta of a group. */
static void TYPED(set_start)(double *start, const Neurons *of, int rough, int64_t N, const uint32_t *units, const int64_t *first)
{
    int32_t coarse[GROUP * LANES];
    if (rough) {
        KERNEL(fields_int16)(coarse, of->coarse, units, first, COARSE_AT_ONCE);
        for (int k = 0; k < GROUP * LANES; k++)
            start[k] = coarse[k] * of->unit - of->theta;
    } else {
        KERNEL(fields_double)(start, of->start, units, first, N);
        for (int k = 0; k < GROUP * LANES; k++)
            start[k] -= of->theta;
    }
}

INLINE void TYPED(add_fields)(double *h, const double *start, const WIDE *fields)
{
    for (int i = 0; i < LANES; i++)
        h[i] = start[i] + (double)fields[i];
}

/* Write what the units of each kind learn (KINDS, LANES) where the transitions of a group make the changes (GROUP, LANES). */
INLINE void TYPED(learned_by_kind)(T (*restrict learned)[LANES], T (*restrict change)[LANES])
{
    memset(learned[0], 0, sizeof learned[0]);
    for (int s = 0; s < GROUP; s++)
        for (int p = 0; p < 1 << s; p++)
            for (int i = 0; i < LANES; i++) {
                T before = learned[p][i];
                learned[p + (1 << s)][i] = (T)(before + change[s][i]);
                learned[p][i] = (T)(before - change[s][i]);
            }
}

/* Let a block of neurons learn some transitions once: eqs. (5)-(7), or (8)-(9). Returns the number of updates, or -1 if arrays do
 * not fit together.
 *
 * The neurons have the columns from `column` on of the targets (n, width), and of the codes (n, code_width), which are written if
 * there are any. `at_once` is the number of weights whose sum fits into T. Start fields are first made of coarse start weights if
 * there are some, and in full only where a margin comes as near to kappa, or a field to 0, as the guard. */
EXPORT int64_t TYPED(learn_lanes)(int64_t N, int64_t starts, int64_t coarse_starts, int64_t groups, int64_t n, int64_t width,
                                  int64_t code_width, const Neurons *of, const KERNEL(Sorted) *seen, const int8_t *targets,
                                  int8_t *codes, int64_t column, int64_t neurons, int64_t at_once)
{
    if ((starts && starts != N) || (coarse_starts && (coarse_starts != N || !starts)) || column < 0 || neurons < 0
        || neurons > LANES || N > UINT32_MAX || column > width - neurons || (code_width && column > code_width - neurons) || at_once < 1)
        return -1;
    WIDE fields[GROUP][LANES];
    double start[GROUP][LANES], h[LANES], z[LANES], ones[LANES];
    int8_t given[LANES] = {0}; /* a target of 0, where there is no neuron, is never learned */
    int64_t errors = 0;
    for (int i = 0; i < LANES; i++) {
        ones[i] = 1;
        for (int s = 0; s < GROUP; s++)
            start[s][i] = -of->theta;
    }
    for (int64_t g = 0; g < groups; g++) {
        const uint32_t *units = seen->units + g * N;
        const int64_t *first = seen->first + g * (KINDS + 1), size = least(GROUP, n - g * GROUP);
        T change[GROUP][LANES] = {{0}};
        int rough = coarse_starts > 0;
        int64_t before = errors;
        if (!is_sorted(units, first, N))
            return -1;
        KERNEL(JOIN(fields, NAME_OF_T))(fields[0], of->C, units, first, at_once);
        if (starts)
            TYPED(set_start)(start[0], of, rough, N, units, first);
        for (int s = 0; s < size; s++) {
            int64_t t = g * GROUP + s, updates = 0;
            memcpy(given, targets + t * width + column, (size_t)neurons);
            for (int i = 0; i < LANES; i++)
                z[i] = given[i];
            TYPED(add_fields)(h, start[s], fields[s]);
            if (rough && is_any_near(h, z, of->kappa, of->guard)) {
                rough = 0;
                TYPED(set_start)(start[0], of, rough, N, units, first);
                TYPED(add_fields)(h, start[s], fields[s]);
            }
            for (int i = 0; i < LANES; i++) { /* mu z of eq. (5), or nu x' of eq. (8) */
                double step = z[i] * h[i] <= of->kappa ? z[i] : 0;
                change[s][i] = (T)step;
                updates += step != 0;
            }
            if (updates) {
                errors += updates;
                for (int r = s; r < GROUP; r++) { /* eqs. (6), (9), seen by the fields */
                    WIDE overlap = seen->overlap[(g * GROUP + s) * GROUP + r];
                    for (int i = 0; i < LANES; i++)
                        fields[r][i] += overlap * change[s][i];
                }
            }
            if (code_width) { /* eq. (7) */
                TYPED(add_fields)(h, start[s], fields[s]);
                if (rough && is_any_near(h, ones, 0, of->guard)) {
                    rough = 0;
                    TYPED(set_start)(start[0], of, rough, N, units, first);
                    TYPED(add_fields)(h, start[s], fields[s]);
                }
                for (int64_t i = 0; i < neurons; i++)
                    codes[t * code_width + column + i] = h[i] >= 0 ? 1 : -1;
            }
        }
        if (errors != before) { /* eqs. (6), (9), seen by the weights */
            T learned[KINDS][LANES];
            TYPED(learned_by_kind)(learned, change);
            for (int p = 0; p < KINDS; p++)
                KERNEL(JOIN(add_to_rows, NAME_OF_T))(of->C, units, first[p], first[p + 1], learned[p]);
        }
    }
    return errors;
}

#undef Neurons
#undef T
#undef WIDE
#undef NAME_OF_T
