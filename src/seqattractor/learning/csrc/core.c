/* All kernels, for one instruction set: ISA is its name. Compiled once for each (hatch_build.py). */
#include "inputs.h"
#include "weights.h"
#include "walk.h"
#include "firing.h"
#include "least_squares.h"
#include "sparse.h"

#define T int16_t
#define NAME_OF_T int16
#include "tape.h"
#undef T
#undef NAME_OF_T
#define T int32_t
#define NAME_OF_T int32
#include "tape.h"
#include "learned_targets.h"
#define T int64_t
#define NAME_OF_T int64
#include "tape.h"
#include "learned_targets.h"

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
#undef FIELD_BITS
#undef K_BITS
#define FIELD_BITS 64
#define K_BITS 64
#include "replay.h"
