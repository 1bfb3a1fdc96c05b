#ifndef SIDELIGHT_CTURBOJPEG_H
#define SIDELIGHT_CTURBOJPEG_H

#include <turbojpeg.h>

#endif
