package vp8

/*
#cgo LDFLAGS: -lvpx
#include <stdlib.h>
#include <vpx/vp8cx.h>
#include <vpx/vpx_encoder.h>

// Settings for calls: constant bit rate, no frames held back, the faster half of the speeds.
static vpx_codec_err_t open_encoder(vpx_codec_ctx_t *codec, unsigned width, unsigned height,
                                    unsigned kilobits) {
  vpx_codec_enc_cfg_t settings;
  vpx_codec_err_t code = vpx_codec_enc_config_default(vpx_codec_vp8_cx(), &settings, 0);
  if (code != VPX_CODEC_OK) return code;
  settings.g_w = width;
  settings.g_h = height;
  settings.g_timebase.num = 1;
  settings.g_timebase.den = 90000;
  settings.g_lag_in_frames = 0;
  settings.g_threads = 1;
  settings.g_error_resilient = VPX_ERROR_RESILIENT_DEFAULT;
  settings.rc_end_usage = VPX_CBR;
  settings.rc_target_bitrate = kilobits;
  settings.rc_min_quantizer = 2;
  settings.rc_max_quantizer = 52;
  settings.kf_max_dist = 3000;
  code = vpx_codec_enc_init(codec, vpx_codec_vp8_cx(), &settings, 0);
  if (code != VPX_CODEC_OK) return code;
  code = vpx_codec_control(codec, VP8E_SET_CPUUSED, -8);
  if (code != VPX_CODEC_OK) vpx_codec_destroy(codec);
  return code;
}

// Encodes one picture. Returns its bytes, which the codec owns until the next call, or NULL.
static const void *encode(vpx_codec_ctx_t *codec, unsigned width, unsigned height,
                          unsigned char *pixels, long long time, long flags, size_t *size,
                          vpx_codec_err_t *code) {
  vpx_image_t image;
  vpx_img_wrap(&image, VPX_IMG_FMT_I420, width, height, 1, pixels);
  // The rows of chroma are not padded, which vpx_img_wrap cannot know for odd widths.
  const unsigned chroma_width = (width + 1) / 2, chroma_height = (height + 1) / 2;
  image.stride[0] = width;
  image.stride[1] = image.stride[2] = chroma_width;
  image.planes[1] = pixels + (size_t)width * height;
  image.planes[2] = image.planes[1] + (size_t)chroma_width * chroma_height;
  *code = vpx_codec_encode(codec, &image, time, 3000, flags, VPX_DL_REALTIME);
  if (*code != VPX_CODEC_OK) return NULL;
  vpx_codec_iter_t position = NULL;
  const vpx_codec_cx_pkt_t *packet;
  while ((packet = vpx_codec_get_cx_data(codec, &position)) != NULL) {
    if (packet->kind != VPX_CODEC_CX_FRAME_PKT) continue;
    *size = packet->data.frame.sz;
    return packet->data.frame.buf;
  }
  return NULL;
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Encoder encodes one stream. It is not safe for concurrent use.
type Encoder struct {
	codec         *C.vpx_codec_ctx_t
	width, height int
	kilobits      int
	frames        int64
}

// NewEncoder returns an encoder with a bit rate in kilobits per second. Close frees it.
func NewEncoder(kilobits int) *Encoder { return &Encoder{kilobits: kilobits} }

// Encode encodes a picture. The first one, one of another size, and one with isKeyFrame can be
// decoded without earlier ones. It returns nil if the encoder skips the picture.
func (e *Encoder) Encode(picture *Picture, isKeyFrame bool) ([]byte, error) {
	if len(picture.Pixels) != Size(picture.Width, picture.Height) || len(picture.Pixels) == 0 {
		return nil, errors.New("vp8: the size of the pixels is not that of the picture")
	}
	if e.codec == nil || e.width != picture.Width || e.height != picture.Height {
		if err := e.open(picture.Width, picture.Height); err != nil {
			return nil, err
		}
	}
	flags := C.long(0)
	if isKeyFrame {
		flags = C.VPX_EFLAG_FORCE_KF
	}
	var size C.size_t
	var code C.vpx_codec_err_t
	pixels := (*C.uchar)(unsafe.Pointer(&picture.Pixels[0]))
	bytes := C.encode(e.codec, C.uint(e.width), C.uint(e.height), pixels,
		C.longlong(e.frames*3000), flags, &size, &code)
	e.frames++
	if code != C.VPX_CODEC_OK {
		return nil, errors.New("vp8: " + C.GoString(C.vpx_codec_err_to_string(code)))
	}
	if bytes == nil {
		return nil, nil
	}
	return C.GoBytes(bytes, C.int(size)), nil
}

func (e *Encoder) open(width, height int) error {
	e.Close()
	codec := (*C.vpx_codec_ctx_t)(C.calloc(1, C.sizeof_vpx_codec_ctx_t))
	code := C.open_encoder(codec, C.uint(width), C.uint(height), C.uint(e.kilobits))
	if code != C.VPX_CODEC_OK {
		C.free(unsafe.Pointer(codec))
		return errors.New("vp8: " + C.GoString(C.vpx_codec_err_to_string(code)))
	}
	e.codec, e.width, e.height = codec, width, height
	return nil
}

// Close frees the encoder.
func (e *Encoder) Close() {
	if e.codec != nil {
		C.vpx_codec_destroy(e.codec)
		C.free(unsafe.Pointer(e.codec))
		e.codec = nil
	}
}
