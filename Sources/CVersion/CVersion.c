#include "CVersion.h"

const char *cversion_current(void) { return SIDELIGHT_VERSION; }
