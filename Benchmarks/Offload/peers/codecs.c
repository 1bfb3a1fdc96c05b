// Encodes and decodes video with the settings of the server and without it: the least work that a
// session with encoded video can have.
//
//   codecs encode h264|vp8|vp9|jpeg WIDTHxHEIGHT BIT_RATE LAYERS INPUT OUTPUT
//   codecs decode h264|vp8|vp9 INPUT OUTPUT
//
// Raw video is I420 without gaps. An encoded stream has, for each frame, the number of bytes (32
// bits, little endian) and the bytes. It prints the frames and their processor time in milliseconds.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include <turbojpeg.h>

#include "COpenH264.h"
#include "CVPX.h"

static double processor_time(void) {
  struct timespec now;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &now);
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

static void check(int holds, const char *what) {
  if (holds) return;
  fprintf(stderr, "codecs: %s\n", what);
  exit(1);
}

static FILE *opened(const char *path, const char *mode) {
  FILE *file = fopen(path, mode);
  check(file != NULL, path);
  return file;
}

static void report(int frames, double milliseconds) {
  printf("{\"frames\": %d, \"milliseconds\": %.3f}\n", frames, milliseconds);
}

static void encode(const char *codec, char **arguments) {
  int width = 0, height = 0;
  check(sscanf(arguments[0], "%dx%d", &width, &height) == 2, "a size is WIDTHxHEIGHT");
  const int bit_rate = atoi(arguments[1]), layers = atoi(arguments[2]);
  FILE *input = opened(arguments[3], "rb"), *output = opened(arguments[4], "wb");
  const int is_h264 = !strcmp(codec, "h264"), is_vp9 = !strcmp(codec, "vp9");
  const int is_jpeg = !strcmp(codec, "jpeg");
  copenh264_encoder *h264 = NULL;
  cvpx_encoder *vpx = NULL;
  tjhandle jpeg = is_jpeg ? tjInitCompress() : NULL;
  unsigned char *file = is_jpeg ? tjAlloc((int)tjBufSize(width, height, TJSAMP_420)) : NULL;
  if (is_h264) {
    h264 = copenh264_encoder_create(&(copenh264_settings){
        .width = width, .height = height, .bit_rate = bit_rate, .frame_rate = 30,
        .temporal_layers = layers, .complexity = 0, .is_bt709 = 1});
  } else if (!is_jpeg) {
    vpx = cvpx_encoder_create(&(cvpx_settings){
        .is_vp9 = is_vp9, .width = width, .height = height, .bit_rate = bit_rate / 1000,
        .frame_rate = 30, .temporal_layers = layers, .speed = is_vp9 ? 9 : 12, .is_bt709 = is_vp9});
  }
  check(h264 || vpx || (jpeg && file), "the encoder cannot be created");
  const size_t luma = (size_t)width * height, chroma = luma / 4;
  uint8_t *raw = malloc(luma + 2 * chroma);
  double total = 0;
  int frames = 0;
  while (fread(raw, 1, luma + 2 * chroma, input) == luma + 2 * chroma) {
    const uint8_t *planes[3] = {raw, raw + luma, raw + luma + chroma}, *bytes = NULL;
    size_t count = 0;
    int layer = 0, state;
    const double start = processor_time();
    if (is_h264) {
      copenh264_picture picture = {
          {planes[0], planes[1], planes[2]}, {width, width / 2, width / 2}, width, height};
      state = copenh264_encode(h264, &picture, 0, frames * 1000LL / 30, &bytes, &count, &layer);
    } else if (is_jpeg) {
      unsigned long length = tjBufSize(width, height, TJSAMP_420);
      const int strides[3] = {width, width / 2, width / 2};
      state = tjCompressFromYUVPlanes(
          jpeg, planes, width, strides, height, TJSAMP_420, &file, &length, 80,
          TJFLAG_NOREALLOC | TJFLAG_ACCURATEDCT);
      bytes = file, count = length;
    } else {
      cvpx_picture picture = {
          {planes[0], planes[1], planes[2]}, {width, width / 2, width / 2}, width, height};
      state = cvpx_encode(vpx, &picture, 0, &bytes, &count, &layer);
    }
    total += processor_time() - start;
    check(state == 0 && count > 0, "a frame cannot be encoded");
    const uint32_t length = (uint32_t)count;
    fwrite(&length, sizeof length, 1, output);
    fwrite(bytes, 1, count, output);
    frames++;
  }
  check(fclose(output) == 0, "the output cannot be written");
  report(frames, total);
}

static void decode(const char *codec, char **arguments) {
  FILE *input = opened(arguments[0], "rb"), *output = opened(arguments[1], "wb");
  const int is_h264 = !strcmp(codec, "h264");
  copenh264_decoder *h264 = is_h264 ? copenh264_decoder_create() : NULL;
  cvpx_decoder *vpx = is_h264 ? NULL : cvpx_decoder_create(!strcmp(codec, "vp9"));
  check(h264 || vpx, "the decoder cannot be created");
  uint8_t *unit = NULL;
  uint32_t length;
  double total = 0;
  int frames = 0;
  while (fread(&length, sizeof length, 1, input) == 1) {
    unit = realloc(unit, length);
    check(fread(unit, 1, length, input) == length, "the stream is cut short");
    const uint8_t *const *planes;
    const int *strides;
    int pictures = 0, width, height, state;
    copenh264_picture of_h264;
    cvpx_picture of_vpx;
    const double start = processor_time();
    if (is_h264) {
      state = copenh264_decode(h264, unit, length, &pictures, &of_h264);
      planes = of_h264.planes, strides = of_h264.strides;
      width = of_h264.width, height = of_h264.height;
    } else {
      state = cvpx_decode(vpx, unit, length, &pictures, &of_vpx);
      planes = of_vpx.planes, strides = of_vpx.strides;
      width = of_vpx.width, height = of_vpx.height;
    }
    total += processor_time() - start;
    check(state == 0 && pictures == 1, "a frame cannot be decoded");
    for (int plane = 0; plane < 3; plane++)
      for (int row = 0; row < (plane ? (height + 1) / 2 : height); row++)
        fwrite(planes[plane] + (size_t)row * strides[plane], 1, plane ? (width + 1) / 2 : width,
               output);
    frames++;
  }
  check(fclose(output) == 0, "the output cannot be written");
  report(frames, total);
}

int main(int count, char **arguments) {
  if (count == 8 && !strcmp(arguments[1], "encode")) encode(arguments[2], arguments + 3);
  else if (count == 5 && !strcmp(arguments[1], "decode")) decode(arguments[2], arguments + 3);
  else check(0, "see the first lines of codecs.c");
  return 0;
}
