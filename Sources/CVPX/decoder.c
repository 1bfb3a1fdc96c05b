#ifdef SIDELIGHT_CODECS

#include <stdlib.h>
#include <string.h>

#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>

#include "CVPX.h"

struct cvpx_decoder {
  vpx_codec_ctx_t library;
};

const char *cvpx_version(void) { return vpx_codec_version_str(); }

cvpx_decoder *cvpx_decoder_create(int is_vp9) {
  cvpx_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  vpx_codec_dec_cfg_t options = {.threads = 1, .w = 0, .h = 0};
  vpx_codec_iface_t *codec = is_vp9 ? vpx_codec_vp9_dx() : vpx_codec_vp8_dx();
  if (vpx_codec_dec_init(&decoder->library, codec, &options, 0) != VPX_CODEC_OK) {
    free(decoder);
    return NULL;
  }
  return decoder;
}

void cvpx_decoder_destroy(cvpx_decoder *decoder) {
  if (!decoder) return;
  vpx_codec_destroy(&decoder->library);
  free(decoder);
}

int cvpx_decode(
    cvpx_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    cvpx_picture *picture) {
  *pictures = 0;
  vpx_codec_err_t state = vpx_codec_decode(&decoder->library, bytes, (unsigned)count, NULL, 0);
  if (state != VPX_CODEC_OK) return -1;
  vpx_codec_iter_t iterator = NULL;
  vpx_image_t *image;
  while ((image = vpx_codec_get_frame(&decoder->library, &iterator))) {
    *pictures += 1;
    if (image->fmt != VPX_IMG_FMT_I420 || image->bit_depth != 8) return -3;
    for (int plane = 0; plane < 3; plane++) {
      picture->planes[plane] = image->planes[plane];
      picture->strides[plane] = image->stride[plane];
    }
    picture->width = (int)image->d_w;
    picture->height = (int)image->d_h;
  }
  int is_corrupted = 0;
  state = vpx_codec_control(&decoder->library, VP8D_GET_FRAME_CORRUPTED, &is_corrupted);
  return state == VPX_CODEC_OK && is_corrupted ? -2 : 0;
}

const char *cvpx_decoder_error(cvpx_decoder *decoder) {
  const char *detail = vpx_codec_error_detail(&decoder->library);
  return detail ? detail : vpx_codec_error(&decoder->library);
}

#endif
