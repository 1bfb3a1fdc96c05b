#ifdef SIDELIGHT_CODECS

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <dav1d/dav1d.h>

#include "CDav1d.h"

struct cdav1d_decoder {
  Dav1dContext *library;
  /// The last picture.
  Dav1dPicture picture;
};

const char *cdav1d_version(void) { return dav1d_version(); }

cdav1d_decoder *cdav1d_decoder_create(unsigned max_pixels) {
  cdav1d_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  Dav1dSettings settings;
  dav1d_default_settings(&settings);
  settings.n_threads = 1;
  settings.max_frame_delay = 1;
  settings.all_layers = 0;
  settings.frame_size_limit = max_pixels;
  settings.logger.callback = NULL;
  if (dav1d_open(&decoder->library, &settings) != 0) {
    free(decoder);
    return NULL;
  }
  return decoder;
}

void cdav1d_decoder_destroy(cdav1d_decoder *decoder) {
  if (!decoder) return;
  dav1d_picture_unref(&decoder->picture);
  dav1d_close(&decoder->library);
  free(decoder);
}

/// Takes the pictures that are ready.
static int take(cdav1d_decoder *decoder, int *pictures, cdav1d_picture *picture) {
  for (;;) {
    Dav1dPicture next;
    memset(&next, 0, sizeof next);
    int state = dav1d_get_picture(decoder->library, &next);
    if (state == DAV1D_ERR(EAGAIN)) return 0;
    if (state != 0) return state;
    dav1d_picture_unref(&decoder->picture);
    decoder->picture = next;
    *pictures += 1;
    if (next.p.layout != DAV1D_PIXEL_LAYOUT_I420 || next.p.bpc != 8) return DAV1D_ERR(ENOTSUP);
    for (int plane = 0; plane < 3; plane++) {
      picture->planes[plane] = next.data[plane];
      picture->strides[plane] = (int)next.stride[plane > 0];
    }
    picture->width = next.p.w;
    picture->height = next.p.h;
  }
}

int cdav1d_decode(
    cdav1d_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    cdav1d_picture *picture) {
  *pictures = 0;
  // A copy, because the library may keep parts of a broken unit.
  Dav1dData data;
  memset(&data, 0, sizeof data);
  uint8_t *copy = dav1d_data_create(&data, count);
  if (!copy) return DAV1D_ERR(ENOMEM);
  memcpy(copy, bytes, count);
  while (data.sz > 0) {
    int state = dav1d_send_data(decoder->library, &data);
    if (state != 0 && state != DAV1D_ERR(EAGAIN)) {
      dav1d_data_unref(&data);
      return state;
    }
    size_t left = data.sz;
    int before = *pictures;
    int taken = take(decoder, pictures, picture);
    if (taken != 0 || (left == data.sz && state != 0 && before == *pictures)) {
      dav1d_data_unref(&data);
      return taken != 0 ? taken : state;
    }
  }
  return take(decoder, pictures, picture);
}

#endif
