/* Learned targets: an epoch, transition by transition, since every target depends on all updates before. Included once for each
 * type T of whole numbers.
 *
 * All is in steps of eta. What changes is whole numbers, of which the caller has made sure that none leaves T. What does not change
 * is double: the fields of start weights, on a grid on which sums are exact, and the drive of the targets by P. A field is the sum
 * of both, rounded once. M' is M, or M + 1 with a constant unit that never flips. */
#include "lanes.h"

#define FEW 32 /* where fewer than one in so many neurons learn, it is quicker to deal with each of them */

#define Network TYPED(Network)
typedef struct {
    const int8_t *targets;      /* (n, N): x(t+1) */
    const T *gram;              /* (n, padded): products of inputs, x(t) . x(s) */
    const double *hidden_start; /* (n, M): fields of hidden neurons by start weights, less theta */
    T *hidden_learned;          /* (n, M): and by what they have learned */
    T *updates;                 /* (n, M): what each transition has taught them */
    const double *start;        /* (M', N): start weights of visible neurons */
    double *start_fields;       /* (n, N): their fields by these */
    T *learned;                 /* (M', N): what they have learned */
    T *learned_fields;          /* (n, N): their fields by that, as of a version of `learned` */
    int64_t *version;           /* (n + 1): of which version they are; the last is the current one */
    int8_t *codes;              /* (n, M'): y(t) */
    const double *drive;        /* (n, M): of the targets by P */
    T *projected;               /* (n, M): Q x(t+1) */
    double kappa, feedback;     /* lambda is the feedback */
} Network;

/* The hidden neurons at transition t, eqs. (4)-(7); returns sum mu. */
static int64_t TYPED(teach_hidden)(const Network *net, int64_t n, int64_t N, int64_t M, int64_t units, int64_t padded, int64_t t,
                                   T *restrict step, int8_t *restrict y)
{
    const double *start = net->hidden_start + t * M, *drive = net->drive + t * M;
    T *learned = net->hidden_learned + t * M, *updates = net->updates + t * M, *projected = net->projected + t * M;
    int8_t *code = net->codes + t * units;
    int64_t errors = 0;
    for (int64_t i = 0; i < M; i++) {
        double z = drive[i] + net->feedback * (double)projected[i] >= 0 ? 1 : -1; /* eq. (4) */
        int mu = z * (start[i] + (double)learned[i]) <= net->kappa;               /* eq. (5) */
        step[i] = mu ? (T)z : 0;
        errors += mu;
    }
    if (errors) { /* eq. (6): an update with x(t) moves the field at x(s) by x(t) . x(s) */
        for (int64_t i = 0; i < M; i++)
            updates[i] += step[i];
        if (errors > M / FEW)
            for (int64_t s = 0; s < n; s++) {
                T product = net->gram[t * padded + s], *row = net->hidden_learned + s * M;
                for (int64_t i = 0; i < M; i++)
                    row[i] += product * step[i];
            }
        else
            for (int64_t i = 0; i < M; i++)
                for (int64_t s = 0; step[i] && s < n; s++)
                    net->hidden_learned[s * M + i] += step[i] * net->gram[t * padded + s];
    }
    int64_t flips = 0;
    for (int64_t i = 0; i < M; i++) {
        y[i] = start[i] + (double)learned[i] >= 0 ? 1 : -1; /* eq. (7) */
        flips += y[i] != code[i];
    }
    for (int64_t i = 0; flips && i < M; i++)
        if (y[i] != code[i]) { /* a flip moves the visible fields by twice the weights of its neuron */
            code[i] = y[i];
            flips--;
            for (int64_t j = 0; j < N; j++)
                net->start_fields[t * N + j] += 2 * y[i] * net->start[i * N + j];
            for (int64_t j = 0; j < N && net->version[t] == net->version[n]; j++)
                net->learned_fields[t * N + j] += 2 * y[i] * net->learned[i * N + j];
        }
    return errors;
}

/* The visible neurons at transition t, eqs. (8)-(9), and the feedback Q with them; returns sum nu. */
static int64_t TYPED(teach_visible)(const Network *net, int64_t n, int64_t N, int64_t M, int64_t units, int64_t t, T *restrict g)
{
    const int8_t *code = net->codes + t * units, *next = net->targets + t * N;
    T *restrict fields = net->learned_fields + t * N;
    int64_t errors = 0;
    if (net->version[t] != net->version[n]) { /* with another one, fields have to be added up again */
        net->version[t] = net->version[n];
        memset(fields, 0, (size_t)N * sizeof *fields);
        for (int64_t i = 0; i < units; i++) {
            const T *row = net->learned + i * N;
            for (int64_t j = 0; j < N; j++)
                fields[j] += code[i] * row[j];
        }
    }
    for (int64_t j = 0; j < N; j++) {
        int nu = next[j] * (net->start_fields[t * N + j] + (double)fields[j]) <= net->kappa; /* eq. (8) */
        g[j] = nu ? next[j] : 0;
        errors += nu;
    }
    if (!errors)
        return 0;
    net->version[n]++;
    for (int64_t i = 0; i < units; i++) { /* eq. (9) */
        T *row = net->learned + i * N;
        for (int64_t j = 0; j < N; j++)
            row[j] += code[i] * g[j];
    }
    for (int64_t s = 0; s < n; s++) { /* the same update of Q moves Q x(s+1) by y(t) times (nu(t) x(t+1)) . x(s+1) */
        T product = 0, *row = net->projected + s * M;
        for (int64_t j = 0; j < N; j++)
            product += g[j] * net->targets[s * N + j];
        for (int64_t i = 0; i < M; i++)
            row[i] += code[i] * product;
    }
    return errors;
}

/* One epoch; adds sum mu and sum nu to errors (2). */
EXPORT int64_t TYPED(learn_targets)(int64_t n, int64_t N, int64_t padded, int64_t M, int64_t units, const Network *net,
                                    int64_t *errors, T *step, T *g, int8_t *y)
{
    for (int64_t t = 0; t < n; t++) {
        errors[0] += TYPED(teach_hidden)(net, n, N, M, units, padded, t, step, y);
        errors[1] += TYPED(teach_visible)(net, n, N, M, units, t, g);
    }
    return 0;
}
