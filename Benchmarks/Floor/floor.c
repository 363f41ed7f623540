// What a target cannot exceed: the smallest program that makes the system calls and the rows of an operation. It has
// one thread, and does nothing that the product does besides: no signatures, no checks, no other kinds of requests.
//
//   floor import FOLDER FILE                 imports the registrations of a file
//   floor upserts FOLDER                     answers requests that put registrations
//   floor sends FOLDER PORT CERTIFICATE      answers sends to users with three devices each, which go to the sink there
//
// FOLDER is a data directory with a hub that the product has made, whose server does not run. The last two print
// "ready PORT" and end with their input.
#define _GNU_SOURCE
#include "database.h"
#include "pushes.h"
#include <arpa/inet.h>
#include <fcntl.h>
#include <inttypes.h>
#include <netinet/tcp.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

// MARK: Imports

// As many lines as the product's transactions have, and as many bytes as a line of the output has at most.
enum { LINES_OF_A_BATCH = 2000, OUTPUT_OF_A_LINE = 80, LINE_LIMIT = 1024 };

static size_t create(struct text lines[], int count, int64_t number, char *told) {
    struct registration all[ROWS_AT_ONCE] = {0};
    uint64_t ids[ROWS_AT_ONCE][2];
    size_t length = 0;
    if (getrandom(ids, sizeof ids, 0) != sizeof ids) die("getrandom");
    for (int i = 0; i < count; i++) {
        all[i].id = (struct text){(char *)ids[i], sizeof *ids};
        all[i].is_own = true;
        all[i].tags = between(lines[i], "<Tags>", "</Tags>");
        token_read(between(lines[i], "<DeviceToken>", "</DeviceToken>"), all[i].token);
        length += (size_t)sprintf(told + length, "%" PRId64 "\tCreated\t%" PRIu64 "-%" PRIu64 "-1\n", number + i,
                                  ids[i][0], ids[i][1]);
    }
    database_create(all, count);
    return length;
}

static int read_lines(FILE *input, struct text lines[], int64_t *offset) {
    static char bytes[ROWS_AT_ONCE][LINE_LIMIT];
    int count = 0;
    for (; count < ROWS_AT_ONCE && fgets(bytes[count], LINE_LIMIT, input); count++) {
        lines[count] = (struct text){bytes[count], strlen(bytes[count])};
        *offset += (int64_t)lines[count].length;
    }
    return count;
}

static void import_file(const char *folder, const char *path) {
    char name[4096], *told = malloc((LINES_OF_A_BATCH + ROWS_AT_ONCE) * OUTPUT_OF_A_LINE);
    snprintf(name, sizeof name, "%s/imported.txt", folder);
    int output = open(name, O_WRONLY | O_CREAT | O_TRUNC, 0600), count = 1;
    FILE *input = fopen(path, "r");
    if (!input || output < 0 || !told) die("opening files");
    struct text lines[ROWS_AT_ONCE];
    int64_t number = 0, offset = 0;
    while (count) {
        size_t length = 0;
        database_begin();
        for (int left = LINES_OF_A_BATCH; left > 0 && (count = read_lines(input, lines, &offset)); left -= count) {
            length += create(lines, count, number + 1, told + length);
            number += count;
        }
        database_progress(offset, number, (struct text){told, length});
        database_commit();
        if (write(output, told, length) != (ssize_t)length || fsync(output)) die("writing the output");
    }
    printf("%" PRId64 "\n", number);
}

// MARK: Requests

enum { EVENTS_PER_TURN = 1024, REQUEST_LIMIT = 16 * 1024, DEVICES_OF_A_USER = 3 };

struct send {
    struct send *next;
    int64_t delivery, channels[DEVICES_OF_A_USER];
    int left;
};

// A connection, on which a client has one request at a time.
struct request {
    struct request *next;
    int socket;
    size_t length;
    char bytes[REQUEST_LIMIT];
    struct text head, body;
    struct send *send;
};

static int epoll;
// What the next transaction writes: those that are to be answered, and those that are over.
static struct request *requests;
static struct send *sent;

static void watch(int descriptor, void *context) {
    struct epoll_event event = {.events = EPOLLIN, .data.ptr = context};
    if (epoll_ctl(epoll, EPOLL_CTL_ADD, descriptor, &event)) die("epoll_ctl");
}

static int listen_anywhere(void) {
    struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
    socklen_t length = sizeof address;
    int listener = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (bind(listener, (struct sockaddr *)&address, length) || listen(listener, 1024)) die("listening");
    if (getsockname(listener, (struct sockaddr *)&address, &length)) die("getsockname");
    printf("ready %d\n", ntohs(address.sin_port));
    return listener;
}

static void accept_all(int listener) {
    for (int socket; (socket = accept4(listener, NULL, NULL, SOCK_NONBLOCK | SOCK_CLOEXEC)) >= 0;) {
        struct request *it = calloc(1, sizeof *it);
        if (!it) die("calloc");
        it->socket = socket;
        setsockopt(socket, IPPROTO_TCP, TCP_NODELAY, &(int){1}, sizeof(int));
        watch(socket, it);
    }
}

static void read_request(struct request *it) {
    ssize_t count = read(it->socket, it->bytes + it->length, REQUEST_LIMIT - it->length);
    if (count <= 0) {
        close(it->socket);
        return free(it);
    }
    it->length += (size_t)count;
    char *blank = memmem(it->bytes, it->length, "\r\n\r\n", 4);
    if (!blank) return;
    it->head = (struct text){it->bytes, (size_t)(blank + 4 - it->bytes)};
    struct text length = between(it->head, "Content-Length: ", "\r\n");
    it->body = (struct text){blank + 4, length.start ? strtoul(length.start, NULL, 10) : 0};
    if (it->length < it->head.length + it->body.length) return;
    it->length = 0;
    it->next = requests;
    requests = it;
}

static struct text tag_of(const struct request *it) {
    return between(it->head, "ServiceBusNotification-Tags: ", "\r\n");
}

static void store(struct request *it, bool is_send) {
    if (is_send) {
        if (!(it->send = calloc(1, sizeof *it->send))) die("calloc");
        it->send->delivery = database_accept(it->body, tag_of(it));
        return;
    }
    struct registration registration = {
        .id = between(it->head, "/registrations/", "?"), .tags = between(it->body, "<Tags>", "</Tags>"),
    };
    token_read(between(it->body, "<DeviceToken>", "</DeviceToken>"), registration.token);
    database_put(&registration);
}

static void is_accepted(void *context) {
    struct send *it = context;
    if (--it->left) return;
    it->next = sent;
    sent = it;
}

static void push(const struct request *it) {
    uint8_t tokens[DEVICES_OF_A_USER][TOKEN_LENGTH];
    it->send->left = database_audience(tag_of(it), DEVICES_OF_A_USER, it->send->channels, tokens);
    if (it->send->left != DEVICES_OF_A_USER) die("finding the devices of a user");
    for (int i = 0; i < DEVICES_OF_A_USER; i++) pushes_add(tokens[i], it->body, it->send);
}

// Answers are as long as the product's, within a few bytes.
static void answer(const struct request *it) {
    static char bytes[1300];
    size_t body = it->send ? 0 : 1100, head = (size_t)sprintf(
        bytes, "HTTP/1.1 20%d OK\r\nContent-Type: application/atom+xml\r\nContent-Length: %zu\r\nLocation: "
        "http://127.0.0.1:12345/bench/messages/0123456789abcdef0123456789abcdef\r\n\r\n", it->send ? 1 : 0, body);
    memset(bytes + head, 'x', body);
    if (write(it->socket, bytes, head + body) < 0) return; // Who has gone is seen with the next read.
}

// All that has come since the last transaction is one.
static void write_all(bool is_sending) {
    if (!requests && !sent) return;
    database_begin();
    for (struct request *it = requests; it; it = it->next) store(it, is_sending);
    for (struct send *it = sent, *next; it; it = next) {
        database_finish(it->delivery, it->channels[DEVICES_OF_A_USER - 1], DEVICES_OF_A_USER);
        next = it->next;
        free(it);
    }
    database_commit();
    sent = NULL;
    for (; requests; requests = requests->next) {
        answer(requests);
        if (is_sending) push(requests);
    }
}

static void serve(const char *port, const char *certificate) {
    int input = STDIN_FILENO, sink = port ? pushes_open(port, certificate) : -1, listener = listen_anywhere();
    epoll = epoll_create1(EPOLL_CLOEXEC);
    // These are told apart from connections by the addresses of their variables.
    watch(input, &input);
    watch(listener, &listener);
    if (port) watch(sink, &sink);
    for (;;) {
        struct epoll_event events[EVENTS_PER_TURN];
        int ready = epoll_wait(epoll, events, EVENTS_PER_TURN, -1);
        for (int i = 0; i < ready; i++) {
            void *who = events[i].data.ptr;
            if (who == &input) exit(0);
            else if (who == &listener) accept_all(listener);
            else if (who == &sink) pushes_read(is_accepted);
            else read_request(who);
        }
        write_all(port);
        if (port) pushes_flush();
    }
}

int main(int count, char **arguments) {
    const char *operation = count > 2 ? arguments[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    if (count > 2) database_open(arguments[2]);
    if (count == 4 && !strcmp(operation, "import")) import_file(arguments[2], arguments[3]);
    else if (count == 3 && !strcmp(operation, "upserts")) serve(NULL, NULL);
    else if (count == 5 && !strcmp(operation, "sends")) serve(arguments[3], arguments[4]);
    else fprintf(stderr, "usage: floor import FOLDER FILE | upserts FOLDER | sends FOLDER PORT CERTIFICATE\n");
    return 0;
}
