// The rows for any machine: whatever the target's baseline is (SSE2, or NEON on arm64).
#include "CKernels.h"

#include <math.h>
#include <string.h>

#define SL_NAME "portable"
#define SL_TABLE sl_rows_portable
#define SL_LEVEL 0

#include "rows/table.inc"
