// A push service that counts and answers and does nothing more, so that a sender is measured and not its peer: one
// thread, TLS 1.3 with HTTP/2 or, where a client offers nothing else, HTTP/1.1 on 127.0.0.1, several times as fast as
// a server on nghttp2's sessions.
//
//   sink CERTIFICATE KEY
//
// Prints "ready PORT", and a line for each line of its input:
//
//   totals                      "ACCEPTED REFUSED FAILED CPU", the last in seconds of this process
//   delay MILLISECONDS          what it writes is held back for so long from now on
//   streams NUMBER              how many requests a connection may have open that is made from now on; 1,000 in the beginning
//   failing PERCENT MOMENT      so many of Apple's devices, by what their tokens begin with, are answered that they are
//                               unregistered since a moment, in Unix milliseconds
//   latencies on|off            "COUNT MEDIAN P99 HIGHEST", in seconds, of the pushes since that say when they were sent
#define _GNU_SOURCE
#include "connection.h"
#include "delay.h"
#include "failure.h"
#include "latency.h"
#include <arpa/inet.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

enum { EVENTS_PER_TURN = 256 };

static int epoll;

static void die(const char *what) {
    fprintf(stderr, "sink: %s failed\n", what);
    exit(1);
}

static int select_protocol(SSL *tls, const unsigned char **selected, unsigned char *length,
                           const unsigned char *offered, unsigned int count, void *context) {
    static const unsigned char ours[] = "\x02h2\x08http/1.1";
    (void)tls, (void)context;
    int result = SSL_select_next_proto((unsigned char **)selected, length, ours, sizeof ours - 1, offered, count);
    return result == OPENSSL_NPN_NEGOTIATED ? SSL_TLSEXT_ERR_OK : SSL_TLSEXT_ERR_ALERT_FATAL;
}

static SSL_CTX *make_context(const char *certificate, const char *key) {
    SSL_CTX *context = SSL_CTX_new(TLS_server_method());
    if (!context) die("SSL_CTX_new");
    SSL_CTX_set_min_proto_version(context, TLS1_3_VERSION);
    if (SSL_CTX_use_certificate_chain_file(context, certificate) != 1) die("reading the certificate");
    if (SSL_CTX_use_PrivateKey_file(context, key, SSL_FILETYPE_PEM) != 1) die("reading the key");
    SSL_CTX_set_alpn_select_cb(context, select_protocol, NULL);
    SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER);
    SSL_CTX_set_read_ahead(context, 1);
    SSL_CTX_set_default_read_buffer_len(context, INPUT_CAPACITY);
    return context;
}

static void watch(int descriptor, void *context, uint32_t events, int operation) {
    struct epoll_event event = {.events = events, .data.ptr = context};
    if (epoll_ctl(epoll, operation, descriptor, &event)) die("epoll_ctl");
}

static int listen_anywhere(void) {
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1024)) die("listening");
    if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
    printf("ready %d\n", ntohs(address.sin_port));
    return listener;
}

static void accept_all(int listener, SSL_CTX *context) {
    int socket;
    while ((socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0) {
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        struct connection *it = connection_new(socket, context);
        // The kernel has let it connect at once; over a long way both that and the first answer would have taken a turn.
        if (delay_is_on()) delay_add_new(it);
        else watch(socket, it, EPOLLIN, EPOLL_CTL_ADD);
    }
}

static void attend(struct connection *it, bool waited, bool goes_on) {
    if (!goes_on) return connection_free(it);
    if (it->waits_for_room != waited)
        watch(it->socket, it, EPOLLIN | (it->waits_for_room ? EPOLLOUT : 0), EPOLL_CTL_MOD);
}

static void serve(struct connection *it) {
    bool waited = it->waits_for_room;
    attend(it, waited, connection_serve(it));
}

// What a delay has held for long enough.
static void go_on(void) {
    struct hold hold;
    while (delay_take(&hold)) {
        struct connection *it = hold.connection;
        if (it->is_gone) {
            if (!it->holds) free(it);
        } else if (hold.is_new) {
            watch(it->socket, it, EPOLLIN, EPOLL_CTL_ADD);
        } else {
            bool waited = it->waits_for_room;
            attend(it, waited, connection_release(it, hold.count));
        }
    }
}

static void report_totals(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    double seconds = (double)(usage.ru_utime.tv_sec + usage.ru_stime.tv_sec)
        + (double)(usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) / 1e6;
    printf("%llu %llu %llu %.6f\n", (unsigned long long)totals.accepted, (unsigned long long)totals.refused,
           (unsigned long long)totals.failed, seconds);
}

static void obey(const char *line) {
    unsigned int number;
    long long moment;
    if (!strcmp(line, "totals")) return report_totals();
    if (!strcmp(line, "latencies on") || !strcmp(line, "latencies off")) return latency_report(line[11] == 'n');
    if (sscanf(line, "delay %u", &number) == 1) delay_set(number);
    else if (sscanf(line, "streams %u", &number) == 1) stream_limit = number;
    else if (sscanf(line, "failing %u %lld", &number, &moment) == 2) failure_set(number, moment);
    else die(line);
    puts("ok");
}

// Whoever writes a line waits for the answer before the next. The sink ends with its input.
static void listen_to_input(void) {
    char line[128];
    ssize_t count = read(STDIN_FILENO, line, sizeof line - 1);
    if (count <= 0) exit(0);
    line[count] = 0;
    line[strcspn(line, "\n")] = 0;
    obey(line);
}

int main(int count, char **arguments) {
    if (count != 3) {
        fprintf(stderr, "usage: sink CERTIFICATE KEY\n");
        return 64;
    }
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    services_start();
    SSL_CTX *context = make_context(arguments[1], arguments[2]);
    epoll = epoll_create1(EPOLL_CLOEXEC);
    // The two descriptors are told apart from connections by the addresses of these variables.
    int input = STDIN_FILENO, listener = listen_anywhere();
    watch(input, &input, EPOLLIN, EPOLL_CTL_ADD);
    watch(listener, &listener, EPOLLIN, EPOLL_CTL_ADD);
    for (;;) {
        struct epoll_event events[EVENTS_PER_TURN];
        int ready = epoll_wait(epoll, events, EVENTS_PER_TURN, delay_left());
        for (int i = 0; i < ready; i++) {
            void *who = events[i].data.ptr;
            if (who == &input) listen_to_input();
            else if (who == &listener) accept_all(listener, context);
            else serve(who);
        }
        go_on();
    }
}
