#ifndef SIDELIGHT_CFRIBIDI_H
#define SIDELIGHT_CFRIBIDI_H

#include <fribidi.h>

#endif
