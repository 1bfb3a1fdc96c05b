// The rows of look filters for any machine: the target's baseline (SSE2, or NEON on arm64).
#include "CKernels.h"

#include <math.h>
#include <string.h>

#define SL_NAME "portable"
#define SL_TABLE sl_look_rows_portable
#define SL_LEVEL 0

#include "rows/look/table.inc"
