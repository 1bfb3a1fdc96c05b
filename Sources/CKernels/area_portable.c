// The rows of area filters for any machine: the target's baseline (SSE2, or NEON on arm64).
#include "CKernels.h"

#include <math.h>
#include <string.h>

#define SL_NAME "portable"
#define SL_TABLE sl_area_rows_portable
#define SL_LEVEL 0

#include "rows/area/table.inc"
