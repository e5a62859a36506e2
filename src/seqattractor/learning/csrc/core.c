/* All kernels, for one instruction set: ISA is its name. Compiled once for each (hatch_build.py). */
#include "inputs.h"
#include "weights.h"
#include "walk.h"
#include "firing.h"
#include "least_squares.h"

#define T int32_t
#define NAME_OF_T int32
#include "learned_targets.h"
#define T int64_t
#define NAME_OF_T int64
#include "learned_targets.h"
