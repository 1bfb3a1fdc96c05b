// AV1 through dav1d, for SidelightCodecs.
//
// The functions exist only if the package is built with the trait Codecs, which defines
// SIDELIGHT_CODECS. Two threads must not use a handle at the same time.
#ifndef CDAV1D_H
#define CDAV1D_H

#include <stddef.h>
#include <stdint.h>

/// The version of the library.
const char *cdav1d_version(void);

/// A decoder of one stream, with one thread.
typedef struct cdav1d_decoder cdav1d_decoder;

/// A picture of 8 bits and 4:2:0 in the decoder's memory.
typedef struct {
  const uint8_t *planes[3];
  int strides[3];
  int width, height;
} cdav1d_picture;

/// Creates a decoder. `max_pixels` is the maximum width times height. Returns NULL on failure.
cdav1d_decoder *cdav1d_decoder_create(unsigned max_pixels);

/// Releases a decoder. NULL is ignored.
void cdav1d_decoder_destroy(cdav1d_decoder *decoder);

/// Decodes a temporal unit. Stores the number of pictures that it gave, and the last one, which is
/// valid until the next call. Returns 0, or the library's error, a negative errno; -ENOTSUP also for
/// a picture of another format.
int cdav1d_decode(
    cdav1d_decoder *decoder, const uint8_t *bytes, size_t count, int *pictures,
    cdav1d_picture *picture);

#endif
