#include "CBarcode.h"

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

// The part of zint.h that is used here. The offsets of the fields of zint_symbol depend on the
// minor version, as does the name of the library.
typedef struct layout {
  int minor;
  size_t option_1, option_2, option_3, rows, width, data, error;
} layout;

static const layout layouts[] = {
    {16, 464, 468, 472, 812, 816, 1044, 820},   {15, 464, 468, 472, 812, 816, 820, 30420},
    {14, 464, 468, 472, 808, 812, 816, 30416},  {13, 464, 468, 472, 752, 756, 760, 30360},
    {12, 448, 452, 456, 664, 668, 672, 30272},  {11, 448, 452, 456, 660, 664, 668, 30268},
};
enum { row_bytes = 144, zint_failed = 5 };

static struct {
  const layout *layout;
  void *(*create)(void);
  void (*delete)(void *symbol);
  int (*encode)(void *symbol, const unsigned char *source, int length);
  char reason[256];
} zint;

static int field(const void *symbol, size_t offset) {
  int value;
  memcpy(&value, (const char *)symbol + offset, sizeof value);
  return value;
}

static int is_dark(const void *symbol, int row, int column) {
  const unsigned char *data = (const unsigned char *)symbol + zint.layout->data;
  return data[row * row_bytes + column / 8] >> column % 8 & 1;
}

// Whether a QR code of one letter has its 21 modules, and its finder pattern in the corner.
static int is_layout_right(void) {
  void *symbol = zint.create();
  if (symbol == NULL) return 0;
  memcpy(symbol, &(int){CBARCODE_QR}, sizeof(int));
  int is_right = zint.encode(symbol, (const unsigned char *)"A", 1) < zint_failed &&
                 field(symbol, zint.layout->rows) == 21 && field(symbol, zint.layout->width) == 21;
  for (int i = 0; is_right && i < 8; i++) is_right = is_dark(symbol, 0, i) == (i < 7);
  zint.delete(symbol);
  return is_right;
}

static void load(void) {
  for (size_t i = 0; i < sizeof layouts / sizeof *layouts; i++) {
    char name[32];
    snprintf(name, sizeof name, "libzint.so.2.%d", layouts[i].minor);
    void *library = dlopen(name, RTLD_NOW | RTLD_LOCAL);
    if (library == NULL) continue;
    *(void **)&zint.create = dlsym(library, "ZBarcode_Create");
    *(void **)&zint.delete = dlsym(library, "ZBarcode_Delete");
    *(void **)&zint.encode = dlsym(library, "ZBarcode_Encode");
    zint.layout = &layouts[i];
    if (zint.create != NULL && zint.delete != NULL && zint.encode != NULL && is_layout_right()) {
      return;
    }
    zint.layout = NULL;
    snprintf(zint.reason, sizeof zint.reason, "%s has other functions than expected", name);
    return;
  }
  snprintf(
      zint.reason, sizeof zint.reason,
      "libzint.so.2.11, or up to 2.16, cannot be loaded; install libzint2.11");
}

const char *cbarcode_writer_failure(void) {
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, load);
  return zint.layout == NULL ? zint.reason : NULL;
}

int cbarcode_write(
    int symbology, const int options[3], const uint8_t *text, int bytes, uint8_t *modules,
    size_t capacity, int *rows, int *columns, char *reason, size_t reason_capacity) {
  if (cbarcode_writer_failure() != NULL) return 0;
  void *symbol = zint.create();
  if (symbol == NULL) {
    snprintf(reason, reason_capacity, "memory is exhausted");
    return 0;
  }
  memcpy(symbol, &symbology, sizeof symbology);
  memcpy((char *)symbol + zint.layout->option_1, &options[0], sizeof(int));
  memcpy((char *)symbol + zint.layout->option_2, &options[1], sizeof(int));
  memcpy((char *)symbol + zint.layout->option_3, &options[2], sizeof(int));
  const int result = zint.encode(symbol, text, bytes);
  *rows = field(symbol, zint.layout->rows);
  *columns = field(symbol, zint.layout->width);
  const int is_written = result < zint_failed && *rows > 0 && *rows <= 200 && *columns > 0 &&
                         *columns <= 8 * row_bytes && (size_t)*rows * (size_t)*columns <= capacity;
  if (is_written) {
    for (int row = 0; row < *rows; row++) {
      for (int column = 0; column < *columns; column++) {
        modules[row * *columns + column] = (uint8_t)is_dark(symbol, row, column);
      }
    }
  } else {
    snprintf(reason, reason_capacity, "%.99s", (const char *)symbol + zint.layout->error);
  }
  zint.delete(symbol);
  return is_written;
}
