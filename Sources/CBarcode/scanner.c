#include "CBarcode.h"

#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

// The part of zbar.h that is used here. The constants and functions match libzbar.so.0.
enum {
  zbar_all = 0,
  zbar_ean8 = 8,
  zbar_upce = 9,
  zbar_upca = 12,
  zbar_ean13 = 13,
  zbar_i25 = 25,
  zbar_codabar = 38,
  zbar_code39 = 39,
  zbar_qrcode = 64,
  zbar_code93 = 93,
  zbar_code128 = 128,
};
enum { zbar_enable = 0, zbar_binary = 4 };

// Symbologies that few people use are left out: their decoders have had most of zbar's faults.
static const int symbologies[] = {
    zbar_ean8,   zbar_upce,   zbar_upca,   zbar_ean13,  zbar_i25,
    zbar_codabar, zbar_code39, zbar_qrcode, zbar_code93, zbar_code128,
};

enum { corners_max = 64 };

typedef struct zbar {
  void *(*image_create)(void);
  void (*image_destroy)(void *image);
  void (*image_set_format)(void *image, unsigned long format);
  void (*image_set_size)(void *image, unsigned width, unsigned height);
  void (*image_set_data)(
      void *image, const void *data, unsigned long bytes, void (*cleanup)(void *image));
  void *(*scanner_create)(void);
  void (*scanner_destroy)(void *scanner);
  int (*scanner_set_config)(void *scanner, int symbology, int config, int value);
  int (*scan_image)(void *scanner, void *image);
  const void *(*first_symbol)(const void *image);
  const void *(*next_symbol)(const void *symbol);
  int (*symbol_type)(const void *symbol);
  const char *(*type_name)(int type);
  const char *(*symbol_data)(const void *symbol);
  unsigned (*symbol_data_length)(const void *symbol);
  unsigned (*corner_count)(const void *symbol);
  int (*corner_x)(const void *symbol, unsigned index);
  int (*corner_y)(const void *symbol, unsigned index);
} zbar;

struct cbarcode_scanner {
  void *library;
  zbar zbar;
  void *scanner;
};

static int load(void *library, zbar *functions, const char **missing) {
  const struct {
    void **address;
    const char *name;
  } symbols[] = {
      {(void **)&functions->image_create, "zbar_image_create"},
      {(void **)&functions->image_destroy, "zbar_image_destroy"},
      {(void **)&functions->image_set_format, "zbar_image_set_format"},
      {(void **)&functions->image_set_size, "zbar_image_set_size"},
      {(void **)&functions->image_set_data, "zbar_image_set_data"},
      {(void **)&functions->scanner_create, "zbar_image_scanner_create"},
      {(void **)&functions->scanner_destroy, "zbar_image_scanner_destroy"},
      {(void **)&functions->scanner_set_config, "zbar_image_scanner_set_config"},
      {(void **)&functions->scan_image, "zbar_scan_image"},
      {(void **)&functions->first_symbol, "zbar_image_first_symbol"},
      {(void **)&functions->next_symbol, "zbar_symbol_next"},
      {(void **)&functions->symbol_type, "zbar_symbol_get_type"},
      {(void **)&functions->type_name, "zbar_get_symbol_name"},
      {(void **)&functions->symbol_data, "zbar_symbol_get_data"},
      {(void **)&functions->symbol_data_length, "zbar_symbol_get_data_length"},
      {(void **)&functions->corner_count, "zbar_symbol_get_loc_size"},
      {(void **)&functions->corner_x, "zbar_symbol_get_loc_x"},
      {(void **)&functions->corner_y, "zbar_symbol_get_loc_y"},
  };
  for (size_t i = 0; i < sizeof symbols / sizeof *symbols; i++) {
    *symbols[i].address = dlsym(library, symbols[i].name);
    if (*symbols[i].address == NULL) {
      *missing = symbols[i].name;
      return 0;
    }
  }
  return 1;
}

cbarcode_scanner *cbarcode_create(char *reason, size_t capacity) {
  void *library = dlopen("libzbar.so.0", RTLD_NOW | RTLD_LOCAL);
  if (library == NULL) {
    snprintf(reason, capacity, "libzbar.so.0 cannot be loaded; install libzbar0");
    return NULL;
  }
  cbarcode_scanner *scanner = calloc(1, sizeof *scanner);
  const char *missing = "memory";
  if (scanner != NULL && load(library, &scanner->zbar, &missing)) {
    missing = "a scanner";
    scanner->library = library;
    scanner->scanner = scanner->zbar.scanner_create();
  }
  if (scanner == NULL || scanner->scanner == NULL) {
    snprintf(reason, capacity, "libzbar.so.0 has no %s", missing);
    free(scanner);
    dlclose(library);
    return NULL;
  }
  scanner->zbar.scanner_set_config(scanner->scanner, zbar_all, zbar_enable, 0);
  for (size_t i = 0; i < sizeof symbologies / sizeof *symbologies; i++) {
    scanner->zbar.scanner_set_config(scanner->scanner, symbologies[i], zbar_enable, 1);
  }
  // Its guess of the encoding of QR codes takes UTF-8 for Shift JIS.
  scanner->zbar.scanner_set_config(scanner->scanner, zbar_qrcode, zbar_binary, 1);
  return scanner;
}

void cbarcode_destroy(cbarcode_scanner *scanner) {
  if (scanner == NULL) return;
  scanner->zbar.scanner_destroy(scanner->scanner);
  dlclose(scanner->library);
  free(scanner);
}

int cbarcode_scan(
    cbarcode_scanner *scanner, const uint8_t *luma, uint32_t width, uint32_t height,
    void *context, void (*found)(void *context, const cbarcode_code *code)) {
  const zbar *zbar = &scanner->zbar;
  void *image = zbar->image_create();
  if (image == NULL) return -1;
  // Y800: luma only.
  zbar->image_set_format(image, 'Y' | '8' << 8 | '0' << 16 | (unsigned long)'0' << 24);
  zbar->image_set_size(image, width, height);
  zbar->image_set_data(image, luma, (unsigned long)width * height, NULL);
  const int count = zbar->scan_image(scanner->scanner, image);
  if (count > 0) {
    for (const void *symbol = zbar->first_symbol(image); symbol != NULL;
         symbol = zbar->next_symbol(symbol)) {
      int32_t corners[2 * corners_max];
      unsigned all = zbar->corner_count(symbol);
      all = all < corners_max ? all : corners_max;
      for (unsigned i = 0; i < all; i++) {
        corners[2 * i] = zbar->corner_x(symbol, i);
        corners[2 * i + 1] = zbar->corner_y(symbol, i);
      }
      const cbarcode_code code = {
          zbar->type_name(zbar->symbol_type(symbol)), zbar->symbol_data(symbol),
          zbar->symbol_data_length(symbol), all, corners};
      found(context, &code);
    }
  }
  zbar->image_destroy(image);
  return count;
}
