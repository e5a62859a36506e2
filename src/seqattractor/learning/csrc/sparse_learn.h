/* Kernels of the sparse rule: a stretch of an epoch in whole numbers of type T, exactly what `rule.present` in learning/sparse does.
 * Whoever calls a kernel has made sure that no number of the coming stretch leaves T. Chance comes from outside: which units of each
 * x(t) are flipped, and the random part of scores where targets are redrawn.
 *
 * V is transposed, since a presentation reads and writes the rows of its few active neurons; it is Q, too, since both get the same
 * updates.
 *
 * Fields of hidden neurons at the n stored patterns are carried along (the dual form), and so is Q x(s+1) where targets are chosen by
 * it. An update at transition t adds a multiple of a row of products of x(t) with all stored patterns: N less twice the number of units
 * in which they differ. So a presentation costs a few updates of n + N instead of fields of N x M.
 *
 * Updates go along the rows of fields, but a presentation reads a column, which costs far more than the arithmetic. So the columns of the
 * coming PRESENTATIONS, the window, are transposed at once, and updates are made in both. In the window patterns are noisy: the field of
 * a noisy pattern is that of the clean one, less twice the weights of its few flipped units.
 *
 * Two more kernels let U or V practise alone, neuron by neuron.
 */
#include "sparse.h"

/* Names of this file, one set for each T */
#define Task TYPED(Task)
#define above TYPED(above)
#define violations TYPED(violations)
#define add_rows TYPED(add_rows)
#define add_narrow_rows TYPED(add_narrow_rows)
#define transpose TYPED(transpose)
#define multiply TYPED(multiply)
#define add_to_fields TYPED(add_to_fields)
#define look_ahead TYPED(look_ahead)
#define learn_hidden TYPED(learn_hidden)
#define learn_visible TYPED(learn_visible)
#define project TYPED(project)
#define approach TYPED(approach)
#define choose TYPED(choose)

/* Arrays of `_Compiled` in engine.py, then work space. Declared in kernels.py in the same order, as all structs. */
typedef struct {
    int64_t n, n_in, N, M;          /* transitions, input units, visible and hidden neurons */
    int64_t noise;                  /* units that are flipped, at most */
    int64_t learned;                /* n_in if P is learned, else 0 */
    int64_t feedback_row;           /* row of n if targets are chosen by feedback, else 0 */
    const int8_t *inputs, *targets; /* x(t) and x(t+1), (n, n_in) and (n, N) */
    const uint64_t *input_bits, *target_bits; /* the same as bits, (words of n_in, n) and (words of N, n) */
    const double *drive;            /* (n, M), for scores where P is not learned */
    const int32_t *flipped;         /* the flipped units of each x(t), (n, noise), */
    const int32_t *n_flipped;       /* and how many they are */
    double *theta, *wrong;          /* see SparseState */
    uint8_t *redrawn;
    uint64_t *z;                    /* targets, as bits (n, words of M) */
    int16_t *P, *Pt;                /* (M, learned), and transposed, (learned, row of M) */
    T *totals;                      /* sums of the rows of P, padded */
    double *inverse;                /* 1 / their lengths */
    T *U, *Vt;                      /* (padded M, row of n_in + 1), and V transposed, (M, row of N) */
    T *fields;                      /* U [x(s); b], (padded M, row of n) */
    T *feedback;                    /* Q x(s+1), (padded M, feedback_row) */
    int64_t *window;                /* work: the transitions of the window, from, to; and for each of them: */
    T *h, *h_feedback;              /* columns of `fields`, with noise, and of `feedback`, (PRESENTATIONS, row of M), */
    int8_t *x;                      /* the noisy pattern, (PRESENTATIONS, n_in), */
    uint64_t *x_bits;               /* and as bits, (words of n_in, PRESENTATIONS) */
    T *Ut;                          /* U transposed when the window began, (padded n_in, row of M), where there is noise */
    T *products;                    /* of a pattern with all others, (n), and with those of the window, (PRESENTATIONS) */
    T *window_products;
    T *sums, *g;                    /* P x; fields of visible neurons, then their updates: each padded */
    double *score, *projected;
    int32_t *active, *plus, *minus;
    uint64_t *wrong_bits;
} Task;

/* ---- Rows of numbers ---- */

/* Add factor * (the sum of some rows of W) to a total, `some` rows at a time, whose sum must fit into ROW; `width` is padded. */
#define DEFINE_ADD_ROWS(NAME, ROW)                                                                                          \
    static void NAME(T *total, T factor, const ROW *W, int64_t stride, const int32_t *rows, int64_t count, int64_t some,   \
                     int64_t width)                                                                                         \
    {                                                                                                                       \
        typedef ROW Vector __attribute__((vector_size(REGISTER), aligned(sizeof(ROW)), may_alias));                         \
        enum { PER = REGISTER / sizeof(ROW), SUMS = 4 * PER < BLOCK ? 4 : BLOCK / PER };                                    \
        for (int64_t first = 0; first < count; first += some)                                                               \
            for (int64_t at = 0; at < width; at += SUMS * PER) {                                                            \
                Vector sum[SUMS] = {{0}};                                                                                   \
                ROW sums[SUMS * PER];                                                                                       \
                for (int64_t k = first; k < least(first + some, count); k++)                                                \
                    for (int v = 0; v < SUMS; v++)                                                                          \
                        sum[v] += *(const Vector *)(W + rows[k] * stride + at + v * PER);                                   \
                memcpy(sums, sum, sizeof sums);                                                                             \
                for (int v = 0; v < SUMS * PER; v++)                                                                        \
                    total[at + v] += factor * sums[v];                                                                      \
            }                                                                                                               \
    }
DEFINE_ADD_ROWS(add_rows, T)
DEFINE_ADD_ROWS(add_narrow_rows, int16_t)

/* Bit k says whether row[k] > bound, for a block of numbers. */
INLINE uint64_t above(const T *row, T bound)
{
    uint64_t bits = 0;
#if defined(AVX512)
    for (int k = 0; k < BLOCK; k += REGISTER * 8 / BITS) {
        __m512i some = _mm512_loadu_si512(row + k);
        bits |= (uint64_t)(BITS == 32 ? _mm512_cmpgt_epi32_mask(some, _mm512_set1_epi32((int)bound))
                                      : _mm512_cmpgt_epi64_mask(some, _mm512_set1_epi64(bound))) << k;
    }
#else
    int8_t holds[BLOCK];
    for (int k = 0; k < BLOCK; k++)
        holds[k] = row[k] > bound;
    for (int k = 0; k < BLOCK; k += 8)
        bits |= (uint64_t)in_bits(holds + k, 8) << k;
#endif
    return bits;
}

/* Bit k says whether a field violates its margin, eq. (5): it is at most `highest` though wanted, or at least `lowest` though not. */
INLINE uint64_t violations(const T *h, uint64_t wanted, T lowest, T highest)
{
    return (~above(h, highest) & wanted) | (above(h, lowest - 1) & ~wanted);
}

/* Write the columns first to last - 1 of W to the first rows of `out`, in whole tiles: `first` is a multiple of TILE, and W is padded
 * both ways. */
static void transpose(const T *W, int64_t n_rows, int64_t stride, int64_t first, int64_t last, T *out, int64_t out_stride)
{
    typedef T Row __attribute__((vector_size(TILE * sizeof(T)), aligned(sizeof(T)), may_alias));
    for (int64_t j = first; j < last; j += TILE)
        for (int64_t i = 0; i < padded(n_rows); i += TILE) {
            Row tile[TILE];
            for (int k = 0; k < TILE; k++)
                tile[k] = *(const Row *)(W + (i + k) * stride + j);
            TURN(tile)
            for (int k = 0; k < TILE; k++)
                *(Row *)(out + (j - first + k) * out_stride + i) = tile[k];
        }
}

/* The product of x with each of `count` patterns, whose words are columns `stride` apart, as are those of x, `step` apart: the squared
 * length, less two for each unit in which they differ. Only units with a bit in `where` count, if that is given. */
static void multiply(const uint64_t *restrict patterns, int64_t stride, int64_t words, const uint64_t *x, int64_t step,
                     const uint64_t *where, int64_t length, T *restrict out, int64_t count)
{
    for (int64_t s = 0; s < count; s++)
        out[s] = (T)length;
    for (int64_t word = 0; word < words; word++) {
        uint64_t here = x[word * step], mask = where ? where[word] : ~(uint64_t)0;
        for (int64_t s = 0; s < count; s++)
            out[s] -= 2 * (T)number_of_bits(mask & (patterns[word * stride + s] ^ here));
    }
}

/* ---- The window ---- */

/* Begin a window with transition t. */
static void look_ahead(Task *task, const SparseRule *rule, int64_t t, int64_t last)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, start = t & -TILE, end = least(start + PRESENTATIONS, last);
    task->window[0] = start, task->window[1] = end;
    transpose(task->fields, M, row_of(n), start, end, task->h, row_of(M));
    if (rule->choosing && task->feedback_row)
        transpose(task->feedback, M, row_of(n), start, end, task->h_feedback, row_of(M));
    if (task->noise)
        transpose(task->U, M, row_of(n_in + 1), 0, n_in, task->Ut, row_of(M));
    for (int64_t s = t; s < end; s++) {
        int8_t *x = task->x + (s - start) * n_in;
        uint64_t *bits = task->x_bits + (s - start);
        T *h = task->h + (s - start) * row_of(M);
        int64_t n_plus = 0, n_minus = 0;
        memcpy(x, task->inputs + s * n_in, (size_t)n_in);
        for (int64_t word = 0; word < words_of(n_in); word++)
            bits[word * PRESENTATIONS] = task->input_bits[word * n + s];
        for (int64_t k = 0; k < task->n_flipped[s]; k++) { /* no branch: none is foreseen */
            int32_t unit = task->flipped[s * task->noise + k];
            task->plus[n_plus] = task->minus[n_minus] = unit;
            n_plus += x[unit] > 0, n_minus += x[unit] < 0;
            x[unit] = -x[unit];
            bits[unit / BLOCK * PRESENTATIONS] ^= (uint64_t)1 << unit % BLOCK;
        }
        add_rows(h, -2, task->Ut, row_of(M), task->plus, n_plus, n_plus, padded(M));
        add_rows(h, 2, task->Ut, row_of(M), task->minus, n_minus, n_minus, padded(M));
    }
}

/* Add step * (products with all patterns) to a row of fields, and to its column in the window, from the presented pattern on, step *
 * (products with those that are still to come). */
static void add_to_fields(const Task *task, int64_t t, T step, T *restrict row, const T *restrict products, T *column,
                          const T *products_ahead)
{
    for (int64_t s = 0; s < task->n; s++)
        row[s] += step * products[s];
    ONE_BY_ONE
    for (int64_t s = 0; s < task->window[1] - t; s++)
        column[s * row_of(task->M)] += step * products_ahead[s];
}

/* ---- Learning ---- */

/* Let U learn the targets of transition t, eqs. (5)-(6); returns sum mu. */
static int64_t learn_hidden(Task *task, const SparseRule *rule, int64_t t)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, at = t - task->window[0], errors = 0;
    int64_t length = n_in + rule->bias * rule->bias; /* |[x; b]|^2 */
    const uint64_t *z = task->z + t * words_of(M), *bits = task->x_bits + at;
    const int8_t *restrict x = task->x + at * n_in;
    T *h = task->h + at * row_of(M);
    for (int64_t base = 0; base < M; base += BLOCK) {
        uint64_t found = violations(h + base, z[base / BLOCK], (T)-rule->margin, (T)rule->active_margin);
        errors += list_bits(found & inside(M - base), base, task->active + errors);
    }
    if (errors) {
        multiply(task->input_bits, n, words_of(n_in), bits, PRESENTATIONS, NULL, length, task->products, n);
        multiply(bits, PRESENTATIONS, words_of(n_in), bits, PRESENTATIONS, NULL, length, task->window_products, task->window[1] - t);
    }
    for (int64_t k = 0; k < errors; k++) {
        int64_t i = task->active[k], wanted = z[i / BLOCK] >> i % BLOCK & 1;
        T step = (T)(wanted ? rule->hidden_step * rule->active_weight : -rule->hidden_step);
        T *restrict weights = task->U + i * row_of(n_in + 1);
        for (int64_t j = 0; j < n_in; j++)
            weights[j] += step * x[j];
        weights[n_in] += step * (T)rule->bias;
        add_to_fields(task, t, step, task->fields + i * row_of(n), task->products, h + i, task->window_products);
    }
    return errors;
}

/* Let V learn x(t+1) from the active hidden neurons, eqs. (7)-(9), and where targets are chosen by feedback, give that the same updates:
 * products of x(t+1) with all others over the wrong units. Returns sum nu. */
static int64_t learn_visible(Task *task, const SparseRule *rule, int64_t t)
{
    int64_t n = task->n, N = task->N, M = task->M, at = (t - task->window[0]) * row_of(M), n_active = 0;
    const int8_t *restrict x_next = task->targets + t * N;
    T *restrict g = task->g, margin = (T)rule->visible_margin, step = (T)rule->visible_step, errors = 0, wrong = 0;
    for (int64_t base = 0; base < M; base += BLOCK)
        n_active += list_bits(above(task->h + at + base, -1) & inside(M - base), base, task->active + n_active);
    memset(g, 0, (size_t)padded(N) * sizeof *g);
    add_rows(g, 1, task->Vt, row_of(N), task->active, n_active, n_active, padded(N));
    for (int64_t j = 0; j < N; j++) {
        T x = x_next[j], nu = x * g[j] <= margin;
        wrong += (g[j] >= 0) != (x > 0);
        errors += nu;
        g[j] = nu ? x * step : 0;
    }
    task->wrong[t] += WRONG_AVERAGING * ((double)wrong - task->wrong[t]);
    for (int64_t k = 0; errors && k < n_active; k++) {
        T *restrict row = task->Vt + task->active[k] * row_of(N);
        for (int64_t j = 0; j < N; j++)
            row[j] += g[j];
    }
    if (!errors || !rule->choosing || !task->feedback_row)
        return errors;
    for (int64_t word = 0; word < words_of(N); word++)
        task->wrong_bits[word] = above(g + word * BLOCK, 0) | ~above(g + word * BLOCK, -1);
    multiply(task->target_bits, n, words_of(N), task->target_bits + t, n, task->wrong_bits, errors, task->products, n);
    for (int64_t k = 0; k < n_active; k++) {
        int64_t i = task->active[k];
        add_to_fields(task, t, step, task->feedback + i * row_of(n), task->products, task->h_feedback + at + i, task->products + t);
    }
    return errors;
}

/* ---- The choice of targets, in place of eq. (4): `rule.choose` ---- */

/* The projection of x on each row of P, as a multiple of its length: twice the columns of units that are +1, less all. */
static const double *project(Task *task, const int8_t *restrict x)
{
    int64_t n_plus = 0, n_in = task->n_in, M = task->M;
    int32_t *restrict plus = task->plus;
    T *restrict sums = task->sums;
    double *restrict projected = task->projected;
    for (int32_t j = 0; j < n_in; j++) { /* without a branch, since none is foreseen */
        plus[n_plus] = j;
        n_plus += x[j] > 0;
    }
    for (int64_t i = 0; i < padded(M); i++)
        sums[i] = -task->totals[i];
    add_narrow_rows(sums, 2, task->Pt, row_of(M), plus, n_plus, INT16_MAX / PROTOTYPE, padded(M));
    for (int64_t i = 0; i < M; i++)
        projected[i] = (double)sums[i] * task->inverse[i];
    return projected;
}

/* Move row i of P a part of the way to x; >> rounds down. |step| <= 2**16 and |P| <= 2**12, so that 32 bits suffice. */
static void approach(Task *task, int64_t i, const int8_t *restrict x, int32_t step)
{
    int64_t n_in = task->n_in, stride = row_of(task->M), total = 0, square = 0;
    int16_t *restrict row = task->P + i * n_in, *column = task->Pt + i;
    for (int64_t j = 0; j < n_in; j++)
        row[j] = (int16_t)(row[j] + ((step * (PROTOTYPE * x[j] - row[j])) >> STEP_BITS));
    for (int64_t j = 0; j < n_in; j++)
        total += row[j], square += row[j] * row[j];
    for (int64_t j = 0; j < n_in; j++)
        column[j * stride] = row[j];
    task->totals[i] = (T)total;
    task->inverse[i] = 1.0 / (square > 0 ? sqrt((double)square) : 1.0);
}

/* Choose the targets of transition t, or redraw them, and let P and theta learn from the choice. A redraw uses M of the random numbers
 * `normals`; returns where the next ones are. */
static const double *choose(Task *task, const SparseRule *rule, int64_t t, const double *normals)
{
    const int8_t *x = task->inputs + t * task->n_in;
    int64_t M = task->M, redraw = task->wrong[t] > rule->redraw_above, n_chosen = 0;
    uint64_t *z = task->z + t * words_of(M);
    double *restrict score = task->score, *restrict theta = task->theta;
    if (redraw || (rule->choosing && !task->redrawn[t])) {
        const double *drive = task->learned ? project(task, x) : task->drive + t * M;
        for (int64_t i = 0; i < M; i++)
            score[i] = drive[i] - theta[i];
        if (redraw) {
            for (int64_t i = 0; i < M; i++)
                score[i] += rule->redraw * normals[i];
            normals += M, task->redrawn[t] = 1, task->wrong[t] = 0;
        } else if (task->feedback_row) {
            const T *restrict feedback = task->h_feedback + (t - task->window[0]) * row_of(M); /* Q x(t+1) */
            for (int64_t i = 0; i < M; i++)
                score[i] += rule->learned_feedback * (double)feedback[i];
        }
        memset(z, 0, (size_t)words_of(M) * sizeof *z);
        if (rule->winners)
            mark_highest(score, M, rule->n_winners, z, task->active);
        else
            for (int64_t i = 0; i < M; i++)
                z[i / BLOCK] |= (uint64_t)(score[i] >= 0) << i % BLOCK;
    }
    if (!rule->choosing)
        return normals;
    double mean = (double)rule->n_winners / (double)M, rise = rule->homeostasis * (1 - mean), fall = rule->homeostasis * (0 - mean);
    for (int64_t word = 0; word < words_of(M); word++)
        n_chosen += list_bits(z[word] & inside(M - word * BLOCK), word * BLOCK, task->active + n_chosen);
    for (int64_t k = 0; k < n_chosen; k++)
        score[k] = theta[task->active[k]] + rise;
    for (int64_t i = 0; i < M; i++)
        theta[i] += fall;
    for (int64_t k = 0; k < n_chosen; k++) {
        theta[task->active[k]] = score[k];
        if (task->learned)
            approach(task, task->active[k], x, (int32_t)rule->drive_step);
    }
    return normals;
}

/* Learn from first to last - 1; adds sum mu and sum nu to errors. Returns -1 if there are too few normals (redraws, M): a transition is
 * redrawn if that many of its visible neurons were wrong before. */
EXPORT int64_t TYPED(learn_sparse)(int64_t redraws, Task *task, int64_t *errors, const SparseRule *rule, const double *normals,
                                   int64_t first, int64_t last)
{
    for (int64_t t = first; t < last; t++)
        redraws -= task->wrong[t] > rule->redraw_above;
    if (redraws < 0)
        return -1;
    for (int64_t t = first; t < last; t++) {
        if (t == first || t == task->window[1])
            look_ahead(task, rule, t, last);
        normals = choose(task, rule, t, normals);
        errors[0] += rule->hidden_step ? learn_hidden(task, rule, t) : 0;
        errors[1] += rule->visible_step ? learn_visible(task, rule, t) : 0;
    }
    return 0;
}

/* ---- Practice, for the widest numbers only ---- */
#if BITS == 64

/* V practises: some epochs of eqs. (8)-(9) for each row of V (N, M), with fixed codes.
 *
 * active[starts[t]:starts[t + 1]] are the active hidden neurons of transition t, whose x(t+1) is targets[t]. Adds sum nu to that of
 * each epoch, and to each transition how many visible neurons were wrong in the last one; both come as zeros. */
EXPORT int64_t KERNEL(practise_V)(int64_t N, int64_t M, int64_t n, int64_t n_epochs, int64_t *V, const int8_t *targets,
                                  const int32_t *active, const int64_t *starts, int64_t *errors, double *wrong, int64_t margin,
                                  int64_t step, int64_t *x)
{
    for (int64_t j = 0; j < N; j++) {
        int64_t *v = V + j * M, row_errors = 1;
        for (int64_t t = 0; t < n; t++)
            x[t] = targets[t * N + j];
        for (int64_t e = 0; e < n_epochs && row_errors; e++) { /* a neuron without an error has no more of them */
            row_errors = 0;
            for (int64_t t = 0; t < n; t++) {
                int64_t g = 0;
                for (int64_t a = starts[t]; a < starts[t + 1]; a++)
                    g += v[active[a]];
                if (x[t] * g > margin) /* eq. (8) */
                    continue;
                row_errors++;
                if (e == n_epochs - 1)
                    wrong[t] += (g >= 0) != (x[t] > 0);
                for (int64_t a = starts[t]; a < starts[t + 1]; a++)
                    v[active[a]] += step * x[t]; /* eq. (9) */
            }
            errors[e] += row_errors;
        }
    }
    return 0;
}

/* U practises: some epochs of eqs. (5)-(6) for each row of fields (M, n), with fixed targets z, as bits; a neuron without an error in
 * an epoch raises its margins. Adds the steps of each neuron at each pattern to counts (M, n), and sum mu to that of each epoch. */
EXPORT int64_t KERNEL(practise_U)(int64_t n, int64_t M, int64_t n_epochs, const int32_t *gram, int64_t *fields, const uint64_t *z,
                                  int64_t *raised, int64_t *counts, int64_t *errors, int64_t margin, int64_t active_margin,
                                  int64_t step, int64_t active_step)
{
    for (int64_t i = 0; i < M; i++) {
        int64_t *h = fields + i * row_of(n);
        for (int64_t e = 0; e < n_epochs; e++) {
            int64_t lowest = -(margin * (RAISES + raised[i]) / RAISES), highest = active_margin * (RAISES + raised[i]) / RAISES;
            int64_t row_errors = 0;
            for (int64_t base = 0; base < n; base += BLOCK) {
                uint64_t wanted = z[i * words_of(n) + base / BLOCK], left = inside(n - base);
                while ((left &= violations(h + base, wanted, lowest, highest))) {
                    int64_t t = base + lowest_bit(left);
                    int64_t change = wanted >> (t - base) & 1 ? active_step : -step;
                    row_errors++;
                    counts[i * n + t] += change;
                    for (int64_t s = 0; s < n; s++)
                        h[s] += change * gram[t * row_of(n) + s]; /* eq. (6) */
                    left = inside(n - base) & ~(uint64_t)1 << (t - base); /* later ones */
                }
            }
            errors[e] += row_errors;
            raised[i] += row_errors == 0;
        }
    }
    return 0;
}

#endif
