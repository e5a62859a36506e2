/* The fields of a group of transitions from rows of weights; included once for each type: FROM that of the weights, INTO that of
 * their sums, NAME. Weights of integers are exact in any order, and so are those of double on their grid (learning/grid.py). */
#define PIECE ((int)(REGISTER / sizeof(FROM))) /* neurons in a register */
typedef FROM KERNEL(JOIN(Piece, NAME)) __attribute__((vector_size(REGISTER), aligned(sizeof(FROM))));
#define Piece KERNEL(JOIN(Piece, NAME))

/* Write the fields (GROUP, LANES) of neurons with the weights `rows` (N, LANES), of which `at_once` can be added up in FROM. */
static void KERNEL(JOIN(fields, NAME))(INTO *restrict fields, const FROM *rows, const uint32_t *units, const int64_t *first,
                                       int64_t at_once)
{
    INTO sums[KINDS][LANES];
    for (int p = 0; p < KINDS; p++) { /* the sum over the units of each kind */
        memset(sums[p], 0, sizeof sums[p]);
        for (int64_t here = first[p]; here < first[p + 1]; here += at_once) {
            int64_t end = least(here + at_once, first[p + 1]);
            FROM some[LANES];
            for (int piece = 0; piece < LANES; piece += PIECE) {
                Piece sum = {0};
                for (int64_t k = here; k < end; k++)
                    sum += *(const Piece *)(rows + (int64_t)units[k] * LANES + piece);
                memcpy(some + piece, &sum, sizeof sum);
            }
            for (int i = 0; i < LANES; i++)
                sums[p][i] += some[i];
        }
    }
    for (int s = 0; s < GROUP; s++) { /* kinds that differ in transition s alone are put together once its field is known */
        INTO field[LANES] = {0};
        for (int p = 0; p < KINDS >> (s + 1); p++)
            for (int i = 0; i < LANES; i++) {
                INTO off = sums[2 * p][i], on = sums[2 * p + 1][i];
                field[i] += on - off;
                sums[p][i] = on + off;
            }
        memcpy(fields + s * LANES, field, sizeof field);
    }
}

/* Add change (LANES) to each of the rows[units[begin:end]]: eqs. (6) and (9) for the units of one kind. */
INLINE void KERNEL(JOIN(add_to_rows, NAME))(FROM *rows, const uint32_t *units, int64_t begin, int64_t end, const FROM *change)
{
    for (int piece = 0; piece < LANES; piece += PIECE) {
        Piece step = *(const Piece *)(change + piece);
        for (int64_t k = begin; k < end; k++)
            *(Piece *)(rows + (int64_t)units[k] * LANES + piece) += step;
    }
}

#undef Piece
#undef PIECE
#undef FROM
#undef INTO
#undef NAME
