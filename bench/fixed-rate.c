/*
 * Sends HTTP/1.1 requests at a fixed rate and prints their latencies as JSON, in microseconds.
 *
 *     fixed-rate ADDRESS PORT RATE SECONDS CONNECTIONS FILE
 *
 * FILE has the requests, which are sent in turn. Each is the bytes to send, after a line with their
 * number. SIGTERM ends the run before SECONDS have passed, and what was sent until then counts.
 *
 * Request k is due k / RATE seconds after the start, whether or not the server keeps up. Its latency
 * begins when it is due, not when it is sent: a server that stops for 100 ms delays every request
 * that was due meanwhile, not only those already on a connection ("coordinated omission"). A request
 * that finds every connection in use waits for one, and its latency includes the wait.
 *
 * Every latency is kept, so percentiles are exact. "late99" is the generator's own part: how long
 * after it was due, and had a connection, 99 % of the requests were sent.
 */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <math.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#define CONNECTIONS_MAX 1024
#define HEAD_MAX 8192
#define SECOND 1000000000LL
/* After the last request is due, the answers that are still missing have this long. */
#define DRAIN (10 * SECOND)

struct request {
  char *bytes;
  size_t length;
};

struct connection {
  int fd; /* -1: closed, and opened again for its next request */
  bool busy;
  int64_t due;
  int64_t freeSince;
  char head[HEAD_MAX + 1];
  size_t headLength;
  int status;
  long bodyLeft; /* -1: the head is not complete */
};

static struct sockaddr_in server;
static struct connection connections[CONNECTIONS_MAX];
/* A ring of the free connections. The one that is free for longest is used next. */
static int ring[CONNECTIONS_MAX];
static int connectionCount, ringStart, freeCount;
static int poller;

static struct request *requests;
static long requestCount;

static int64_t *latencies, *delays;
static long total, sent, finished, failed;
static int failedStatus; /* 0: the connection was closed */
static volatile sig_atomic_t isStopping;

static void die(const char *format, ...) {
  va_list values;
  va_start(values, format);
  vfprintf(stderr, format, values);
  va_end(values);
  fputc('\n', stderr);
  exit(1);
}

static void stop(int signal) {
  (void)signal;
  isStopping = true;
}

static int64_t now(void) {
  struct timespec time;
  clock_gettime(CLOCK_MONOTONIC, &time);
  return time.tv_sec * SECOND + time.tv_nsec;
}

static void readRequests(const char *path) {
  FILE *file = fopen(path, "r");
  if (file == NULL) die("%s: %s", path, strerror(errno));
  size_t length;
  for (long room = 0; fscanf(file, "%zu", &length) == 1; requestCount += 1) {
    if (requestCount == room) {
      room = room == 0 ? 1024 : 2 * room;
      requests = realloc(requests, (size_t)room * sizeof *requests);
    }
    struct request request = {malloc(length), length};
    fgetc(file); /* the line break after the number */
    if (fread(request.bytes, 1, length, file) != length) die("%s ends early", path);
    requests[requestCount] = request;
  }
  fclose(file);
  if (requestCount == 0) die("%s has no request", path);
}

static void openConnection(struct connection *connection) {
  int one = 1;
  int fd = socket(AF_INET, SOCK_STREAM, 0);
  if (connect(fd, (struct sockaddr *)&server, sizeof server) != 0)
    die("cannot connect to the server: %s", strerror(errno));
  setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
  fcntl(fd, F_SETFL, O_NONBLOCK);
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  epoll_ctl(poller, EPOLL_CTL_ADD, fd, &event);
  connection->fd = fd;
}

static void release(struct connection *connection, int64_t at) {
  connection->busy = false;
  connection->freeSince = at;
  ring[(ringStart + freeCount) % connectionCount] = (int)(connection - connections);
  freeCount += 1;
}

static void sendNext(int64_t due) {
  struct connection *connection = &connections[ring[ringStart]];
  ringStart = (ringStart + 1) % connectionCount;
  freeCount -= 1;
  if (connection->fd == -1) openConnection(connection);
  connection->busy = true;
  connection->due = due;
  connection->headLength = 0;
  connection->bodyLeft = -1;
  struct request request = requests[sent % requestCount];
  int64_t sentAt = now();
  delays[sent] = sentAt - (due > connection->freeSince ? due : connection->freeSince);
  sent += 1;
  /* The buffer of a connection without a request has room for one. */
  if (send(connection->fd, request.bytes, request.length, MSG_NOSIGNAL) != (ssize_t)request.length)
    die("a request cannot be sent: %s", strerror(errno));
}

static void finish(struct connection *connection) {
  int64_t at = now();
  if (connection->status < 200 || connection->status > 299) {
    failed += 1;
    failedStatus = connection->status;
  }
  latencies[finished] = at - connection->due;
  finished += 1;
  release(connection, at);
}

static void readHead(struct connection *connection) {
  char *length = strcasestr(connection->head, "\r\ncontent-length:");
  if (sscanf(connection->head, "HTTP/1.1 %d", &connection->status) != 1)
    die("an answer is not HTTP/1.1");
  if (length == NULL && connection->status != 204 && connection->status != 304)
    die("an answer of status %d has no content-length", connection->status);
  connection->bodyLeft = length == NULL ? 0 : atol(length + 17);
}

/* Takes bytes of an answer. Each connection has one request at a time. */
static void take(struct connection *connection, const char *bytes, long count) {
  if (connection->bodyLeft == -1) {
    size_t known = connection->headLength;
    size_t more = (size_t)count < HEAD_MAX - known ? (size_t)count : HEAD_MAX - known;
    memcpy(connection->head + known, bytes, more);
    connection->headLength += more;
    connection->head[connection->headLength] = '\0';
    char *end = strstr(connection->head, "\r\n\r\n");
    if (end == NULL) {
      if (connection->headLength == HEAD_MAX) die("the head of an answer is too long");
      return;
    }
    end[2] = '\0';
    readHead(connection);
    count -= end + 4 - connection->head - (long)known;
  }
  connection->bodyLeft -= count;
  if (connection->bodyLeft < 0) die("an answer is longer than its content-length");
  if (connection->bodyLeft == 0) finish(connection);
}

static void receive(struct connection *connection) {
  static char buffer[1 << 18];
  ssize_t count = recv(connection->fd, buffer, sizeof buffer, 0);
  if (count > 0 && connection->busy) take(connection, buffer, count);
  else if (count >= 0 || errno != EAGAIN) {
    /* A server may close a connection that no request uses. */
    close(connection->fd);
    connection->fd = -1;
    connection->status = 0;
    if (connection->busy) finish(connection);
  }
}

static int ascending(const void *a, const void *b) {
  int64_t x = *(const int64_t *)a, y = *(const int64_t *)b;
  return (x > y) - (x < y);
}

/* The least value that is not exceeded by this share of the sorted values. */
static double microsAt(const int64_t *sorted, double share) {
  long rank = (long)ceil(share * (double)total);
  return (double)sorted[rank > 0 ? rank - 1 : 0] / 1000;
}

static void run(double rate) {
  struct epoll_event events[CONNECTIONS_MAX];
  int64_t start = now() + SECOND / 100;
  for (;;) {
    if (isStopping) {
      long due = (long)((double)(now() - start) * rate / SECOND) + 1;
      if (due < total) total = due > sent ? due : sent;
      isStopping = false;
    }
    if (finished == total) return;
    int64_t due = start + (int64_t)((double)sent * SECOND / rate);
    int64_t wait = due - now();
    bool isSending = sent < total && freeCount > 0;
    if (isSending && wait <= 0) {
      sendNext(due);
      continue;
    }
    if (!isSending) wait = start + (int64_t)((double)total * SECOND / rate) + DRAIN - now();
    if (wait < 0) die("%ld of %ld requests have no answer", total - finished, total);
    struct timespec timeout = {wait / SECOND, wait % SECOND};
    int ready = epoll_pwait2(poller, events, CONNECTIONS_MAX, &timeout, NULL);
    for (int at = 0; at < ready; at += 1) receive(events[at].data.ptr);
  }
}

int main(int count, char **words) {
  if (count != 7) die("usage: fixed-rate ADDRESS PORT RATE SECONDS CONNECTIONS FILE");
  double rate = atof(words[3]);
  total = (long)(rate * atof(words[4]));
  connectionCount = atoi(words[5]);
  if (total < 1) die("RATE times SECONDS must be at least 1");
  if (connectionCount < 1 || connectionCount > CONNECTIONS_MAX)
    die("CONNECTIONS must be 1 to %d", CONNECTIONS_MAX);
  server.sin_family = AF_INET;
  server.sin_port = htons((uint16_t)atoi(words[2]));
  if (inet_pton(AF_INET, words[1], &server.sin_addr) != 1) die("%s is not an address", words[1]);
  readRequests(words[6]);
  latencies = calloc((size_t)total, sizeof *latencies);
  delays = calloc((size_t)total, sizeof *delays);
  poller = epoll_create1(0);
  for (int at = 0; at < connectionCount; at += 1) {
    openConnection(&connections[at]);
    release(&connections[at], 0);
  }
  /* A timer may be 50 microseconds late by default. */
  prctl(PR_SET_TIMERSLACK, 1);
  /* Other programs of the core must not delay the clock of the measurement. Needs root. */
  struct sched_param priority = {.sched_priority = 1};
  bool isRealtime = sched_setscheduler(0, SCHED_FIFO, &priority) == 0;
  signal(SIGTERM, stop);
  int64_t startedAt = now();
  run(rate);
  double seconds = (double)(now() - startedAt) / SECOND;
  qsort(latencies, (size_t)total, sizeof *latencies, ascending);
  qsort(delays, (size_t)total, sizeof *delays, ascending);
  printf("{\"requests\":%ld,\"failed\":%ld,\"failedStatus\":%d,\"rate\":%.1f,\"realtime\":%s,"
         "\"p50\":%.1f,\"p90\":%.1f,\"p99\":%.1f,\"p999\":%.1f,\"most\":%.1f,\"late99\":%.1f}\n",
         total, failed, failedStatus, (double)total / seconds, isRealtime ? "true" : "false",
         microsAt(latencies, 0.5), microsAt(latencies, 0.9), microsAt(latencies, 0.99),
         microsAt(latencies, 0.999), microsAt(latencies, 1), microsAt(delays, 0.99));
  return 0;
}
