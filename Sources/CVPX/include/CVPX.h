// VP8 and VP9 through libvpx, for SidelightCodecs.
//
// The functions exist only if the package is built with the trait Codecs, which defines
// SIDELIGHT_CODECS. Two threads must not use a handle at the same time.
#ifndef CVPX_H
#define CVPX_H

#include <stddef.h>
#include <stdint.h>

/// The version of the library, `v1.12.0`.
const char *cvpx_version(void);

/// An I420 picture.
typedef struct {
  const uint8_t *planes[3];
  int strides[3];
  int width, height;
} cvpx_picture;

// --- Decoder -------------------------------------------------------------------------------------

/// A decoder of one stream, with one thread and without concealment of errors.
typedef struct cvpx_decoder cvpx_decoder;

/// Creates a decoder. Returns NULL on failure.
cvpx_decoder *cvpx_decoder_create(int is_vp9);

/// Releases a decoder. NULL is ignored.
void cvpx_decoder_destroy(cvpx_decoder *decoder);

/// Decodes a frame of VP8, or a superframe of VP9. Stores the number of pictures that it gave, and
/// the last one, which is valid until the next call. Returns 0; -1 if the library fails; -2 for a
/// picture that the library calls damaged, and -3 for a picture of another format.
int cvpx_decode(
    cvpx_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    cvpx_picture *picture);

/// The reason of the decoder's last failure.
const char *cvpx_decoder_error(cvpx_decoder *decoder);

// --- Encoder -------------------------------------------------------------------------------------

/// An encoder of one stream, with one thread, one partition or tile, and without lookahead.
typedef struct cvpx_encoder cvpx_encoder;

/// The options of an encoder.
typedef struct {
  int is_vp9;
  int width, height;
  /// Kilobits per second.
  int bit_rate;
  /// Frames per second.
  double frame_rate;
  int temporal_layers;
  /// The library's `cpu-used`; larger is faster.
  int speed;
  /// VP9 only.
  int is_full_range;
  /// VP9 only: whether the matrix is BT.709 instead of BT.601.
  int is_bt709;
} cvpx_settings;

/// Creates an encoder. Returns NULL on failure.
cvpx_encoder *cvpx_encoder_create(const cvpx_settings *settings);

/// Releases an encoder. NULL is ignored.
void cvpx_encoder_destroy(cvpx_encoder *encoder);

/// Changes the rates. Returns 0, or -1.
int cvpx_encoder_set_rates(cvpx_encoder *encoder, int bit_rate, double frame_rate);

/// Encodes a picture. Stores the frame, which is valid until the next call, and its temporal layer.
/// A count of 0 means that the library dropped the picture. Returns 0, or -1.
int cvpx_encode(
    cvpx_encoder *encoder, const cvpx_picture *picture, int forces_key_frame,
    const uint8_t **bytes, size_t *count, int *temporal_layer);

/// The reason of the encoder's last failure.
const char *cvpx_encoder_error(cvpx_encoder *encoder);

#endif
