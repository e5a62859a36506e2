/* The kernel of the sparse rule: a stretch of an epoch in whole numbers of type T, exactly what `rule.present` in engine/sparse does.
 * Whoever calls it has made sure that no number of the coming stretch leaves T. Chance comes from outside: which units of each x(t) are
 * flipped, and the random part of scores where targets are redrawn.
 *
 * The fields of hidden neurons at the n stored patterns are carried along (the dual form). An update at transition t adds a multiple of
 * the products of the noisy x(t) with all stored patterns, bias included. The field of a noisy pattern is that of the clean one, less
 * twice the weights of its few flipped units. So a presentation costs (flipped units) x M instead of N x M, and an update n + N.
 *
 * Updates go along the rows of fields and of U, but a presentation reads columns of both, which costs far more than the arithmetic. So
 * columns are transposed for a window of coming presentations at a time, and updates are made there, too. The feedback Q x(t+1), by
 * which targets are chosen, is carried along in the same way.
 *
 * Under constraints on synapses an update is no longer the same for all fields. Then fields of U and the feedback are sums over
 * weights at every presentation, and are not carried along; only where V practises alone are the fields those that the caller gives.
 *
 * V is transposed, since a presentation reads and writes the rows of its few active neurons; it is Q, too, since both get the same
 * updates.
 */
#include "sparse.h"

/* Names of this file, one set for each T */
#define Task TYPED(Task)
#define above TYPED(above)
#define add_rows TYPED(add_rows)
#define add_narrow_rows TYPED(add_narrow_rows)
#define transpose TYPED(transpose)
#define look_forward TYPED(look_forward)
#define change TYPED(change)
#define project TYPED(project)
#define mark_highest TYPED(mark_highest)
#define approach TYPED(approach)
#define choose TYPED(choose)
#define learn_hidden TYPED(learn_hidden)
#define learn_visible TYPED(learn_visible)
#define field_of TYPED(field_of)
#define obey TYPED(obey)
#define is_for_V TYPED(is_for_V)
#define fade TYPED(fade)
#define change_under_constraints TYPED(change_under_constraints)
#define set_fields_directly TYPED(set_fields_directly)

/* Arrays of the worker in engine.py, then work space. Declared in kernels.py in the same order, as all structs. */
typedef struct {
    int64_t n, n_in, N, M;          /* transitions, input units, visible and hidden neurons */
    int64_t noise;                  /* units that are flipped, at most */
    int64_t learned;                /* n_in if P is learned, else 0 */
    int64_t feedback_row;           /* row of n if targets are chosen by feedback, else 0 */
    int64_t counted;                /* n if changes of U are counted, and U is made at the end, else 0 */
    int64_t obeying;                /* M if there are constraints, else 0 */
    const int8_t *inputs, *targets; /* x(t) and x(t+1), (n, n_in) and (n, N) */
    const uint64_t *input_bits, *target_bits; /* the same as bits, (words of n_in, n) and (words of N, n) */
    const int32_t *gram;            /* products of all [x(s); b], (n, row of n) */
    const double *drive;            /* (n, M), for scores where P is not learned */
    const int32_t *flipped;         /* the flipped units of each x(t), (n, noise), */
    const int32_t *n_flipped;       /* and how many they are */
    const T *lowest, *highest;      /* margins: fields from which on, and up to which, a neuron is wrong; padded */
    double *theta;
    double *wrong;      /* see SparseState */
    uint8_t *redrawn;
    uint64_t *z;        /* targets, as bits (n, words of M) */
    int16_t *P;         /* (M, learned) */
    int16_t *Pt;        /* transposed, (learned, row of M) */
    T *totals;          /* sums of the rows of P, padded */
    double *inverse;    /* 1 / their lengths */
    T *U;               /* (padded M, row of n_in + 1) */
    int64_t *counts;    /* or sums of the changes made at each transition, (M, counted) */
    T *Vt;              /* V transposed, (M, row of N) */
    T *fields;          /* U [x(s); b] for all transitions, (padded M, row of n) */
    T *feedback;        /* Q x(s+1) for all transitions, (padded M, feedback_row) */
    const T *low, *high;     /* what each synapse of U may be, (obeying, n_in), */
    const T *low_V, *high_V; /* and of V transposed, (obeying, N); */
    int64_t spacing, spacing_V; /* between levels, or 0, */
    double left, left_V; /* and what it keeps of itself at every transition */
    int64_t *mu, *nu;   /* errors of each hidden neuron, and of all visible ones: these are added to */
    T *Ut;              /* work: U transposed, (padded n_in, row of M), where there is noise */
    T *h, *q;           /* columns of fields, with noise, and of feedback for a window, (WINDOW, row of M) */
    uint64_t *noisy;    /* its patterns as bits, (words of n_in, WINDOW) */
    int32_t *overlap;   /* products of one pattern with the stored ones (n), */
    int32_t *ahead;     /* and with those of a window */
    T *sums, *g;        /* P x; fields of visible neurons, then their updates: each padded */
    double *score, *projected, *highest_scores;
    int32_t *best, *active, *plus, *minus;
    uint64_t *wrong_bits;
    int8_t *x;          /* a pattern with noise */
} Task;

/* Whether an epoch is for V alone, with fixed codes and nothing left to chance but levels. */
INLINE int is_for_V(const Task *task, const SparseRule *rule)
{
    return !(rule->hidden_step || rule->choosing || rule->redraw_above < INFINITY || task->noise);
}

/* ---- Rows of numbers ---- */

/* Add factor * (the sum of some rows of W) to a total, `some` rows at a time, whose sum must fit into ROW; `width` is padded. */
#define DEFINE_ADD_ROWS(NAME, ROW)                                                                                         \
    static void NAME(T *total, T factor, const ROW *W, int64_t stride, const int32_t *rows, int64_t count, int64_t some, \
                     int64_t width)                                                                                               \
    {                                                                                                                             \
        typedef ROW Vector __attribute__((vector_size(REGISTER), aligned(sizeof(ROW)), may_alias));                               \
        enum { PER = REGISTER / sizeof(ROW), SUMS = 4 * PER < BLOCK ? 4 : BLOCK / PER };                                          \
        for (int64_t first = 0; first < count; first += some)                                                                     \
            for (int64_t at = 0; at < width; at += SUMS * PER) {                                                                  \
                Vector sum[SUMS] = {{0}};                                                                                         \
                ROW sums[SUMS * PER];                                                                                             \
                for (int64_t k = first; k < least(first + some, count); k++)                                                      \
                    for (int v = 0; v < SUMS; v++)                                                                                \
                        sum[v] += *(const Vector *)(W + rows[k] * stride + at + v * PER);                                         \
                memcpy(sums, sum, sizeof sums);                                                                                   \
                for (int v = 0; v < SUMS * PER; v++)                                                                              \
                    total[at + v] += factor * sums[v];                                                                            \
            }                                                                                                                     \
    }
DEFINE_ADD_ROWS(add_rows, T)
DEFINE_ADD_ROWS(add_narrow_rows, int16_t)

/* Bit k says whether row[k] > bound[k]. */
INLINE uint64_t above(const T *row, const T *bound)
{
#if defined(AVX512)
    uint64_t bits = 0;
    for (int k = 0; k < BLOCK; k += REGISTER * 8 / BITS) {
        __m512i some = _mm512_loadu_si512(row + k), other = _mm512_loadu_si512(bound + k);
        bits |= (uint64_t)(BITS == 32 ? _mm512_cmpgt_epi32_mask(some, other) : _mm512_cmpgt_epi64_mask(some, other)) << k;
    }
    return bits;
#else
    uint8_t holds[BLOCK];
    for (int k = 0; k < BLOCK; k++)
        holds[k] = row[k] > bound[k];
    return bits_of(holds);
#endif
}

/* Write the columns first to last - 1 of W to the first rows of `out`, in whole tiles: W is padded both ways. */
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

/* ---- Fields that are carried along ---- */

/* Look up fields, with noise, and feedback for the presentations from first to last - 1. */
static void look_forward(Task *task, const SparseRule *rule, int64_t first, int64_t last)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, words = words_of(n_in);
    if (rule->choosing && task->feedback_row && !task->obeying)
        transpose(task->feedback, M, row_of(n), first, last, task->q, row_of(M));
    if (task->obeying && !is_for_V(task, rule))
        return;
    transpose(task->fields, M, row_of(n), first, last, task->h, row_of(M));
    if (!task->noise)
        return;
    transpose(task->U, M, row_of(n_in + 1), 0, n_in, task->Ut, row_of(M));
    for (int64_t word = 0; word < words; word++)
        memcpy(task->noisy + word * WINDOW, task->input_bits + word * n + first, (size_t)(last - first) * sizeof(uint64_t));
    for (int64_t t = first; t < last; t++) {
        int64_t n_plus = 0, n_minus = 0;
        T *h = task->h + (t - first) * row_of(M);
        for (int64_t k = 0; k < task->n_flipped[t]; k++) { /* no branch: none is foreseen */
            int32_t unit = task->flipped[t * task->noise + k];
            int is_plus = task->inputs[t * n_in + unit] > 0;
            task->noisy[unit / BLOCK * WINDOW + t - first] ^= (uint64_t)1 << unit % BLOCK;
            task->plus[n_plus] = task->minus[n_minus] = unit;
            n_plus += is_plus, n_minus += !is_plus;
        }
        add_rows(h, -2, task->Ut, row_of(M), task->plus, n_plus, n_plus, padded(M));
        add_rows(h, 2, task->Ut, row_of(M), task->minus, n_minus, n_minus, padded(M));
    }
}

/* Change a row of carried fields, and from now on its column in the window, by step * products. */
INLINE void change(T *restrict fields, int64_t n, T *column, int64_t stride, int64_t left, T step, const int32_t *restrict overlap,
                   const int32_t *ahead)
{
    for (int64_t s = 0; s < n; s++)
        fields[s] += step * overlap[s];
    for (int64_t s = 0; s < left; s++)
        column[s * stride] += step * ahead[s];
}

/* ---- Under constraints on synapses: engine/synapses.py ---- */

INLINE T field_of(const T *w, const int8_t *x, int64_t n)
{
    T total = 0;
    for (int64_t j = 0; j < n; j++)
        total += w[j] * x[j];
    return total;
}

/* Look up the fields of x(t), with noise, and the feedback for its presentation. */
static void set_fields_directly(Task *task, const SparseRule *rule, int64_t t, T *h, T *q)
{
    int64_t n_in = task->n_in, N = task->N;
    memcpy(task->x, task->inputs + t * n_in, (size_t)n_in);
    for (int64_t k = 0; k < task->n_flipped[t]; k++)
        task->x[task->flipped[t * task->noise + k]] *= -1;
    for (int64_t i = 0; i < task->M; i++) {
        const T *w = task->U + i * row_of(n_in + 1);
        h[i] = field_of(w, task->x, n_in) + (T)rule->bias * w[n_in];
        if (rule->choosing && task->feedback_row)
            q[i] = field_of(task->Vt + i * row_of(N), task->targets + t * N, N);
    }
}

/* Bring n synapses to what is possible; between two levels chance decides. */
static void obey(T *restrict w, const T *restrict low, const T *restrict high, int64_t n, int64_t spacing, const Generator *rng)
{
    for (int64_t j = 0; j < n && spacing > 0; j++) {
        double level = (double)w[j] / (double)spacing, below = floor(level);
        w[j] = (T)(((int64_t)below + ((double)draw_real(rng) < level - below)) * spacing);
    }
    for (int64_t j = 0; j < n; j++) {
        T at_least = w[j] > low[j] ? w[j] : low[j];
        w[j] = at_least < high[j] ? at_least : high[j];
    }
}

/* What n synapses have left when a transition is presented. */
INLINE void fade(T *w, int64_t n, double left)
{
    for (int64_t j = 0; j < n; j++)
        w[j] = (T)rint((double)w[j] * left);
}

/* ---- The choice of targets, in place of eq. (4): `rule.choose` ---- */

/* The projection of x on each row of P, as a multiple of its length: twice the columns of units that are +1, less all. */
static const double *project(Task *task, const int8_t *restrict x)
{
    int64_t n_plus = 0, n_in = task->n_in, M = task->M;
    int32_t *restrict plus = task->plus;
    T *restrict sums = task->sums;
    const T *restrict totals = task->totals;
    double *restrict projected = task->projected;
    const double *restrict inverse = task->inverse;
    for (int32_t j = 0; j < n_in; j++) { /* without a branch, since none is foreseen */
        plus[n_plus] = j;
        n_plus += x[j] > 0;
    }
    for (int64_t i = 0; i < padded(M); i++)
        sums[i] = -totals[i];
    add_narrow_rows(sums, 2, task->Pt, row_of(M), plus, n_plus, INT16_MAX / PROTOTYPE, padded(M));
    for (int64_t i = 0; i < M; i++)
        projected[i] = (double)sums[i] * inverse[i];
    return projected;
}

/* Set z to the k highest scores, of equals the first. */
static void mark_highest(Task *task, int64_t k, uint64_t *z)
{
    const double *score = task->score;
    double *highest = task->highest_scores, threshold = -INFINITY;
    int64_t found = 0;
    for (int64_t base = 0; k > 0 && base < task->M; base += BLOCK) {
        uint64_t left = scores_above(score + base, threshold) & inside(task->M - base);
        for (; left; left &= left - 1) {
            int64_t i = base + lowest_bit(left), place = least(found, k - 1);
            if (found == k && score[i] <= highest[k - 1])
                continue;
            for (; place > 0 && score[i] > highest[place - 1]; place--)
                highest[place] = highest[place - 1], task->best[place] = task->best[place - 1];
            highest[place] = score[i], task->best[place] = (int32_t)i;
            found = least(found + 1, k);
        }
        if (found == k)
            threshold = highest[k - 1];
    }
    memset(z, 0, (size_t)words_of(task->M) * sizeof *z);
    for (int64_t place = 0; place < found; place++)
        z[task->best[place] / BLOCK] |= (uint64_t)1 << task->best[place] % BLOCK;
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
    for (int64_t j = 0; j < n_in; j++, column += stride)
        *column = row[j];
    task->totals[i] = (T)total;
    task->inverse[i] = 1.0 / (square > 0 ? sqrt((double)square) : 1.0);
}

/* Choose the targets of transition t, or redraw them, and let P and theta learn from the choice; feedback is Q x(t+1). A redraw uses M
 * of the random numbers `normals`; returns where the next ones are. */
static const double *choose(Task *task, const SparseRule *rule, int64_t t, const T *restrict feedback, const double *normals)
{
    const int8_t *x = task->inputs + t * task->n_in;
    int64_t M = task->M, redraw = task->wrong[t] > rule->redraw_above;
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
        } else if (task->feedback_row)
            for (int64_t i = 0; i < M; i++)
                score[i] += rule->learned_feedback * (double)feedback[i];
        if (rule->winners)
            mark_highest(task, rule->n_winners, z);
        else
            for (int64_t base = 0; base < M; base += BLOCK)
                z[base / BLOCK] = scores_above(score + base, 0) & inside(M - base);
    }
    if (!rule->choosing)
        return normals;
    double mean = (double)rule->n_winners / (double)M, rise = rule->homeostasis * (1 - mean), fall = rule->homeostasis * (0 - mean);
    int64_t n_chosen = 0;
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

/* ---- Learning ---- */

/* Let the neurons that are wrong, in `active`, learn the pattern `x`, eq. (6), under constraints, and look up their fields again. */
static void change_under_constraints(Task *task, const SparseRule *rule, const uint64_t *z, T *h, int64_t n_wrong, const Generator *chance)
{
    int64_t n_in = task->n_in, fades = task->left >= 0 && task->left < 1, next = 0;
    for (int64_t k = 0; k < (fades ? task->M : n_wrong); k++) {
        int64_t i = fades ? k : task->active[k];
        T *restrict w = task->U + i * row_of(n_in + 1);
        T step = (T)(z[i / BLOCK] >> i % BLOCK & 1 ? rule->hidden_step * rule->active_weight : -rule->hidden_step);
        if (fades)
            fade(w, n_in, task->left);
        if (next < n_wrong && task->active[next] == i) {
            for (int64_t j = 0; j < n_in; j++)
                w[j] += step * task->x[j];
            w[n_in] += step * (T)rule->bias;
            task->mu[i]++, next++;
        }
        obey(w, task->low + i * n_in, task->high + i * n_in, n_in, task->spacing, chance);
        h[i] = field_of(w, task->x, n_in) + (T)rule->bias * w[n_in];
    }
}

/* Let U learn the targets of transition t, eqs. (5)-(6); the window goes from first to last - 1. */
static void learn_hidden(Task *task, const SparseRule *rule, int64_t t, int64_t first, int64_t last, const Generator *chance)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, words = words_of(n_in), n_wrong = 0;
    const uint64_t *z = task->z + t * words_of(M);
    const int8_t *restrict x = task->inputs + t * n_in;
    const int32_t *overlap = task->gram + t * row_of(n), *ahead = overlap + t, *flipped = task->flipped + t * task->noise;
    T *h = task->h + (t - first) * row_of(M);
    for (int64_t i = 0; i < M; i += BLOCK) { /* at most `highest` though wanted, or at least `lowest` though not */
        uint64_t wanted = z[i / BLOCK];
        uint64_t wrong = (wanted & ~above(h + i, task->highest + i)) | (~wanted & ~above(task->lowest + i, h + i));
        n_wrong += list_bits(wrong & inside(M - i), i, task->active + n_wrong);
    }
    if (task->obeying) {
        change_under_constraints(task, rule, z, h, n_wrong, chance);
        return;
    }
    if (n_wrong && task->noise) {
        const uint64_t *noisy = task->noisy + t - first;
        int64_t length = n_in + rule->bias * rule->bias; /* |[x; b]|^2 */
        products(task->input_bits, n, words, noisy, WINDOW, NULL, length, task->overlap, n);
        products(noisy, WINDOW, words, noisy, WINDOW, NULL, length, task->ahead, last - t);
        overlap = task->overlap, ahead = task->ahead;
    }
    for (int64_t k = 0; k < n_wrong; k++) {
        int64_t i = task->active[k];
        T step = (T)(z[i / BLOCK] >> i % BLOCK & 1 ? rule->hidden_step * rule->active_weight : -rule->hidden_step);
        change(task->fields + i * row_of(n), n, h + i, row_of(M), last - t, step, overlap, ahead);
        task->mu[i]++;
        if (task->counted) {
            task->counts[i * n + t] += step;
            continue;
        }
        T *restrict weights = task->U + i * row_of(n_in + 1);
        for (int64_t j = 0; j < n_in; j++)
            weights[j] += step * x[j];
        for (int64_t f = 0; f < task->n_flipped[t]; f++)
            weights[flipped[f]] -= 2 * step * x[flipped[f]];
        weights[n_in] += step * (T)rule->bias;
    }
}

/* Let V learn x(t+1) from the hidden neurons that are active, eqs. (7)-(9), and feedback follow it where targets are chosen by it: Q
 * x(s+1) changes by the products of x(t+1) and x(s+1) over the units with an error. */
static void learn_visible(Task *task, const SparseRule *rule, int64_t t, int64_t first, int64_t last, const Generator *chance)
{
    int64_t n = task->n, N = task->N, M = task->M, n_active = 0;
    const int8_t *restrict x_next = task->targets + t * N;
    T *restrict g = task->g, margin = (T)rule->visible_margin, step = (T)rule->visible_step, errors = 0, wrong = 0;
    const T *h = task->h + (t - first) * row_of(M), zeros[BLOCK] = {0};
    for (int64_t i = 0; i < M; i += BLOCK)
        n_active += list_bits(~above(zeros, h + i) & inside(M - i), i, task->active + n_active);
    memset(g, 0, (size_t)padded(N) * sizeof *g);
    add_rows(g, 1, task->Vt, row_of(N), task->active, n_active, n_active, padded(N));
    for (int64_t j = 0; j < N; j++) {
        T x = x_next[j], nu = x * g[j] <= margin;
        wrong += (g[j] >= 0) != (x > 0);
        errors += nu;
        g[j] = nu ? x * step : 0;
    }
    int fades = task->obeying && task->left_V >= 0 && task->left_V < 1;
    for (int64_t i = 0; i < M && fades; i++)
        fade(task->Vt + i * row_of(N), N, task->left_V);
    for (int64_t k = 0; errors && k < n_active; k++) {
        T *restrict row = task->Vt + task->active[k] * row_of(N);
        for (int64_t j = 0; j < N; j++)
            row[j] += g[j];
    }
    for (int64_t k = 0; task->obeying && (fades ? k < M : errors && k < n_active); k++) {
        int64_t i = fades ? k : task->active[k];
        obey(task->Vt + i * row_of(N), task->low_V + i * N, task->high_V + i * N, N, task->spacing_V, chance);
    }
    task->wrong[t] += (is_for_V(task, rule) ? 1 : WRONG_AVERAGING) * ((double)wrong - task->wrong[t]);
    *task->nu += errors;
    if (!errors || !rule->choosing || !task->feedback_row || task->obeying)
        return;
    for (int64_t j = 0; j < N; j += BLOCK)
        task->wrong_bits[j / BLOCK] = above(g + j, zeros) | above(zeros, g + j);
    products(task->target_bits, n, words_of(N), task->target_bits + t, n, task->wrong_bits, errors, task->overlap, n);
    for (int64_t k = 0; k < n_active; k++) {
        int64_t i = task->active[k];
        T *column = task->q + (t - first) * row_of(M) + i;
        change(task->feedback + i * row_of(n), n, column, row_of(M), last - t, step, task->overlap, task->overlap + t);
    }
}

/* Learn from first to last - 1. Returns -1 if there are too few normals (redraws, M): a transition is redrawn if too many of its visible
 * neurons were wrong before. Under constraints, chance of U and of V decides between levels. */
EXPORT int64_t TYPED(sparse_learn)(int64_t redraws, Task *task, const SparseRule *rule, const double *normals, int64_t first,
                                   int64_t last, const Generator *chance, const Generator *chance_V)
{
    for (int64_t t = first; t < last; t++)
        redraws -= task->wrong[t] > rule->redraw_above;
    if (redraws < 0)
        return -1;
    for (int64_t end; first < last; first = end) {
        end = least(first + WINDOW, last);
        look_forward(task, rule, first, end);
        for (int64_t t = first; t < end; t++) {
            if (task->obeying && !is_for_V(task, rule))
                set_fields_directly(task, rule, t, task->h + (t - first) * row_of(task->M), task->q + (t - first) * row_of(task->M));
            normals = choose(task, rule, t, task->q + (t - first) * row_of(task->M), normals);
            if (rule->hidden_step)
                learn_hidden(task, rule, t, first, end, chance);
            if (rule->visible_step)
                learn_visible(task, rule, t, first, end, chance_V);
        }
    }
    return 0;
}
