// Barcodes and QR codes by libzbar 0.x (libzbar.so.0), which is loaded on first use: neither a
// build nor a start depends on it.
#ifndef CBARCODE_H
#define CBARCODE_H

#include <stddef.h>
#include <stdint.h>

/// A scanner. Only one thread at a time may use it.
typedef struct cbarcode_scanner cbarcode_scanner;

/// A code that was found. Pointers are valid until the callback returns.
typedef struct cbarcode_code {
  /// The name of the symbology, such as `QR-Code` or `EAN-13`.
  const char *kind;
  /// The content as it is encoded in the code, not terminated.
  const char *text;
  size_t text_bytes;
  /// The number of corner points, which are x, y pairs in pixels: for a QR code its four corners,
  /// for others points along the scan lines that crossed it.
  size_t corner_count;
  const int32_t *corners;
} cbarcode_code;

/// Creates a scanner for QR codes, EAN, UPC, Code 128, Code 93, Code 39, Codabar and Interleaved 2
/// of 5. Returns NULL on failure, and writes the reason, a terminated text.
cbarcode_scanner *cbarcode_create(char *reason, size_t capacity);

void cbarcode_destroy(cbarcode_scanner *scanner);

/// Scans luma, one byte per pixel in rows without padding, and calls `found` for each code. Returns
/// the number of codes, or -1 if the scan failed.
int cbarcode_scan(
    cbarcode_scanner *scanner, const uint8_t *luma, uint32_t width, uint32_t height,
    void *context, void (*found)(void *context, const cbarcode_code *code));

#endif
