// Plain sockets, the lower bound of any protocol: a frame is its length and its bytes, and is sent
// back. `sockets server|client|memcpy --option value ...`
#include "peer.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_IN_FLIGHT = 16, MAX_ROUND_TRIPS = 1 << 20 };

static void fail(const char *what) {
  perror(what);
  exit(2);
}

// `HOST:PORT` or `unix:PATH`.
static socklen_t resolve(const char *text, struct sockaddr_storage *address) {
  memset(address, 0, sizeof *address);
  if (strncmp(text, "unix:", 5) == 0) {
    struct sockaddr_un *path = (struct sockaddr_un *)address;
    path->sun_family = AF_UNIX;
    strncpy(path->sun_path, text + 5, sizeof path->sun_path - 1);
    return sizeof *path;
  }
  struct sockaddr_in *host = (struct sockaddr_in *)address;
  host->sin_family = AF_INET;
  host->sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  host->sin_port = htons((uint16_t)atoi(strrchr(text, ':') + 1));
  return sizeof *host;
}

static int send_all(int socket, const void *bytes, size_t count) {
  for (size_t sent = 0; sent < count;) {
    ssize_t result = send(socket, (const char *)bytes + sent, count - sent, MSG_NOSIGNAL);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) return 0;
    sent += (size_t)result;
  }
  return 1;
}

static int receive_all(int socket, void *bytes, size_t count) {
  for (size_t received = 0; received < count;) {
    ssize_t result = recv(socket, (char *)bytes + received, count - received, 0);
    if (result < 0 && errno == EINTR) continue;
    if (result <= 0) return 0;
    received += (size_t)result;
  }
  return 1;
}

static void no_delay(int socket) {
  int yes = 1;
  setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &yes, sizeof yes);
}

// The first bytes of a client.
typedef struct {
  uint64_t bytes, in_flight;
} Hello;

// Server: one thread reads frames and one sends them back, so both directions are busy; with
// only one frame in flight, one thread does both.
typedef struct {
  int socket;
  Hello hello;
  char *frames[MAX_IN_FLIGHT];
  sem_t full, empty;
  atomic_int over;
} Echo;

static void *send_back(void *argument) {
  Echo *echo = argument;
  for (uint64_t i = 0;; ++i) {
    sem_wait(&echo->full);
    if (atomic_load(&echo->over)) break;
    if (!send_all(echo->socket, echo->frames[i % echo->hello.in_flight], echo->hello.bytes)) break;
    sem_post(&echo->empty);
  }
  return NULL;
}

static void *serve(void *argument) {
  Echo *echo = argument;
  if (!receive_all(echo->socket, &echo->hello, sizeof echo->hello) || echo->hello.in_flight < 1 ||
      echo->hello.in_flight > MAX_IN_FLIGHT)
    return NULL;
  for (uint64_t i = 0; i < echo->hello.in_flight; ++i)
    if (!(echo->frames[i] = malloc(echo->hello.bytes))) fail("malloc");
  if (echo->hello.in_flight == 1) {
    while (receive_all(echo->socket, echo->frames[0], echo->hello.bytes) &&
           send_all(echo->socket, echo->frames[0], echo->hello.bytes)) {}
    return NULL;
  }
  sem_init(&echo->full, 0, 0);
  sem_init(&echo->empty, 0, (unsigned)echo->hello.in_flight);
  pthread_t sender;
  pthread_create(&sender, NULL, send_back, echo);
  for (uint64_t i = 0;; ++i) {
    sem_wait(&echo->empty);
    char *frame = echo->frames[i % echo->hello.in_flight];
    if (!receive_all(echo->socket, frame, echo->hello.bytes)) break;
    sem_post(&echo->full);
  }
  atomic_store(&echo->over, 1);
  sem_post(&echo->full);
  pthread_join(sender, NULL);
  return NULL;
}

static void server(const char *text) {
  struct sockaddr_storage address;
  socklen_t length = resolve(text, &address);
  int listener = socket(address.ss_family, SOCK_STREAM, 0);
  if (listener < 0 || bind(listener, (struct sockaddr *)&address, length) < 0 ||
      listen(listener, 128) < 0)
    fail("listen");
  if (address.ss_family == AF_INET) {
    getsockname(listener, (struct sockaddr *)&address, &length);
    printf("listening on 127.0.0.1:%d\n", ntohs(((struct sockaddr_in *)&address)->sin_port));
  } else {
    printf("listening on %s\n", text);
  }
  fflush(stdout);
  for (;;) {
    int socket = accept(listener, NULL, NULL);
    if (socket < 0) fail("accept");
    no_delay(socket);
    Echo *echo = calloc(1, sizeof *echo);
    echo->socket = socket;
    pthread_t thread;
    pthread_create(&thread, NULL, serve, echo);
    pthread_detach(thread);
  }
}

// Client.
typedef struct {
  int socket;
  Hello hello;
  const char *picture;
  char *received;
  double sent[MAX_IN_FLIGHT];
  sem_t turns;
  // Times of arrival and round trips.
  double (*arrivals)[2];
  size_t count;
} Stream;

static atomic_int over;
static atomic_int ready;

static void *send_frames(void *argument) {
  Stream *stream = argument;
  for (uint64_t i = 0; !atomic_load(&over); ++i) {
    sem_wait(&stream->turns);
    stream->sent[i % stream->hello.in_flight] = now();
    if (!send_all(stream->socket, stream->picture, stream->hello.bytes)) break;
  }
  return NULL;
}

static void *run(void *argument) {
  Stream *stream = argument;
  int alone = stream->hello.in_flight == 1;
  if (!send_all(stream->socket, &stream->hello, sizeof stream->hello)) fail("hello");
  sem_init(&stream->turns, 0, (unsigned)stream->hello.in_flight);
  pthread_t sender;
  if (!alone) pthread_create(&sender, NULL, send_frames, stream);
  atomic_fetch_add(&ready, 1);
  for (uint64_t i = 0; !atomic_load(&over) && stream->count < MAX_ROUND_TRIPS; ++i) {
    if (alone) {
      stream->sent[0] = now();
      if (!send_all(stream->socket, stream->picture, stream->hello.bytes)) fail("send");
    }
    if (!receive_all(stream->socket, stream->received, stream->hello.bytes)) fail("receive");
    double time = now();
    double *arrival = stream->arrivals[stream->count++];
    arrival[0] = time;
    arrival[1] = time - stream->sent[i % stream->hello.in_flight];
    if (i == 0 && memcmp(stream->picture, stream->received, stream->hello.bytes) != 0) {
      fputs("A frame came back with other bytes than it was sent with.\n", stderr);
      exit(2);
    }
    if (!alone) sem_post(&stream->turns);
  }
  return NULL;
}

static void client(int count, char **arguments) {
  struct sockaddr_storage address;
  socklen_t length = resolve(option(count, arguments, "--address", ""), &address);
  size_t bytes = (size_t)number(count, arguments, "--bytes", 1 << 20);
  int streams = (int)number(count, arguments, "--streams", 1);
  Hello hello = {bytes, (uint64_t)number(count, arguments, "--in-flight", 1)};
  if (hello.in_flight > MAX_IN_FLIGHT) fail("--in-flight");
  char *picture = malloc(bytes);
  for (size_t i = 0; i < bytes; ++i) picture[i] = (char)(i * 2654435761u >> 24);
  Stream *all = calloc((size_t)streams, sizeof *all);
  for (int i = 0; i < streams; ++i) {
    Stream *stream = &all[i];
    stream->hello = hello;
    stream->picture = picture;
    stream->received = malloc(bytes);
    stream->arrivals = malloc(MAX_ROUND_TRIPS * sizeof *stream->arrivals);
    stream->socket = socket(address.ss_family, SOCK_STREAM, 0);
    if (connect(stream->socket, (struct sockaddr *)&address, length) < 0) fail("connect");
    no_delay(stream->socket);
    pthread_t thread;
    pthread_create(&thread, NULL, run, stream);
    pthread_detach(thread);
  }
  while (atomic_load(&ready) < streams) sleep_for(.001);
  sleep_for(number(count, arguments, "--warm-up", .5));
  say("begin");
  double begin = now();
  sleep_for(number(count, arguments, "--seconds", 2));
  double end = now();
  say("end");
  atomic_store(&over, 1);
  // Every stream may still record a frame; records in the window do not change.
  double *times = malloc((size_t)streams * MAX_ROUND_TRIPS * sizeof *times);
  size_t total = 0, least = MAX_ROUND_TRIPS, most = 0;
  for (int i = 0; i < streams; ++i) {
    size_t before = total;
    for (size_t j = 0; j < all[i].count; ++j)
      if (all[i].arrivals[j][0] >= begin && all[i].arrivals[j][0] < end)
        times[total++] = all[i].arrivals[j][1];
    if (total - before < least) least = total - before;
    if (total - before > most) most = total - before;
  }
  finish(times, total, end - begin, least, most);
}

// Copies of a frame, over more buffers than caches hold.
static void copy(int count, char **arguments) {
  size_t bytes = (size_t)number(count, arguments, "--bytes", 1 << 20);
  size_t ring = (size_t)(256 << 20) / bytes + 2;
  if (ring > 4096) ring = 4096;
  char **buffers = malloc(ring * sizeof *buffers);
  for (size_t i = 0; i < ring; ++i) memset(buffers[i] = malloc(bytes), (int)i, bytes);
  double *times = malloc(MAX_ROUND_TRIPS * sizeof *times);
  size_t total = 0;
  double begin = now(), end = begin + number(count, arguments, "--seconds", 2), time = begin;
  for (size_t i = 0; time < end && total < MAX_ROUND_TRIPS; ++i) {
    memcpy(buffers[i % ring], buffers[(i + ring / 2) % ring], bytes);
    double then = time;
    time = now();
    times[total++] = time - then;
  }
  finish(times, total, time - begin, total, total);
}

int main(int count, char **arguments) {
  const char *verb = count > 1 ? arguments[1] : "";
  if (strcmp(verb, "server") == 0) server(option(count, arguments, "--address", "127.0.0.1:0"));
  else if (strcmp(verb, "client") == 0) client(count, arguments);
  else if (strcmp(verb, "memcpy") == 0) copy(count, arguments);
  else return fputs("usage: sockets server|client|memcpy --option value ...\n", stderr), 2;
  return 0;
}
