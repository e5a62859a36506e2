/* All kernels, for one instruction set: ISA is its name. Compiled once for each, in two parts at the same time (hatch_build.py). */
#include "lanes.h"

#if PART != 2 /* the exact engine on fields, which takes most of the time */
#include "inputs.h"

#define T INTEGER(BITS)
#define BITS 16
#include "tape.h"
#undef BITS
#define BITS 32
#include "tape.h"
#undef BITS

/* Fields of each width, with Gram matrices that may be narrower */
#define FIELD_BITS 16
#define K_BITS 16
#include "replay.h"
#undef FIELD_BITS
#define FIELD_BITS 32
#include "replay.h"
#undef K_BITS
#define K_BITS 32
#include "replay.h"
#undef T
#endif

#if PART != 1
#include "weights.h"
#include "firing.h"
#include "least_squares.h"
#include "constrained.h"

#define T INTEGER(BITS)
#define BITS 32
#include "learned_targets.h"
#include "sparse_learn.h"
#undef BITS
#define BITS 64
#include "learned_targets.h"
#include "sparse_learn.h"
#endif
