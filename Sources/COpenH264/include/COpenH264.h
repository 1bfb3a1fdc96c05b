// H.264 through OpenH264, for SidelightCodecs.
//
// The functions exist only if the package is built with the trait Codecs, which defines
// SIDELIGHT_CODECS. Two threads must not use a handle at the same time.
#ifndef COPENH264_H
#define COPENH264_H

#include <stddef.h>
#include <stdint.h>

/// Stores the version of the library.
void copenh264_version(int *major, int *minor, int *revision);

// --- Decoder -------------------------------------------------------------------------------------

/// A decoder of one stream, with one thread and without concealment of errors.
typedef struct copenh264_decoder copenh264_decoder;

/// An I420 picture in the decoder's memory.
typedef struct {
  const uint8_t *planes[3];
  int strides[3];
  int width, height;
} copenh264_picture;

/// Creates a decoder. Returns NULL if memory is exhausted.
copenh264_decoder *copenh264_decoder_create(void);

/// Releases a decoder. NULL is ignored.
void copenh264_decoder_destroy(copenh264_decoder *decoder);

/// Decodes an access unit in the byte stream format of annex B. Stores the number of pictures that
/// it gave, and the last one, which is valid until the next call. Returns 0, or the library's
/// DECODING_STATE.
int copenh264_decode(
    copenh264_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    copenh264_picture *picture);

// --- Encoder -------------------------------------------------------------------------------------

/// An encoder of one stream: Constrained Baseline, one slice, one thread.
typedef struct copenh264_encoder copenh264_encoder;

/// The options of an encoder.
typedef struct {
  int width, height;
  /// Bits per second.
  int bit_rate;
  /// Frames per second, 1 to 60.
  float frame_rate;
  int temporal_layers;
  /// 0 (fast) to 2 (best).
  int complexity;
  int is_full_range;
  /// Whether the matrix is BT.709 instead of BT.601.
  int is_bt709;
} copenh264_settings;

/// Creates an encoder. Returns NULL on failure.
copenh264_encoder *copenh264_encoder_create(const copenh264_settings *settings);

/// Releases an encoder. NULL is ignored.
void copenh264_encoder_destroy(copenh264_encoder *encoder);

/// Changes the rates. Returns 0, or -1.
int copenh264_encoder_set_rates(copenh264_encoder *encoder, int bit_rate, float frame_rate);

/// Encodes an I420 picture. Stores the access unit, which is valid until the next call, and its
/// temporal layer. A count of 0 means that the library skipped the picture. Returns 0, or the
/// library's error.
int copenh264_encode(
    copenh264_encoder *encoder, const copenh264_picture *picture, int forces_key_frame,
    int64_t milliseconds, const uint8_t **bytes, size_t *count, int *temporal_layer);

#endif
