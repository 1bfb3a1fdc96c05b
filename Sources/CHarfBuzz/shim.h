#ifndef SIDELIGHT_CHARFBUZZ_H
#define SIDELIGHT_CHARFBUZZ_H

#include <hb.h>

#endif
