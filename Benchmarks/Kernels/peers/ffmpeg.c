// ffmpeg's filters through libavfilter: one graph per operation, slice threads, frames from memory
// without a copy, results in its own pool of buffers.
#include "peer.h"

#include <libavfilter/avfilter.h>
#include <libavfilter/buffersink.h>
#include <libavfilter/buffersrc.h>
#include <libavutil/imgutils.h>
#include <libavutil/opt.h>

typedef struct filter {
  const char *key, *format, *out, *graph;
} filter;

// Sepia, warmer, darker corners, saturation and contrast, grain.
#define SEPIA(mix) "colorchannelmixer=" mix
#define FIVE                                                                                  \
  SEPIA(".487:.564:.109:0:.239:.67:.091:0:.191:.376:.273") ",colortemperature=temperature=5500," \
  "vignette,colorchannelmixer=1.25:-.16:-.01:0:-.06:1.16:-.01:0:-.06:-.16:1.31,noise=alls=8:allf=t"
#define FONT "fontfile=/usr/share/fonts/truetype/dejavu/DejaVuSans.ttf"
#define PLATE                                                                                 \
  "drawtext=" FONT ":text='Ada Lovelace\nAnalytical Engines':fontsize=54:fontcolor=white:x=54:"   \
  "y=h-th-54:box=1:boxcolor=black@0.6:boxborderw=20:shadowcolor=black@0.5:shadowx=2:shadowy=3"
// The pixel's luma, smoothstep(.5, 1, luma) * .6 as a and b, and the mix with a channel of the glow.
#define LUMA "(.2126*r(X,Y)+.7152*g(X,Y)+.0722*b(X,Y))"
#define GLOW(channel, target)                                                                 \
  "st(0,clip(" LUMA "/127.5-1,0,1));st(1,ld(0)*ld(0)*(3-2*ld(0))*.6);" channel                   \
  "(X,Y)+(" target "-" channel "(X,Y))*ld(1)"
#define MEAN(c)                                                                               \
  "(" c "(X-1,Y-1)+" c "(X,Y-1)+" c "(X+1,Y-1)+" c "(X-1,Y)+" c "(X,Y)+" c "(X+1,Y)+" c          \
  "(X-1,Y+1)+" c "(X,Y+1)+" c "(X+1,Y+1))/9"
#define AT(x, y) "(.2126*r(X" x ",Y" y ")+.7152*g(X" x ",Y" y ")+.0722*b(X" x ",Y" y "))"
#define SOBEL                                                                                 \
  "hypot(" AT("+1", "-1") "+2*" AT("+1", "") "+" AT("+1", "+1") "-" AT("-1", "-1") "-2*"         \
  AT("-1", "") "-" AT("-1", "+1") "," AT("-1", "+1") "+2*" AT("", "+1") "+" AT("+1", "+1") "-"   \
  AT("-1", "-1") "-2*" AT("", "-1") "-" AT("+1", "-1") ")"
#define SWIRL(c)                                                                              \
  "st(0,X+.5-W/2);st(1,Y+.5-H/2);st(2,clip(hypot(ld(0),ld(1))/(H/2),0,1));"                      \
  "st(3,3*(1-ld(2)*ld(2)*(3-2*ld(2))));" c                                                     \
  "(W/2-.5+ld(0)*cos(ld(3))-ld(1)*sin(ld(3)),H/2-.5+ld(0)*sin(ld(3))+ld(1)*cos(ld(3)))"
#define GEQ(r, g, b) "geq=r='" r "':g='" g "':b='" b "'"
static const filter filters[] = {
    {"kernel-glow", "bgra", "bgra", GEQ(GLOW("r", "255"), GLOW("g", "242.25"), GLOW("b", "204"))},
    {"kernel-sobel", "bgra", "bgra", GEQ(SOBEL, SOBEL, SOBEL)},
    {"kernel-mean", "bgra", "bgra", GEQ(MEAN("r"), MEAN("g"), MEAN("b"))},
    {"kernel-swirl", "bgra", "bgra", GEQ(SWIRL("r"), SWIRL("g"), SWIRL("b"))},
    {"matrix-bgra", "bgra", "bgra", SEPIA(".359:.704:.137:0:.299:.587:.114:0:.239:.47:.091")},
    {"five-bgra", "bgra", "bgra", FIVE},
    {"five-i420", "i420", "i420", FIVE},
    {"curve", "bgra", "bgra", "curves=all='0/0 .25/.15 .5/.5 .75/.88 1/1'"},
    {"balance", "bgra", "bgra", "colorbalance=rs=-.4:bs=.5:rh=.5:gh=.1:bh=-.4:pl=1"},
    {"gaussian10", "bgra", "bgra", "gblur=sigma=10:steps=3"},
    {"gaussian25", "bgra", "bgra", "gblur=sigma=25:steps=3"},
    {"gaussian10-i420", "i420", "i420", "gblur=sigma=10:steps=3"},
    {"unsharp", "bgra", "bgra", "unsharp=13:13:.5:13:13:.5"},
    {"convolution", "bgra", "bgra",
     "convolution=0m='0 -1 0 -1 5 -1 0 -1 0':1m='0 -1 0 -1 5 -1 0 -1 0':"
     "2m='0 -1 0 -1 5 -1 0 -1 0'"},
    {"motion0", "bgra", "bgra", "avgblur=sizeX=20:sizeY=1"},
    {"motion30", "bgra", "bgra", "dblur=angle=30:radius=20"},
    {"pixellate", "bgra", "bgra", "pixelize=width=12:height=12"},
    {"median", "bgra", "bgra", "median=radius=1"},
    {"crop", "bgra", "bgra", "crop=1280:720:320:180:exact=1,copy"},
    {"scale-down", "bgra", "bgra", "scale=1280:720:flags=area"},
    {"scale-up", "bgra", "bgra", "scale=2560:1440:flags=bilinear"},
    {"affine", "bgra", "bgra", "rotate=.2:bilinear=1"},
    {"cube", "bgra", "bgra", "lut3d=file=%s/cube.cube:interp=tetrahedral"},
    {"text-i420", "i420", "i420", PLATE},
    {"text-bgra", "bgra", "bgra", PLATE},
    {"timecode-i420", "i420", "i420",
     "drawtext=" FONT ":fontsize=48:fontcolor=white:x=(w-tw)/2:y=h-th-70:box=1:"
     "boxcolor=black@0.6:boxborderw=20:timecode='10\\:00\\:00\\:00':rate=30"},
    {"i420-bgra", "i420", "bgra", "scale=flags=bilinear"},
    {"bgra-i420", "bgra", "i420", "scale=flags=bilinear"},
    {"nv12-bgra", "nv12", "bgra", "scale=flags=bilinear"},
    {"bgra-nv12", "bgra", "nv12", "scale=flags=bilinear"},
};

static enum AVPixelFormat pixel_format(const char *name) {
  return av_get_pix_fmt(strcmp(name, "i420") == 0 ? "yuv420p" : name);
}

static void keep(void *opaque, uint8_t *data) { (void)opaque, (void)data; }

/// The frames of a ring, in memory.
static AVFrame *wrap(uint8_t *bytes, const char *format) {
  AVFrame *frame = av_frame_alloc();
  frame->format = pixel_format(format);
  frame->width = WIDTH;
  frame->height = HEIGHT;
  av_image_fill_arrays(
      frame->data, frame->linesize, bytes, frame->format, WIDTH, HEIGHT, 1);
  frame->buf[0] = av_buffer_create(bytes, frame_bytes(format), keep, NULL, 0);
  return frame;
}

typedef struct graph {
  AVFilterGraph *graph;
  AVFilterContext *source, *sink;
} graph;

static int open_graph(const filter *filter, int threads, const char *pictures, graph *g) {
  char text[4096], body[4000];
  snprintf(body, sizeof body, filter->graph, pictures);
  snprintf(
      text, sizeof text,
      "buffer@in=width=%d:height=%d:pix_fmt=%d:time_base=1/25,%s,format=%s,buffersink@out", WIDTH,
      HEIGHT, pixel_format(filter->format), body, av_get_pix_fmt_name(pixel_format(filter->out)));
  g->graph = avfilter_graph_alloc();
  g->graph->nb_threads = threads;
  snprintf(body, sizeof body, "flags=bilinear:threads=%d", threads);
  g->graph->scale_sws_opts = av_strdup(body);
  AVFilterInOut *inputs = NULL, *outputs = NULL;
  if (avfilter_graph_parse2(g->graph, text, &inputs, &outputs) < 0) return -1;
  if (avfilter_graph_config(g->graph, NULL) < 0) return -1;
  g->source = avfilter_graph_get_filter(g->graph, "buffer@in");
  g->sink = avfilter_graph_get_filter(g->graph, "buffersink@out");
  return g->source == NULL || g->sink == NULL ? -1 : 0;
}

static AVFrame *filtered(graph *g, AVFrame *frame, int64_t index) {
  AVFrame *result = av_frame_alloc();
  frame->pts = index;
  if (av_buffersrc_add_frame_flags(g->source, frame, AV_BUFFERSRC_FLAG_KEEP_REF) < 0) return result;
  if (av_buffersink_get_frame(g->sink, result) < 0) fprintf(stderr, "no frame\n");
  return result;
}

static void measure(
    const filter *filter, const char *pictures, int threads, int ring, double budget) {
  graph g;
  if (open_graph(filter, threads, pictures, &g) < 0) {
    printf("skip the graph is refused\n");
    return;
  }
  uint8_t *bytes = pictures_of(filter->format, pictures);
  AVFrame *sources[RING], *results[RING] = {NULL};
  for (int i = 0; i < ring; i++) {
    sources[i] = wrap(bytes + (size_t)i * frame_bytes(filter->format), filter->format);
  }
  // The first round allocates the buffers.
  int64_t index = 0;
  for (; index < ring; index++) results[index] = filtered(&g, sources[index], index);
  double start = now_ms(0);
  printf("ok");
  for (int i = 0; i < 2 || (now_ms(0) - start < budget && i < 4000); i++, index++) {
    int slot = i % ring;
    double before = now_ms(threads);
    av_frame_free(&results[slot]);
    results[slot] = filtered(&g, sources[slot], index);
    printf(" %.4f", now_ms(threads) - before);
  }
  printf("\n");
  for (int i = 0; i < ring; i++) {
    av_frame_free(&results[i]);
    av_frame_free(&sources[i]);
  }
  avfilter_graph_free(&g.graph);
}

static void result(const filter *filter, const char *pictures, const char *path) {
  graph g;
  if (open_graph(filter, 1, pictures, &g) < 0) {
    printf("skip the graph is refused\n");
    return;
  }
  AVFrame *source = wrap(pictures_of(filter->format, pictures), filter->format);
  AVFrame *frame = filtered(&g, source, 0);
  int size = av_image_get_buffer_size(frame->format, frame->width, frame->height, 1);
  uint8_t *bytes = malloc((size_t)size);
  av_image_copy_to_buffer(
      bytes, size, (const uint8_t *const *)frame->data, frame->linesize, frame->format,
      frame->width, frame->height, 1);
  FILE *file = fopen(path, "wb");
  fwrite(bytes, 1, (size_t)size, file);
  fclose(file);
  free(bytes);
  av_frame_free(&frame);
  av_frame_free(&source);
  avfilter_graph_free(&g.graph);
  printf("ok\n");
}

/// Answers with the graph in one line.
static void say(const char *graph) {
  printf("ok ");
  for (; *graph != 0; graph++) {
    if (*graph == '\n') {
      printf("\\n");
    } else {
      putchar(*graph);
    }
  }
  printf("\n");
}

int main(int argc, char **argv) {
  if (argc < 2) return 2;
  av_log_set_level(AV_LOG_ERROR);
  char line[4096], key[64], path[4000];
  int threads, ring;
  double budget;
  while (fgets(line, sizeof line, stdin) != NULL) {
    const filter *found = NULL;
    if (sscanf(line, "%*s %63s", key) != 1) key[0] = 0;
    for (size_t i = 0; i < sizeof filters / sizeof filters[0]; i++) {
      if (strcmp(filters[i].key, key) == 0) found = &filters[i];
    }
    if (strncmp(line, "hello", 5) == 0) {
      printf("ok ffmpeg %s\n", av_version_info());
    } else if (found == NULL) {
      printf("skip\n");
    } else if (strncmp(line, "says", 4) == 0) {
      say(found->graph);
    } else if (sscanf(line, "time %*s %d %d %lf", &threads, &ring, &budget) == 3) {
      measure(found, argv[1], threads, ring, budget);
    } else if (sscanf(line, "result %*s %3999s", path) == 1) {
      result(found, argv[1], path);
    }
    fflush(stdout);
  }
  return 0;
}
