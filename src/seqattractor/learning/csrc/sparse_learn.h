/* Kernels of the sparse rule: a stretch of an epoch in whole numbers of type T, exactly what `rule.present` in learning/sparse does.
 * Whoever calls a kernel has made sure that no number of the coming stretch leaves T. Chance comes from outside: which units of each
 * x(t) are flipped, and the random part of scores where targets are redrawn.
 *
 * V is transposed, since a presentation reads and writes the rows of its few active neurons; it is Q, too, since both get the same
 * updates. How the kernels come by the fields of hidden neurons:
 *
 * sparse_on_weights computes each from the weights: quickest for patterns without noise that come but once.
 *
 * sparse_on_fields carries the fields at the n stored patterns along (the dual form). An update at transition t adds a multiple of a
 * row of products of the noisy x(t) with all stored patterns, bias included: a row of the Gram matrix, less what the flipped units
 * contributed. The field of a noisy pattern is that of the clean one, less twice the weights of its few flipped units. So a
 * presentation costs (flipped units) x M instead of N x M, and each update n + N. Updates go along the rows of fields and of U, but a
 * presentation reads columns of both, which costs far more than the arithmetic. So both are transposed once in a while, and updates
 * made since are added to what they say: each adds its step times the product of the pattern it was made for with the one that is
 * presented, N less twice the number of units in which they differ.
 *
 * sparse_by_tables is for noise and fixed targets, where a hidden neuron depends on no other and not on V. NEURONS at a time learn the
 * whole stretch and leave a tape of their codes, from which V learns. Units are taken in groups of four, and for each group there is a
 * table of what its weights add to the field for each of the sixteen patterns it can have. So a field is a sum of N / 4 numbers, a
 * flipped unit costs nothing more, and everything stays in the fastest cache.
 *
 * Two more kernels let U or V practise alone, neuron by neuron.
 */
#include "sparse.h"

/* Names of this file, one set for each T */
#define Task TYPED(Task)
#define Carried TYPED(Carried)
#define Tables TYPED(Tables)
#define Part TYPED(Part)
#define above TYPED(above)
#define violations TYPED(violations)
#define add_rows TYPED(add_rows)
#define add_narrow_rows TYPED(add_narrow_rows)
#define add_signs TYPED(add_signs)
#define transpose TYPED(transpose)
#define learn_visible TYPED(learn_visible)
#define follow TYPED(follow)
#define learn_from_fields TYPED(learn_from_fields)
#define project TYPED(project)
#define mark_highest TYPED(mark_highest)
#define approach TYPED(approach)
#define choose TYPED(choose)
#define begin TYPED(begin)
#define step_of TYPED(step_of)
#define list_violations TYPED(list_violations)
#define add_updates TYPED(add_updates)
#define fill_table TYPED(fill_table)
#define learn_block TYPED(learn_block)

typedef T Part __attribute__((vector_size(REGISTER), aligned(sizeof(T)), may_alias));

/* What all kernels need: arrays of the worker in engine.py, then work space. Declared in kernels.py in the same order, as all structs. */
typedef struct {
    int64_t n, n_in, N, M;          /* transitions, input units, visible and hidden neurons */
    int64_t noise;                  /* units that are flipped, at most */
    int64_t learned;                /* n_in if P is learned, else 0 */
    int64_t feedback_row;           /* row of n if targets are chosen by feedback, else 0 */
    const int8_t *inputs, *targets; /* x(t) and x(t+1), (n, n_in) and (n, N) */
    const double *drive;            /* (n, M), for scores where P is not learned */
    const int32_t *flipped;         /* the flipped units of each x(t), (n, noise), */
    const int32_t *n_flipped;       /* and how many they are */
    double *theta;
    double *wrong;      /* see SparseState */
    uint8_t *redrawn;
    uint64_t *z;        /* targets, as bits (n, words of M) */
    int16_t *P;         /* (M, learned) */
    int16_t *Pt;        /* transposed, (learned, row of M) */
    T *totals;          /* sums of the rows of P, padded */
    double *inverse;    /* 1 / their lengths */
    T *Vt;              /* V transposed, (M, row of N) */
    T *feedback;        /* Q x(s+1) for all transitions, (padded M, feedback_row) */
    const uint64_t *next_bits; /* all x(s+1), as bits (words of N, n) */
    T *ahead;           /* work: columns of `feedback` for the coming transitions, (FEEDBACK_PRESENTATIONS, row of M), */
    int64_t *window;    /* which these are: from, to */
    T *h, *sums, *g;    /* fields of hidden neurons; P x; fields of visible neurons, then their updates: each padded */
    double *score, *projected, *highest;
    int32_t *best, *active, *plus, *minus;
    uint64_t *wrong_bits;
    int64_t *products;  /* (n) */
    T *row;             /* (n) */
} Task;

/* What the dual form carries along. */
typedef struct {
    int64_t counted;            /* n if changes are counted and U is made at the end, else 0 */
    T *fields;                  /* U [x(s); b], (padded M, row of n) */
    T *U;                       /* (padded M, row of n_in + 1) */
    int64_t *counts;            /* sums of the changes made at each transition, (M, counted) */
    const int32_t *gram;        /* products of all [x(s); b], (n, row of n) */
    const int8_t *inputs_t;     /* the inputs transposed, (n_in, row of n) */
    const uint64_t *input_bits; /* and as bits, (n, words of n_in) */
    T *ahead;                   /* columns of `fields` for the coming transitions, (PRESENTATIONS, row of M) */
    T *Ut;                      /* U transposed, (padded n_in, row of M), where there is noise */
    uint64_t *patterns;         /* work: since then, patterns with an update, (words of n_in, PRESENTATIONS) */
    uint32_t *neuron, *pattern; /* and for each update its neuron, the number of its pattern, and its step */
    T *step;
    int64_t *product;           /* of these with the pattern that is presented, (PRESENTATIONS) */
    uint64_t *x_bits;           /* the presented pattern as bits, and its products with all others, padded */
    int32_t *overlap;
} Carried;

/* ---- Rows of numbers ---- */

/* Add factor * (the sum of some rows of W) to a total, `some` rows at a time, whose sum must fit into ROW; `width` is padded. */
#define DEFINE_ADD_ROWS(NAME, TOTAL, ROW)                                                                                         \
    static void NAME(TOTAL *total, TOTAL factor, const ROW *W, int64_t stride, const int32_t *rows, int64_t count, int64_t some, \
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
DEFINE_ADD_ROWS(add_rows, T, T)
DEFINE_ADD_ROWS(add_narrow_rows, T, int16_t)
DEFINE_ADD_ROWS(add_signs, int32_t, int8_t)

/* Bit k says whether row[k] > bound, for `count` numbers, at most 64; bits beyond them are 0. */
INLINE uint64_t above(const T *row, T bound, const int count)
{
#if defined(AVX512)
    uint64_t bits = 0;
    for (int k = 0; k < count; k += REGISTER * 8 / BITS) {
        __m512i some = _mm512_loadu_si512(row + k);
        bits |= (uint64_t)(BITS == 32 ? _mm512_cmpgt_epi32_mask(some, _mm512_set1_epi32((int)bound))
                                      : _mm512_cmpgt_epi64_mask(some, _mm512_set1_epi64(bound))) << k;
    }
    return bits;
#else
    uint8_t holds[BLOCK] = {0};
    for (int k = 0; k < count; k++)
        holds[k] = row[k] > bound;
    return bits_of(holds);
#endif
}

/* Bit k says whether a field violates its margin, eq. (5): it is at most `highest` though wanted, or at least `lowest` though not. */
INLINE uint64_t violations(const T *h, uint64_t wanted, T lowest, T highest, const int count)
{
    return (~above(h, highest, count) & wanted) | (above(h, lowest - 1, count) & ~wanted);
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

/* ---- Visible neurons ---- */

/* Let V learn x(t+1) from the active hidden neurons, eqs. (8)-(9); returns sum nu, and leaves the updates in g. */
static int64_t learn_visible(Task *task, const SparseRule *rule, int64_t t, int64_t n_active)
{
    int64_t N = task->N;
    const int8_t *restrict x_next = task->targets + t * N;
    T *restrict g = task->g, margin = (T)rule->visible_margin, step = (T)rule->visible_step, errors = 0, wrong = 0;
    memset(g, 0, (size_t)padded(N) * sizeof *g);
    add_rows(g, 1, task->Vt, row_of(N), task->active, n_active, n_active, padded(N));
    for (int64_t j = 0; j < N; j++) {
        T x = x_next[j], nu = x * g[j] <= margin;
        wrong += (g[j] >= 0) != (x > 0);
        errors += nu;
        g[j] = nu ? x * step : 0;
    }
    for (int64_t k = 0; errors && k < n_active; k++) {
        T *restrict row = task->Vt + task->active[k] * row_of(N);
        for (int64_t j = 0; j < N; j++)
            row[j] += g[j];
    }
    task->wrong[t] += WRONG_AVERAGING * ((double)wrong - task->wrong[t]);
    return errors;
}

/* Give Q x(s+1), for all s, the update that V got at transition t: by its errors times the products of x(t+1) and x(s+1) over them. */
static void follow(Task *task, int64_t t, int64_t n_active, int64_t n_errors, int64_t step)
{
    int64_t n = task->n, words = words_of(task->N), *restrict products = task->products;
    T *restrict row = task->row;
    for (int64_t word = 0; word < words; word++)
        task->wrong_bits[word] = above(task->g + word * BLOCK, 0, BLOCK) | ~above(task->g + word * BLOCK, -1, BLOCK);
    count_differences(task->next_bits, n, words, task->next_bits + t, n, task->wrong_bits, products, n);
    for (int64_t s = 0; s < n; s++)
        row[s] = (T)(step * (n_errors - 2 * products[s]));
    for (int64_t k = 0; k < n_active; k++) {
        T *restrict of_neuron = task->feedback + task->active[k] * row_of(n);
        T *column = task->ahead + (t - task->window[0]) * row_of(task->M) + task->active[k];
        for (int64_t s = 0; s < n; s++)
            of_neuron[s] += row[s];
        for (int64_t s = t, end = task->window[1], stride = row_of(task->M); s < end; s++, column += stride)
            *column += row[s];
    }
}

/* Let V learn from the hidden fields h, eq. (7), and feedback follow it where targets are chosen by it; returns sum nu. */
static int64_t learn_from_fields(Task *task, const SparseRule *rule, int64_t t)
{
    int64_t n_active = 0;
    for (int64_t base = 0; base < task->M; base += BLOCK)
        n_active += list_bits(above(task->h + base, -1, BLOCK) & inside(task->M - base), base, task->active + n_active);
    int64_t errors = learn_visible(task, rule, t, n_active);
    if (errors && rule->choosing && task->feedback_row)
        follow(task, t, n_active, errors, rule->visible_step);
    return errors;
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

/* Set z to the k highest scores, of equals the first.
 *
 * If k neurons are in z already, none below the lowest of these can be among the highest, so that few scores are sorted. */
static void mark_highest(Task *task, int64_t k, uint64_t *z)
{
    const double *score = task->score;
    double *highest = task->highest, threshold = INFINITY;
    int64_t found = 0, n_marked = 0;
    for (int64_t word = 0; word < words_of(task->M); word++)
        for (uint64_t left = z[word]; left; left &= left - 1, n_marked++) {
            double marked = score[word * BLOCK + lowest_bit(left)];
            threshold = marked < threshold ? marked : threshold;
        }
    if (n_marked < k)
        threshold = -INFINITY;
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
        if (found == k && highest[k - 1] > threshold)
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

/* Choose the targets of transition t, or redraw them, and let P and theta learn from the choice. A redraw uses M of the random numbers
 * `normals`; returns where the next ones are. */
static const double *choose(Task *task, const SparseRule *rule, int64_t t, const double *normals)
{
    const int8_t *x = task->inputs + t * task->n_in;
    int64_t M = task->M, redraw = task->wrong[t] > rule->redraw_above, *window = task->window;
    uint64_t *z = task->z + t * words_of(M);
    double *restrict score = task->score, *restrict theta = task->theta;
    if (redraw || (rule->choosing && !task->redrawn[t])) {
        const double *drive = task->learned ? project(task, x) : task->drive + t * M;
        if (redraw) {
            for (int64_t i = 0; i < M; i++)
                score[i] = (drive[i] - theta[i]) + rule->redraw * normals[i];
            normals += M, task->redrawn[t] = 1, task->wrong[t] = 0;
        } else if (task->feedback_row) {
            if (t < window[0] || t >= window[1]) {
                window[0] = t & -TILE, window[1] = least(window[0] + FEEDBACK_PRESENTATIONS, task->n);
                transpose(task->feedback, M, row_of(task->n), window[0], window[1], task->ahead, row_of(M));
            }
            const T *restrict feedback = task->ahead + (t - window[0]) * row_of(M); /* Q x(t+1) */
            double weight = rule->learned_feedback;
            for (int64_t i = 0; i < M; i++)
                score[i] = (drive[i] - theta[i]) + weight * (double)feedback[i];
        } else
            for (int64_t i = 0; i < M; i++)
                score[i] = drive[i] - theta[i];
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

/* Begin a stretch; returns whether `redraws` rows of random numbers suffice: a transition is redrawn if that many of its visible neurons
 * were wrong before. */
static int begin(const Task *task, const SparseRule *rule, int64_t redraws, int64_t first, int64_t last)
{
    task->window[0] = task->window[1] = first;
    for (int64_t t = first; t < last; t++)
        redraws -= task->wrong[t] > rule->redraw_above;
    return redraws >= 0;
}

/* ---- Hidden neurons ---- */

/* The signed step of a hidden neuron, eq. (6). */
INLINE T step_of(const SparseRule *rule, int wanted)
{
    return (T)(wanted ? rule->hidden_step * rule->active_weight : -rule->hidden_step);
}

/* List the hidden neurons whose fields h violate their margins for targets z, eq. (5); returns how many. */
static int64_t list_violations(Task *task, const SparseRule *rule, const uint64_t *z)
{
    int64_t count = 0;
    for (int64_t base = 0; base < task->M; base += BLOCK) {
        uint64_t found = violations(task->h + base, z[base / BLOCK], (T)-rule->margin, (T)rule->active_margin, BLOCK);
        count += list_bits(found & inside(task->M - base), base, task->active + count);
    }
    return count;
}

/* Learn from first to last - 1 with fields from the weights U (padded M, row of n_in + 1); adds sum mu and sum nu to errors. Returns -1
 * if there are too few normals (redraws, M), as do the kernels below. */
EXPORT int64_t TYPED(sparse_on_weights)(int64_t redraws, Task *task, T *U, T *restrict negative, int64_t *errors, const SparseRule *rule,
                                        const double *normals, int64_t first, int64_t last)
{
    int64_t n_in = task->n_in, bias = rule->bias, stride = row_of(n_in + 1);
    T *restrict h = task->h, length = (T)(n_in + bias * bias); /* |[x; b]|^2 */
    if (!begin(task, rule, redraws, first, last))
        return -1;
    for (int64_t t = first; t < last; t++) {
        const uint64_t *z = task->z + t * words_of(task->M);
        normals = choose(task, rule, t, normals);
        for (int64_t j = 0; j < n_in; j++)
            negative[j] = task->inputs[t * n_in + j] < 0 ? -1 : 0; /* then w ^ -1 is -w - 1 */
        for (int64_t k = 0; k < task->n_flipped[t]; k++)
            negative[task->flipped[t * task->noise + k]] ^= -1;
        for (int64_t i = 0; i < task->M; i++) {
            const T *restrict weights = U + i * stride;
            T total = 0;
            for (int64_t j = 0; j < n_in; j++)
                total += (weights[j] ^ negative[j]) - negative[j];
            h[i] = total + (T)bias * weights[n_in];
        }
        int64_t n_wrong = rule->hidden_step ? list_violations(task, rule, z) : 0;
        for (int64_t k = 0; k < n_wrong; k++) { /* eq. (6) */
            int64_t i = task->active[k];
            T step = step_of(rule, z[i / BLOCK] >> i % BLOCK & 1), *restrict weights = U + i * stride;
            for (int64_t j = 0; j < n_in; j++)
                weights[j] += (step ^ negative[j]) - negative[j];
            weights[n_in] += step * (T)bias;
            h[i] += step * length;
        }
        errors[0] += n_wrong;
        errors[1] += rule->visible_step ? learn_from_fields(task, rule, t) : 0;
    }
    return 0;
}

/* ---- Fields that are carried along ---- */

/* Add to fields h what the updates since the transposition do to the presented pattern x_bits. */
static void add_updates(T *h, T length, const Carried *carried, int64_t words, int64_t n_patterns, int64_t n_updates)
{
    int64_t *restrict product = carried->product;
    const uint32_t *neuron = carried->neuron, *pattern = carried->pattern;
    const T *step = carried->step;
    count_differences(carried->patterns, PRESENTATIONS, words, carried->x_bits, 1, NULL, product, n_patterns);
    for (int64_t p = 0; p < n_patterns; p++)
        product[p] = length - 2 * product[p];
    for (int64_t k = 0; k < n_updates; k++)
        h[neuron[k]] += step[k] * (T)product[pattern[k]];
}

/* Learn from first to last - 1 with fields that are carried along; adds sum mu and sum nu to errors. */
EXPORT int64_t TYPED(sparse_on_fields)(int64_t redraws, Task *task, Carried *carried, int64_t *errors, const SparseRule *rule,
                                       const double *normals, int64_t first, int64_t last)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, words = words_of(n_in), in_row = row_of(n_in + 1);
    int64_t n_patterns = 0, n_updates = 0, start = first, end = first;
    T *h = task->h, length = (T)(n_in + rule->bias * rule->bias); /* |[x; b]|^2 */
    if (!begin(task, rule, redraws, first, last))
        return -1;
    for (int64_t t = first; t < last; t++) {
        const uint64_t *z = task->z + t * words_of(M);
        const int8_t *x = task->inputs + t * n_in;
        const int32_t *flipped = task->flipped + t * task->noise;
        if (t == end || n_updates > PENDING) {
            start = t & -TILE, end = least(start + PRESENTATIONS, last), n_patterns = n_updates = 0;
            transpose(carried->fields, M, row_of(n), start, end, carried->ahead, row_of(M));
            if (task->noise)
                transpose(carried->U, M, in_row, 0, n_in, carried->Ut, row_of(M));
        }
        normals = choose(task, rule, t, normals);
        int64_t n_plus = 0, n_minus = 0;
        for (int64_t k = 0; k < task->n_flipped[t]; k++) { /* no branch: none is foreseen */
            int is_plus = x[flipped[k]] > 0;
            task->plus[n_plus] = task->minus[n_minus] = flipped[k];
            n_plus += is_plus, n_minus += !is_plus;
        }
        memcpy(h, carried->ahead + (t - start) * row_of(M), (size_t)padded(M) * sizeof *h);
        add_rows(h, -2, carried->Ut, row_of(M), task->plus, n_plus, n_plus, padded(M));
        add_rows(h, 2, carried->Ut, row_of(M), task->minus, n_minus, n_minus, padded(M));
        if (rule->hidden_step) {
            memcpy(carried->x_bits, carried->input_bits + t * words, (size_t)words * sizeof(uint64_t));
            for (int64_t k = 0; k < task->n_flipped[t]; k++)
                carried->x_bits[flipped[k] / BLOCK] ^= (uint64_t)1 << flipped[k] % BLOCK;
            add_updates(h, length, carried, words, n_patterns, n_updates);
            int64_t n_wrong = list_violations(task, rule, z);
            if (n_wrong) { /* products of the presented pattern with all [x(s); b] */
                memcpy(carried->overlap, carried->gram + t * row_of(n), (size_t)padded(n) * sizeof(int32_t));
                add_signs(carried->overlap, -2, carried->inputs_t, row_of(n), task->plus, n_plus, INT8_MAX, padded(n));
                add_signs(carried->overlap, 2, carried->inputs_t, row_of(n), task->minus, n_minus, INT8_MAX, padded(n));
                for (int64_t word = 0; word < words; word++)
                    carried->patterns[word * PRESENTATIONS + n_patterns] = carried->x_bits[word];
            }
            for (int64_t k = 0; k < n_wrong; k++) { /* eq. (6) */
                int64_t i = task->active[k];
                T step = step_of(rule, z[i / BLOCK] >> i % BLOCK & 1), *restrict fields = carried->fields + i * row_of(n);
                const int32_t *restrict overlap = carried->overlap;
                for (int64_t s = 0; s < n; s++)
                    fields[s] += step * overlap[s];
                if (!carried->counted) {
                    T *restrict weights = carried->U + i * in_row;
                    for (int64_t j = 0; j < n_in; j++)
                        weights[j] += step * x[j];
                    for (int64_t f = 0; f < task->n_flipped[t]; f++)
                        weights[flipped[f]] -= 2 * step * x[flipped[f]];
                    weights[n_in] += step * (T)rule->bias;
                } else
                    carried->counts[i * n + t] += step;
                h[i] += step * length;
                carried->neuron[n_updates] = (uint32_t)i, carried->pattern[n_updates] = (uint32_t)n_patterns;
                carried->step[n_updates++] = step;
            }
            n_patterns += n_wrong > 0;
            errors[0] += n_wrong;
        }
        errors[1] += rule->visible_step ? learn_from_fields(task, rule, t) : 0;
    }
    return 0;
}

/* ---- Fields from tables ---- */

/* Work space of the tables; a word of bits is for a block of NEURONS. */
typedef struct {
    const uint64_t *input_bits; /* (n, words of n_in) */
    T *U;                       /* (padded M, row of n_in + 1) */
    int8_t *noisy;              /* from here on work: the presented patterns, (n, n_in) */
    uint8_t *codes;             /* the patterns of their groups, (n, groups) */
    uint16_t *wanted, *tape;    /* targets, and which neurons were active, (blocks of neurons, n) */
    T *table; /* what each pattern of each group adds to fields, (PATTERNS * groups + 1, NEURONS); the last row is of the bias */
} Tables;

/* Fill the table of NEURONS neurons, whose weights are U: the sums of the weights of a group, each with the sign of its unit. */
static void fill_table(const T *U, int64_t n_in, int64_t bias, T *restrict table)
{
    int64_t stride = row_of(n_in + 1), groups = (n_in + GROUP - 1) / GROUP;
    for (int64_t group = 0; group < groups; group++, table += PATTERNS * NEURONS) {
        T weights[GROUP][NEURONS];
        for (int unit = 0; unit < GROUP; unit++)
            for (int lane = 0; lane < NEURONS; lane++)
                weights[unit][lane] = group * GROUP + unit < n_in ? U[lane * stride + group * GROUP + unit] : 0;
        for (int lane = 0; lane < NEURONS; lane++)
            table[lane] = -(weights[0][lane] + weights[1][lane] + weights[2][lane] + weights[3][lane]);
        for (int unit = 0; unit < GROUP; unit++)
            for (int pattern = 0; pattern < 1 << unit; pattern++)
                for (int lane = 0; lane < NEURONS; lane++)
                    table[((1 << unit) + pattern) * NEURONS + lane] = table[pattern * NEURONS + lane] + 2 * weights[unit][lane];
    }
    for (int lane = 0; lane < NEURONS; lane++)
        table[lane] = (T)bias * U[lane * stride + n_in];
}

/* Let NEURONS neurons from `neuron` on learn the patterns of a stretch, eqs. (5)-(7), and write their tape; returns sum mu. */
static int64_t learn_block(const Task *task, const SparseRule *rule, const Tables *tables, const T changes[2][PATTERNS][PATTERNS],
                           int64_t neuron, int64_t first, int64_t last)
{
    int64_t n_in = task->n_in, bias = rule->bias, groups = (n_in + GROUP - 1) / GROUP, errors = 0;
    int64_t missing = GROUP * groups - n_in; /* units of the last group; there patterns seem to agree */
    uint64_t some = inside(task->M - neuron); /* lanes with a neuron */
    const uint16_t *wanted = tables->wanted + neuron / NEURONS * task->n;
    uint16_t *tape = tables->tape + neuron / NEURONS * task->n;
    enum { PARTS_OF_ROW = NEURONS * sizeof(T) / REGISTER };
    T *table = tables->table, *of_bias = table + groups * PATTERNS * NEURONS;
    T lowest = (T)-rule->margin, highest = (T)rule->active_margin, length = (T)(n_in + bias * bias); /* |[x; b]|^2 */
    fill_table(tables->U + neuron * row_of(n_in + 1), n_in, bias, table);
    for (int64_t t = first; t < last; t++) {
        const uint8_t *codes = tables->codes + t * groups;
        const int8_t *x = tables->noisy + t * n_in;
        T h[NEURONS];
        Part sum[PARTS_OF_ROW];
        memcpy(sum, of_bias, sizeof sum);
        for (int64_t group = 0; group < groups; group++)
            for (int part = 0; part < PARTS_OF_ROW; part++)
                sum[part] += ((const Part *)(table + (group * PATTERNS + codes[group]) * NEURONS))[part];
        memcpy(h, sum, sizeof h);
        uint64_t z = wanted[t], active = above(h, -1, NEURONS) & some;
        uint64_t wrong = rule->hidden_step ? violations(h, z, lowest, highest, NEURONS) & some : 0;
        for (; wrong; wrong &= wrong - 1, errors++) { /* eq. (6) */
            int lane = lowest_bit(wrong), is_wanted = z >> lane & 1;
            T step = step_of(rule, is_wanted), *column = table + lane;
            T *restrict weights = tables->U + (neuron + lane) * row_of(n_in + 1);
            active = (active & ~((uint64_t)1 << lane)) | (uint64_t)(h[lane] + step * length >= 0) << lane;
            for (int64_t j = 0; j < n_in; j++)
                weights[j] += step * x[j];
            weights[n_in] += step * (T)bias;
            of_bias[lane] += step * (T)(bias * bias - missing);
            ONE_BY_ONE
            for (int64_t group = 0; group < groups; group++, column += PATTERNS * NEURONS)
                ONE_BY_ONE
                for (int pattern = 0; pattern < PATTERNS; pattern++)
                    column[pattern * NEURONS] += changes[is_wanted][codes[group]][pattern];
        }
        tape[t] = (uint16_t)active;
    }
    return errors;
}

/* Learn from first to last - 1, where no targets are chosen, with fields from tables; adds sum mu and sum nu to errors. */
EXPORT int64_t TYPED(sparse_by_tables)(int64_t redraws, Task *task, const Tables *tables, int64_t *errors, const SparseRule *rule,
                                       const double *normals, int64_t first, int64_t last)
{
    int64_t n = task->n, n_in = task->n_in, M = task->M, groups = (n_in + GROUP - 1) / GROUP, blocks = (M + NEURONS - 1) / NEURONS;
    if (!begin(task, rule, redraws, first, last))
        return -1;
    for (int64_t t = first; t < last; t++) {
        int8_t *noisy = tables->noisy + t * n_in;
        uint8_t *codes = tables->codes + t * groups;
        normals = choose(task, rule, t, normals);
        for (int64_t block = 0; block < blocks; block++)
            tables->wanted[block * n + t] = (uint16_t)(task->z[t * words_of(M) + block / 4] >> block % 4 * NEURONS);
        memcpy(noisy, task->inputs + t * n_in, (size_t)n_in);
        for (int64_t group = 0; group < groups; group++)
            codes[group] = tables->input_bits[t * words_of(n_in) + group / 16] >> group % 16 * GROUP & (PATTERNS - 1);
        for (int64_t k = 0; k < task->n_flipped[t]; k++) {
            int32_t unit = task->flipped[t * task->noise + k];
            noisy[unit] = -noisy[unit];
            codes[unit / GROUP] ^= (uint8_t)(1 << unit % GROUP);
        }
    }
    T changes[2][PATTERNS][PATTERNS]; /* what a step for one pattern of a group, by its sign, changes for another */
    for (int wanted = 0; wanted < 2; wanted++)
        for (int one = 0; one < PATTERNS; one++)
            for (int other = 0; other < PATTERNS; other++)
                changes[wanted][one][other] = step_of(rule, wanted) * (GROUP - 2 * number_of_bits(one ^ other));
    for (int64_t block = 0; block < blocks; block++)
        errors[0] += learn_block(task, rule, tables, changes, block * NEURONS, first, last);
    for (int64_t t = first; t < (rule->visible_step ? last : first); t++) {
        int64_t n_active = 0;
        for (int64_t block = 0; block < blocks; block++)
            n_active += list_bits(tables->tape[block * n + t], block * NEURONS, task->active + n_active);
        errors[1] += learn_visible(task, rule, t, n_active);
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
                while ((left &= violations(h + base, wanted, lowest, highest, BLOCK))) {
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
