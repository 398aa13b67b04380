/* One client that loads several ways to a server in turns of some milliseconds, so that what disturbs
 * the machine disturbs all of them, and nothing but the way differs between two turns.
 *
 * usage: take-turns keep|new PATH BODY-BYTES WARM-UP-ROUNDS ROUNDS (NAME NAMESPACE IP PORT CGROUP)...
 *
 * keep: requests over connections that stand; new: each over one of its own, which the server closes.
 * CGROUP: the folder of the one to connect from, or nothing for all ways where that does not matter.
 * Prints a line for each round: microseconds a request, of each way in the order in which they were
 * given. */
#define _GNU_SOURCE
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sched.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

enum {
  CONNECTIONS = 64,
  TURN_MS = 20,
  /* Where connections lie in memory must not decide: they are opened anew after so many rounds. */
  REOPEN_EVERY = 50,
  REOPENED_WARM_UP_ROUNDS = 10,
  PATIENCE_MS = 5000,
  FIXED_ARGUMENTS = 6,
  ARGUMENTS_OF_A_WAY = 5,
};

struct connection {
  int socket;
  size_t received;
  /* With its head; 0 until that has come. */
  size_t expected;
};

struct way {
  const char *name;
  int namespace;
  const char *cgroup;
  struct sockaddr_in server;
  int poll;
  struct connection connections[CONNECTIONS];
  double microseconds;
};

static bool is_kept;
static char request[512];
static size_t request_bytes;
static size_t body_bytes;
static struct way *ways;
static int way_count;

static _Noreturn void give_up(const char *whose, const char *what) {
  fprintf(stderr, "take-turns: %s: %s\n", whose, what);
  exit(1);
}

static _Noreturn void fail(const char *whose, const char *what) {
  fprintf(stderr, "take-turns: %s: %s: %s\n", whose, what, strerror(errno));
  exit(1);
}

static double now_ms(void) {
  struct timespec now;
  if (clock_gettime(CLOCK_MONOTONIC, &now) < 0) fail("clock", "clock_gettime");
  return now.tv_sec * 1e3 + now.tv_nsec / 1e6;
}

/* Programs at connect(2) ask for the cgroup of the caller. */
static void enter_cgroup(const char *cgroup) {
  static const char *entered = "";
  if (strcmp(cgroup, entered) == 0) return;
  char path[4096];
  snprintf(path, sizeof path, "%s/cgroup.procs", cgroup);
  int file = open(path, O_WRONLY | O_CLOEXEC);
  if (file < 0) fail(path, "open");
  if (write(file, "0", 1) != 1) fail(path, "write");
  close(file);
  entered = cgroup;
}

static void enter(const struct way *way) {
  if (setns(way->namespace, CLONE_NEWNET) < 0) fail(way->name, "setns");
  enter_cgroup(way->cgroup);
}

static void limit_patience(const struct way *way, int socket) {
  struct timeval patience = {.tv_sec = PATIENCE_MS / 1000};
  /* Of connect(2), too. */
  if (setsockopt(socket, SOL_SOCKET, SO_SNDTIMEO, &patience, sizeof patience) < 0)
    fail(way->name, "SO_SNDTIMEO");
}

static void open_connection(struct way *way, struct connection *connection) {
  int opened = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (opened < 0) fail(way->name, "socket");
  limit_patience(way, opened);
  if (connect(opened, (struct sockaddr *)&way->server, sizeof way->server) < 0)
    fail(way->name, "connect");
  int on = 1;
  if (setsockopt(opened, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) < 0)
    fail(way->name, "TCP_NODELAY");
  struct epoll_event event = {.events = EPOLLIN, .data.ptr = connection};
  if (epoll_ctl(way->poll, EPOLL_CTL_ADD, opened, &event) < 0) fail(way->name, "epoll_ctl");
  connection->socket = opened;
}

static void send_request(const struct way *way, struct connection *connection) {
  connection->received = 0;
  connection->expected = 0;
  ssize_t sent = send(connection->socket, request, request_bytes, MSG_NOSIGNAL);
  if (sent < 0) fail(way->name, "send");
  if ((size_t)sent != request_bytes) give_up(way->name, "a request was sent by half");
}

static void begin_request(struct way *way, struct connection *connection) {
  if (!is_kept) open_connection(way, connection);
  send_request(way, connection);
}

/* Of an answer whose first bytes these are. */
static size_t answer_bytes(const struct way *way, const char *bytes, size_t count) {
  static const char success[] = "HTTP/1.1 200 ", end[] = "\r\n\r\n";
  const size_t success_bytes = sizeof success - 1, end_bytes = sizeof end - 1;
  if (count < success_bytes || memcmp(bytes, success, success_bytes) != 0)
    give_up(way->name, "an answer is no success");
  const char *head_end = memmem(bytes, count, end, end_bytes);
  if (head_end == NULL) give_up(way->name, "the head of an answer came in pieces");
  return head_end - bytes + end_bytes + body_bytes;
}

/* Whether the whole answer is there and, where the server closes, the end of the connection. */
static bool take_answer(const struct way *way, struct connection *connection) {
  static char bytes[1 << 16];
  ssize_t count = recv(connection->socket, bytes, sizeof bytes, MSG_DONTWAIT);
  if (count < 0 && errno == EAGAIN) return false;
  if (count < 0) fail(way->name, "recv");
  bool is_whole = connection->expected > 0 && connection->received == connection->expected;
  if (count == 0) {
    if (is_kept || !is_whole) give_up(way->name, "the server closed a connection too early");
    close(connection->socket);
    return true;
  }
  if (connection->expected == 0) connection->expected = answer_bytes(way, bytes, count);
  connection->received += count;
  if (connection->received > connection->expected) give_up(way->name, "an answer is too long");
  return is_kept && connection->received == connection->expected;
}

static int wait_for_answers(const struct way *way, struct epoll_event *events) {
  int count = epoll_wait(way->poll, events, CONNECTIONS, PATIENCE_MS);
  if (count < 0) fail(way->name, "epoll_wait");
  if (count == 0) give_up(way->name, "no answer came");
  return count;
}

/* Each answer is followed by the next request; at the end all answers are waited for. */
static void take_turn(struct way *way) {
  if (!is_kept) enter(way);
  double start = now_ms();
  long answers = 0;
  int awaited = CONNECTIONS;
  for (int at = 0; at < CONNECTIONS; at++) begin_request(way, &way->connections[at]);
  while (awaited > 0) {
    struct epoll_event events[CONNECTIONS];
    int count = wait_for_answers(way, events);
    bool is_over = now_ms() - start >= TURN_MS;
    for (int at = 0; at < count; at++) {
      struct connection *connection = events[at].data.ptr;
      if (!take_answer(way, connection)) continue;
      answers++;
      if (is_over) awaited--;
      else begin_request(way, connection);
    }
  }
  way->microseconds = (now_ms() - start) * 1e3 / answers;
}

static void shuffle(int *numbers, int count) {
  for (int last = count - 1; last > 0; last--) {
    int other = random() % (last + 1);
    int kept = numbers[last];
    numbers[last] = numbers[other];
    numbers[other] = kept;
  }
}

/* All ways once, in any order: what a turn leaves behind must not meet the same one each time. */
static void take_round(void) {
  int order[way_count];
  for (int at = 0; at < way_count; at++) order[at] = at;
  shuffle(order, way_count);
  for (int at = 0; at < way_count; at++) take_turn(&ways[order[at]]);
}

static void take_rounds(int rounds) {
  for (int round = 0; round < rounds; round++) take_round();
}

static void print_round(void) {
  for (int at = 0; at < way_count; at++)
    printf("%.3f%c", ways[at].microseconds, at == way_count - 1 ? '\n' : ' ');
  if (fflush(stdout) != 0) fail("output", "write");
}

static void open_all(void) {
  for (struct way *way = ways; way < ways + way_count; way++) {
    enter(way);
    for (int at = 0; at < CONNECTIONS; at++) open_connection(way, &way->connections[at]);
  }
}

static void close_all(void) {
  for (struct way *way = ways; way < ways + way_count; way++)
    for (int at = 0; at < CONNECTIONS; at++) close(way->connections[at].socket);
}

static void reopen_all(void) {
  close_all();
  open_all();
  take_rounds(REOPENED_WARM_UP_ROUNDS);
}

static int parse_number(const char *text, const char *what) {
  char *end;
  errno = 0;
  long number = strtol(text, &end, 10);
  if (errno != 0 || end == text || *end != '\0' || number < 0 || number > 1000000)
    give_up(what, "is no number from 0 to 1000000");
  return number;
}

static bool parse_is_kept(const char *text) {
  if (strcmp(text, "keep") == 0) return true;
  if (strcmp(text, "new") == 0) return false;
  give_up(text, "is neither keep nor new");
}

static void parse_way(struct way *way, char **arguments) {
  way->name = arguments[0];
  way->namespace = open(arguments[1], O_RDONLY | O_CLOEXEC);
  if (way->namespace < 0) fail(way->name, arguments[1]);
  way->server.sin_family = AF_INET;
  if (inet_pton(AF_INET, arguments[2], &way->server.sin_addr) != 1)
    give_up(arguments[2], "is no address of IPv4");
  way->server.sin_port = htons(parse_number(arguments[3], "PORT"));
  way->cgroup = arguments[4];
  way->poll = epoll_create1(EPOLL_CLOEXEC);
  if (way->poll < 0) fail(way->name, "epoll_create1");
}

static void parse_ways(int count, char **arguments) {
  way_count = count / ARGUMENTS_OF_A_WAY;
  ways = calloc(way_count, sizeof *ways);
  if (ways == NULL) fail("ways", "calloc");
  for (int at = 0; at < way_count; at++)
    parse_way(&ways[at], arguments + at * ARGUMENTS_OF_A_WAY);
}

static void write_request(const char *path) {
  int length = snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: bench\r\n%s\r\n", path,
                        is_kept ? "" : "Connection: close\r\n");
  if (length < 0 || (size_t)length >= sizeof request) give_up(path, "is too long");
  request_bytes = length;
}

int main(int argc, char **argv) {
  int of_ways = argc - FIXED_ARGUMENTS;
  if (of_ways <= 0 || of_ways % ARGUMENTS_OF_A_WAY != 0) give_up("usage", "take-turns keep|new PATH BODY-BYTES WARM-UP-ROUNDS ROUNDS (NAME NAMESPACE IP PORT CGROUP)...");
  is_kept = parse_is_kept(argv[1]);
  write_request(argv[2]);
  body_bytes = parse_number(argv[3], "BODY-BYTES");
  int warm_up_rounds = parse_number(argv[4], "WARM-UP-ROUNDS");
  int rounds = parse_number(argv[5], "ROUNDS");
  parse_ways(of_ways, argv + FIXED_ARGUMENTS);

  if (is_kept) open_all();
  take_rounds(warm_up_rounds);
  for (int round = 0; round < rounds; round++) {
    /* At first, too: what leads connections may have begun after those of the warm-up were opened. */
    if (is_kept && round % REOPEN_EVERY == 0) reopen_all();
    take_round();
    print_round();
  }
}
