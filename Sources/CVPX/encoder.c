#ifdef SIDELIGHT_CODECS

#include <stdlib.h>
#include <string.h>

#include <vpx/vp8cx.h>
#include <vpx/vpx_encoder.h>

#include "CVPX.h"

/// Units of time per second, as in RTP.
enum { timescale = 90000 };

/// The layers of the frames of a period, by the number of layers.
static const int layer_patterns[3][4] = {{0, 0, 0, 0}, {0, 1, 0, 1}, {0, 2, 1, 2}};

struct cvpx_encoder {
  vpx_codec_ctx_t library;
  vpx_codec_enc_cfg_t options;
  int is_vp9;
  int layers;
  /// The position in the pattern of layers.
  unsigned index;
  /// The time of the next frame. Frames are equally spaced, so the library gives every frame the
  /// same share of the bit rate.
  int64_t time;
  int64_t duration;
};

static void set_rates(cvpx_encoder *encoder, int bit_rate, double frame_rate) {
  vpx_codec_enc_cfg_t *options = &encoder->options;
  unsigned rate = (unsigned)bit_rate;
  options->rc_target_bitrate = rate;
  // The rate of a layer includes the rates of the layers below.
  static const unsigned shares[3][3] = {{100}, {60, 100}, {40, 60, 100}};
  for (int layer = 0; layer < encoder->layers; layer++) {
    unsigned part = rate * shares[encoder->layers - 1][layer] / 100;
    options->ts_target_bitrate[layer] = part;
    options->layer_target_bitrate[layer] = part;
  }
  encoder->duration = (int64_t)(timescale / frame_rate + 0.5);
  if (encoder->duration < 1) encoder->duration = 1;
}

static void set_layers(cvpx_encoder *encoder) {
  vpx_codec_enc_cfg_t *options = &encoder->options;
  if (encoder->layers == 1) return;
  // Without it, a frame would depend on the probabilities of dropped frames.
  options->g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
  options->ts_number_layers = (unsigned)encoder->layers;
  options->ts_periodicity = encoder->layers == 2 ? 2 : 4;
  for (unsigned index = 0; index < options->ts_periodicity; index++) {
    options->ts_layer_id[index] = (unsigned)layer_patterns[encoder->layers - 1][index];
  }
  for (int layer = 0; layer < encoder->layers; layer++) {
    options->ts_rate_decimator[layer] = 1u << (encoder->layers - 1 - layer);
  }
  // The library's own pattern of two layers lets later frames depend on the upper one.
  if (encoder->is_vp9) options->temporal_layering_mode = VP9E_TEMPORAL_LAYERING_MODE_BYPASS;
}

static int set_controls(cvpx_encoder *encoder, const cvpx_settings *settings) {
  vpx_codec_ctx_t *library = &encoder->library;
  int failed = 0;
  failed |= vpx_codec_control(
      library, VP8E_SET_CPUUSED, encoder->is_vp9 ? settings->speed : -settings->speed);
  failed |= vpx_codec_control(library, VP8E_SET_MAX_INTRA_BITRATE_PCT, 300u);
  failed |= vpx_codec_control(library, VP8E_SET_STATIC_THRESHOLD, 1u);
  if (!encoder->is_vp9) {
    failed |= vpx_codec_control(library, VP8E_SET_TOKEN_PARTITIONS, (int)VP8_ONE_TOKENPARTITION);
    failed |= vpx_codec_control(library, VP8E_SET_NOISE_SENSITIVITY, 0u);
    return failed;
  }
  failed |= vpx_codec_control(library, VP9E_SET_AQ_MODE, 3u);
  failed |= vpx_codec_control(library, VP9E_SET_TILE_COLUMNS, 0);
  failed |= vpx_codec_control(library, VP9E_SET_FRAME_PARALLEL_DECODING, 0u);
  failed |= vpx_codec_control(library, VP9E_SET_GF_CBR_BOOST_PCT, 0u);
  failed |= vpx_codec_control(library, VP9E_SET_NOISE_SENSITIVITY, 0u);
  failed |= vpx_codec_control(library, VP9E_SET_COLOR_RANGE, settings->is_full_range);
  failed |= vpx_codec_control(
      library, VP9E_SET_COLOR_SPACE, (int)(settings->is_bt709 ? VPX_CS_BT_709 : VPX_CS_BT_601));
  if (encoder->layers == 1) return failed;
  vpx_svc_extra_cfg_t layers;
  memset(&layers, 0, sizeof layers);
  for (int layer = 0; layer < encoder->layers; layer++) {
    layers.max_quantizers[layer] = (int)encoder->options.rc_max_quantizer;
    layers.min_quantizers[layer] = (int)encoder->options.rc_min_quantizer;
    layers.speed_per_layer[layer] = settings->speed;
  }
  layers.scaling_factor_num[0] = 1;
  layers.scaling_factor_den[0] = 1;
  failed |= vpx_codec_control(library, VP9E_SET_SVC, 1);
  failed |= vpx_codec_control(library, VP9E_SET_SVC_PARAMETERS, &layers);
  return failed;
}

cvpx_encoder *cvpx_encoder_create(const cvpx_settings *settings) {
  cvpx_encoder *encoder = calloc(1, sizeof *encoder);
  if (!encoder) return NULL;
  encoder->is_vp9 = settings->is_vp9;
  encoder->layers = settings->temporal_layers;
  vpx_codec_iface_t *codec = encoder->is_vp9 ? vpx_codec_vp9_cx() : vpx_codec_vp8_cx();
  vpx_codec_enc_cfg_t *options = &encoder->options;
  if (vpx_codec_enc_config_default(codec, options, 0) != VPX_CODEC_OK) {
    free(encoder);
    return NULL;
  }
  options->g_w = (unsigned)settings->width;
  options->g_h = (unsigned)settings->height;
  options->g_timebase.num = 1;
  options->g_timebase.den = timescale;
  options->g_threads = 1;
  options->g_lag_in_frames = 0;
  options->g_pass = VPX_RC_ONE_PASS;
  options->kf_mode = VPX_KF_DISABLED;
  options->rc_end_usage = VPX_CBR;
  // Every picture gives a frame.
  options->rc_dropframe_thresh = 0;
  options->rc_min_quantizer = 2;
  // With 63, VP9 starts so coarsely that quiet scenes get large frames later.
  options->rc_max_quantizer = encoder->is_vp9 ? 56 : 63;
  options->rc_undershoot_pct = 100;
  options->rc_overshoot_pct = 15;
  // A larger buffer delays changes of the bit rate.
  options->rc_buf_sz = 600;
  options->rc_buf_initial_sz = 300;
  options->rc_buf_optimal_sz = 360;
  set_layers(encoder);
  set_rates(encoder, settings->bit_rate, settings->frame_rate);
  if (vpx_codec_enc_init(&encoder->library, codec, options, 0) != VPX_CODEC_OK) {
    free(encoder);
    return NULL;
  }
  if (set_controls(encoder, settings) != 0) {
    cvpx_encoder_destroy(encoder);
    return NULL;
  }
  return encoder;
}

void cvpx_encoder_destroy(cvpx_encoder *encoder) {
  if (!encoder) return;
  vpx_codec_destroy(&encoder->library);
  free(encoder);
}

int cvpx_encoder_set_rates(cvpx_encoder *encoder, int bit_rate, double frame_rate) {
  set_rates(encoder, bit_rate, frame_rate);
  return vpx_codec_enc_config_set(&encoder->library, &encoder->options) == VPX_CODEC_OK ? 0 : -1;
}

/// The references that a frame uses and updates. Layer 0 uses the last frame; layer 1 also
/// updates the golden frame; layer 2, or the upper of two layers, updates nothing.
static vpx_enc_frame_flags_t layer_flags(int layers, int layer) {
  const vpx_enc_frame_flags_t other = VP8_EFLAG_NO_REF_ARF | VP8_EFLAG_NO_UPD_ARF;
  if (layer == 0) return other | VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_UPD_GF;
  const vpx_enc_frame_flags_t upper = other | VP8_EFLAG_NO_UPD_LAST | VP8_EFLAG_NO_UPD_ENTROPY;
  if (layers == 2) return upper | VP8_EFLAG_NO_REF_GF | VP8_EFLAG_NO_UPD_GF;
  return layer == 1 ? upper | VP8_EFLAG_NO_REF_GF : upper | VP8_EFLAG_NO_UPD_GF;
}

int cvpx_encode(
    cvpx_encoder *encoder, const cvpx_picture *picture, int forces_key_frame,
    const uint8_t **bytes, size_t *count, int *temporal_layer) {
  vpx_image_t image;
  // The library only reads.
  unsigned char *luma = (unsigned char *)(uintptr_t)picture->planes[0];
  if (!vpx_img_wrap(
          &image, VPX_IMG_FMT_I420, (unsigned)picture->width, (unsigned)picture->height, 1, luma)) {
    return -1;
  }
  for (int plane = 0; plane < 3; plane++) {
    image.planes[plane] = (unsigned char *)(uintptr_t)picture->planes[plane];
    image.stride[plane] = picture->strides[plane];
  }
  if (forces_key_frame) encoder->index = 0;
  vpx_enc_frame_flags_t flags = forces_key_frame ? VPX_EFLAG_FORCE_KF : 0;
  int layer = layer_patterns[encoder->layers - 1][encoder->index % 4];
  encoder->index += 1;
  if (encoder->layers > 1) {
    if (!forces_key_frame) flags |= layer_flags(encoder->layers, layer);
    vpx_codec_err_t state;
    if (encoder->is_vp9) {
      vpx_svc_layer_id_t identifier = {.temporal_layer_id = layer};
      state = vpx_codec_control(&encoder->library, VP9E_SET_SVC_LAYER_ID, &identifier);
    } else {
      state = vpx_codec_control(&encoder->library, VP8E_SET_TEMPORAL_LAYER_ID, layer);
    }
    if (state != VPX_CODEC_OK) return -1;
  }
  vpx_codec_err_t state = vpx_codec_encode(
      &encoder->library, &image, encoder->time, (unsigned long)encoder->duration, flags,
      VPX_DL_REALTIME);
  if (state != VPX_CODEC_OK) return -1;
  encoder->time += encoder->duration;

  *bytes = NULL;
  *count = 0;
  vpx_codec_iter_t iterator = NULL;
  const vpx_codec_cx_pkt_t *packet;
  while ((packet = vpx_codec_get_cx_data(&encoder->library, &iterator))) {
    if (packet->kind != VPX_CODEC_CX_FRAME_PKT) continue;
    *bytes = packet->data.frame.buf;
    *count = packet->data.frame.sz;
  }
  *temporal_layer = layer;
  return 0;
}

const char *cvpx_encoder_error(cvpx_encoder *encoder) {
  const char *detail = vpx_codec_error_detail(&encoder->library);
  return detail ? detail : vpx_codec_error(&encoder->library);
}

#endif
