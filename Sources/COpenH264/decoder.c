#ifdef SIDELIGHT_CODECS

#include <stdlib.h>
#include <string.h>

#include <wels/codec_api.h>

#include "COpenH264.h"

struct copenh264_decoder {
  ISVCDecoder *library;
};

void copenh264_version(int *major, int *minor, int *revision) {
  OpenH264Version version;
  WelsGetCodecVersionEx(&version);
  *major = (int)version.uMajor;
  *minor = (int)version.uMinor;
  *revision = (int)version.uRevision;
}

copenh264_decoder *copenh264_decoder_create(void) {
  copenh264_decoder *decoder = calloc(1, sizeof *decoder);
  if (!decoder) return NULL;
  if (WelsCreateDecoder(&decoder->library) != 0 || !decoder->library) {
    free(decoder);
    return NULL;
  }
  ISVCDecoder *library = decoder->library;
  int level = WELS_LOG_QUIET;
  (*library)->SetOption(library, DECODER_OPTION_TRACE_LEVEL, &level);
  SDecodingParam options;
  memset(&options, 0, sizeof options);
  options.sVideoProperty.size = sizeof options.sVideoProperty;
  options.sVideoProperty.eVideoBsType = VIDEO_BITSTREAM_AVC;
  options.eEcActiveIdc = ERROR_CON_DISABLE;
  if ((*library)->Initialize(library, &options) != 0) {
    copenh264_decoder_destroy(decoder);
    return NULL;
  }
  return decoder;
}

void copenh264_decoder_destroy(copenh264_decoder *decoder) {
  if (!decoder) return;
  (*decoder->library)->Uninitialize(decoder->library);
  WelsDestroyDecoder(decoder->library);
  free(decoder);
}

static void take(const SBufferInfo *info, unsigned char **planes, int *pictures, copenh264_picture *picture) {
  if (info->iBufferStatus != 1) return;
  const SSysMEMBuffer *buffer = &info->UsrData.sSystemBuffer;
  for (int plane = 0; plane < 3; plane++) {
    picture->planes[plane] = planes[plane];
    picture->strides[plane] = buffer->iStride[plane > 0];
  }
  picture->width = buffer->iWidth;
  picture->height = buffer->iHeight;
  *pictures += 1;
}

int copenh264_decode(
    copenh264_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    copenh264_picture *picture) {
  ISVCDecoder *library = decoder->library;
  unsigned char *planes[3] = {NULL, NULL, NULL};
  SBufferInfo info;
  memset(&info, 0, sizeof info);
  *pictures = 0;
  int state = (*library)->DecodeFrameNoDelay(library, bytes, (int)count, planes, &info);
  if (state != dsErrorFree) return state;
  take(&info, planes, pictures, picture);
  // Main and High profile keep a picture back, in case that one of a B-frame comes before it.
  for (;;) {
    int remaining = 0;
    (*library)->GetOption(library, DECODER_OPTION_NUM_OF_FRAMES_REMAINING_IN_BUFFER, &remaining);
    if (remaining <= 0) return 0;
    memset(&info, 0, sizeof info);
    state = (*library)->FlushFrame(library, planes, &info);
    if (state != dsErrorFree) return state;
    if (info.iBufferStatus != 1) return 0;
    take(&info, planes, pictures, picture);
  }
}

#endif
