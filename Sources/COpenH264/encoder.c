#ifdef SIDELIGHT_CODECS

#include <stdlib.h>
#include <string.h>

#include <wels/codec_api.h>

#include "COpenH264.h"

struct copenh264_encoder {
  ISVCEncoder *library;
  int width, height;
  /// The last access unit.
  uint8_t *bytes;
  size_t capacity;
  SFrameBSInfo info;
};

static int set_bit_rate(ISVCEncoder *library, ENCODER_OPTION option, int bit_rate) {
  SBitrateInfo info = {SPATIAL_LAYER_ALL, bit_rate};
  return (*library)->SetOption(library, option, &info);
}

copenh264_encoder *copenh264_encoder_create(const copenh264_settings *settings) {
  copenh264_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  if (WelsCreateSVCEncoder(&encoder->library) != 0 || !encoder->library) {
    free(encoder);
    return NULL;
  }
  encoder->width = settings->width;
  encoder->height = settings->height;
  ISVCEncoder *library = encoder->library;
  int level = WELS_LOG_QUIET;
  (*library)->SetOption(library, ENCODER_OPTION_TRACE_LEVEL, &level);

  SEncParamExt options;
  (*library)->GetDefaultParams(library, &options);
  options.iUsageType = CAMERA_VIDEO_REAL_TIME;
  options.iPicWidth = settings->width;
  options.iPicHeight = settings->height;
  options.iTargetBitrate = settings->bit_rate;
  options.iMaxBitrate = UNSPECIFIED_BIT_RATE;
  options.iRCMode = RC_BITRATE_MODE;
  options.fMaxFrameRate = settings->frame_rate;
  options.iTemporalLayerNum = settings->temporal_layers;
  options.iSpatialLayerNum = 1;
  options.iComplexityMode = (ECOMPLEXITY_MODE)settings->complexity;
  // Key frames come on demand only, and every picture gives an access unit.
  options.uiIntraPeriod = 0;
  options.bEnableSceneChangeDetect = false;
  options.bEnableFrameSkip = false;
  options.iMultipleThreadIdc = 1;
  options.iEntropyCodingModeFlag = 0;
  options.bEnableLongTermReference = false;
  options.iNumRefFrame = AUTO_REF_PIC_COUNT;
  options.eSpsPpsIdStrategy = CONSTANT_ID;
  // It makes delta frames of quiet scenes ten times larger.
  options.bEnableBackgroundDetection = false;
  options.bEnableDenoise = false;
  SSpatialLayerConfig *layer = &options.sSpatialLayers[0];
  layer->iVideoWidth = settings->width;
  layer->iVideoHeight = settings->height;
  layer->fFrameRate = settings->frame_rate;
  layer->iSpatialBitrate = settings->bit_rate;
  layer->iMaxSpatialBitrate = UNSPECIFIED_BIT_RATE;
  layer->uiProfileIdc = PRO_BASELINE;
  layer->sSliceArgument.uiSliceMode = SM_SINGLE_SLICE;
  layer->bVideoSignalTypePresent = true;
  layer->uiVideoFormat = VF_UNDEF;
  layer->bFullRange = settings->is_full_range != 0;
  layer->bColorDescriptionPresent = true;
  layer->uiColorPrimaries = CP_UNDEF;
  layer->uiTransferCharacteristics = TRC_UNDEF;
  layer->uiColorMatrix = settings->is_bt709 ? CM_BT709 : CM_SMPTE170M;
  if ((*library)->InitializeExt(library, &options) != 0) {
    copenh264_encoder_destroy(encoder);
    return NULL;
  }
  int format = videoFormatI420;
  (*library)->SetOption(library, ENCODER_OPTION_DATAFORMAT, &format);
  return encoder;
}

void copenh264_encoder_destroy(copenh264_encoder *encoder) {
  if (!encoder) return;
  (*encoder->library)->Uninitialize(encoder->library);
  WelsDestroySVCEncoder(encoder->library);
  free(encoder->bytes);
  free(encoder);
}

int copenh264_encoder_set_rates(copenh264_encoder *encoder, int bit_rate, float frame_rate) {
  ISVCEncoder *library = encoder->library;
  if ((*library)->SetOption(library, ENCODER_OPTION_FRAME_RATE, &frame_rate) != 0) return -1;
  return set_bit_rate(library, ENCODER_OPTION_BITRATE, bit_rate) == 0 ? 0 : -1;
}

int copenh264_encode(
    copenh264_encoder *encoder, const copenh264_picture *picture, int forces_key_frame,
    int64_t milliseconds, const uint8_t **bytes, size_t *count, int *temporal_layer) {
  ISVCEncoder *library = encoder->library;
  if (forces_key_frame) {
    int state = (*library)->ForceIntraFrame(library, true);
    if (state != 0) return state;
  }
  SSourcePicture source;
  memset(&source, 0, sizeof source);
  source.iColorFormat = videoFormatI420;
  source.iPicWidth = encoder->width;
  source.iPicHeight = encoder->height;
  source.uiTimeStamp = milliseconds;
  for (int plane = 0; plane < 3; plane++) {
    // The library only reads.
    source.pData[plane] = (unsigned char *)(uintptr_t)picture->planes[plane];
    source.iStride[plane] = picture->strides[plane];
  }
  SFrameBSInfo *info = &encoder->info;
  memset(info, 0, sizeof *info);
  int state = (*library)->EncodeFrame(library, &source, info);
  if (state != 0) return state;

  *bytes = NULL;
  *count = 0;
  *temporal_layer = 0;
  if (info->eFrameType == videoFrameTypeSkip || info->iFrameSizeInBytes <= 0) return 0;
  size_t total = 0;
  for (int index = 0; index < info->iLayerNum; index++) {
    const SLayerBSInfo *layer = &info->sLayerInfo[index];
    for (int nal = 0; nal < layer->iNalCount; nal++) total += (size_t)layer->pNalLengthInByte[nal];
  }
  if (total > encoder->capacity) {
    uint8_t *larger = realloc(encoder->bytes, total + total / 2);
    if (!larger) return cmMallocMemeError;
    encoder->bytes = larger;
    encoder->capacity = total + total / 2;
  }
  for (int index = 0; index < info->iLayerNum; index++) {
    const SLayerBSInfo *layer = &info->sLayerInfo[index];
    size_t length = 0;
    for (int nal = 0; nal < layer->iNalCount; nal++) length += (size_t)layer->pNalLengthInByte[nal];
    memcpy(encoder->bytes + *count, layer->pBsBuf, length);
    *count += length;
    if (layer->uiLayerType == VIDEO_CODING_LAYER) *temporal_layer = layer->uiTemporalId;
  }
  *bytes = encoder->bytes;
  return 0;
}

#endif
