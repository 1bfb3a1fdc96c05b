package vp8

/*
#cgo LDFLAGS: -lvpx
#include <stdlib.h>
#include <string.h>
#include <vpx/vp8dx.h>
#include <vpx/vpx_decoder.h>

static vpx_codec_err_t open_decoder(vpx_codec_ctx_t *codec) {
  return vpx_codec_dec_init(codec, vpx_codec_vp8_dx(), NULL, 0);
}

// Copies the planes of an image to contiguous rows.
static void copy_image(const vpx_image_t *image, unsigned char *to) {
  for (int plane = 0; plane < 3; plane++) {
    const unsigned width = plane ? (image->d_w + 1) / 2 : image->d_w;
    const unsigned height = plane ? (image->d_h + 1) / 2 : image->d_h;
    for (unsigned y = 0; y < height; y++, to += width)
      memcpy(to, image->planes[plane] + (size_t)y * image->stride[plane], width);
  }
}
*/
import "C"

import (
	"errors"
	"unsafe"
)

// Decoder decodes one stream. It is not safe for concurrent use.
type Decoder struct{ codec *C.vpx_codec_ctx_t }

// NewDecoder returns a decoder. Close frees it.
func NewDecoder() (*Decoder, error) {
	codec := (*C.vpx_codec_ctx_t)(C.calloc(1, C.sizeof_vpx_codec_ctx_t))
	if C.open_decoder(codec) != C.VPX_CODEC_OK {
		C.free(unsafe.Pointer(codec))
		return nil, errors.New("vp8: the decoder cannot be opened")
	}
	return &Decoder{codec}, nil
}

// Decode decodes one frame. It returns nil if the frame is not for display.
func (d *Decoder) Decode(frame []byte) (*Picture, error) {
	if len(frame) == 0 {
		return nil, errors.New("vp8: the frame is empty")
	}
	data := (*C.uint8_t)(unsafe.Pointer(&frame[0]))
	if code := C.vpx_codec_decode(d.codec, data, C.uint(len(frame)), nil, 0); code != C.VPX_CODEC_OK {
		return nil, errors.New("vp8: " + C.GoString(C.vpx_codec_err_to_string(code)))
	}
	var position C.vpx_codec_iter_t
	image := C.vpx_codec_get_frame(d.codec, &position)
	if image == nil {
		return nil, nil
	}
	picture := &Picture{Width: int(image.d_w), Height: int(image.d_h)}
	picture.Pixels = make([]byte, Size(picture.Width, picture.Height))
	C.copy_image(image, (*C.uchar)(unsafe.Pointer(&picture.Pixels[0])))
	return picture, nil
}

// Close frees the decoder.
func (d *Decoder) Close() {
	C.vpx_codec_destroy(d.codec)
	C.free(unsafe.Pointer(d.codec))
}
