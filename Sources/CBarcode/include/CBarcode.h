// Barcodes and QR codes: read by libzbar 0.x (libzbar.so.0), and written by libzint. They are loaded
// on first use: neither a build nor a start depends on them.
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

/// Scans luma, one byte per pixel in rows without padding, and calls `found` for every code.
/// Returns the number of codes, or -1 if the scan failed.
int cbarcode_scan(
    cbarcode_scanner *scanner, const uint8_t *luma, uint32_t width, uint32_t height,
    void *context, void (*found)(void *context, const cbarcode_code *code));

/// The symbologies of codes that are written, by zint's numbers.
enum {
  CBARCODE_CODE128 = 20,
  CBARCODE_PDF417 = 55,
  CBARCODE_PDF417_COMPACT = 56,
  CBARCODE_QR = 58,
  CBARCODE_AZTEC = 92,
};

/// Returns the reason why codes cannot be written, or NULL if they can: libzint 2.11 to 2.16
/// (libzint.so.2.N) is loaded on first use.
const char *cbarcode_writer_failure(void);

/// Writes a code into `modules`, a byte a module in rows without padding; 1 is dark. `options` are
/// zint's: -1, or 0 for the second and the third, is the library's choice. Any thread may call it.
/// Returns 0 on failure, and writes the reason, a terminated text.
int cbarcode_write(
    int symbology, const int options[3], const uint8_t *text, int bytes,
    uint8_t *modules, size_t capacity, int *rows, int *columns, char *reason,
    size_t reason_capacity);

#endif
