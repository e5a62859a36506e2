/* All kernels, for one instruction set: ISA is its name. Compiled once for each (hatch_build.py). */
#include "inputs.h"
#include "sparse.h"
