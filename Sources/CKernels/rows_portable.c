// The rows for the compiler's default target: SSE2 on x86-64, NEON on arm64.
#include "CKernels.h"

#include <math.h>
#include <string.h>

#define SL_TABLE sl_rows_portable
#define SL_NAME "portable"
#define SL_ISA SL_PORTABLE
#include "rows/table.inc"
