#ifndef SIDELIGHT_CFREETYPE_H
#define SIDELIGHT_CFREETYPE_H

#include <ft2build.h>
#include FT_FREETYPE_H

#endif
