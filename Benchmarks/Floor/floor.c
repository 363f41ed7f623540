// What a target cannot exceed: the smallest program that makes the system calls and the rows of an operation. It does
// nothing that the product does besides: no signatures, no checks, no other kinds of requests. It has one thread, and
// for broadcasts another one that writes.
//
//   floor import FOLDER FILE                     imports the registrations of a file
//   floor upserts FOLDER                         answers requests that put registrations
//   floor sends FOLDER PORT CERTIFICATE          answers sends to users with three devices each, which go to the sink
//   floor broadcasts FOLDER PORT CERTIFICATE     answers sends to many, one after another, and telemetry
//
// FOLDER is a data directory with a hub that the product has made, whose server does not run. All but the first print
// "ready PORT" and end with their input.
#include "broadcasts.h"
#include "pushes.h"
#include "requests.h"
#include <fcntl.h>
#include <inttypes.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/random.h>
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

enum { DEVICES_OF_A_USER = 3 };

struct send {
    struct send *next;
    int64_t delivery, channels[DEVICES_OF_A_USER];
    int left;
};

// What the next transaction writes: those that are to be answered, and those that are over.
static struct request *requests;
static struct send *sent;

static struct text tag_of(const struct request *it) {
    return between(it->head, "ServiceBusNotification-Tags: ", "\r\n");
}

static void store(struct request *it, bool is_send) {
    if (is_send) {
        struct send *send = it->work = calloc(1, sizeof *send);
        if (!send) die("calloc");
        send->delivery = database_accept(it->body, tag_of(it));
        return;
    }
    struct registration registration = {
        .id = between(it->head, "/registrations/", "?"), .tags = between(it->body, "<Tags>", "</Tags>"),
    };
    token_read(between(it->body, "<DeviceToken>", "</DeviceToken>"), registration.token);
    database_put(&registration);
}

static void is_answered(void *context, int64_t gone_since) {
    struct send *it = context;
    if (gone_since) die("a push");
    if (--it->left) return;
    it->next = sent;
    sent = it;
}

static void push(struct pushes *pushes, const struct request *it) {
    uint8_t tokens[DEVICES_OF_A_USER][TOKEN_LENGTH];
    struct send *send = it->work;
    send->left = database_audience(tag_of(it), DEVICES_OF_A_USER, send->channels, tokens);
    if (send->left != DEVICES_OF_A_USER) die("finding the devices of a user");
    pushes_prepare(it->body);
    for (int i = 0; i < DEVICES_OF_A_USER; i++) pushes_add(pushes, tokens[i], send);
}

// Answers are as long as the product's, within a few bytes.
static void answer(const struct request *it, bool is_send) {
    static char body[1100];
    if (!*body) memset(body, 'x', sizeof body);
    request_answer(it, is_send ? "201 Created" : "200 OK", LOCATION, (struct text){body, is_send ? 0 : sizeof body});
}

// All that has come since the last transaction is one.
static void write_all(struct pushes *pushes) {
    if (!requests && !sent) return;
    database_begin();
    for (struct request *it = requests; it; it = it->next) store(it, pushes);
    for (struct send *it = sent, *next; it; it = next) {
        database_finish(it->delivery, it->channels[DEVICES_OF_A_USER - 1], DEVICES_OF_A_USER);
        next = it->next;
        free(it);
    }
    database_commit();
    sent = NULL;
    for (; requests; requests = requests->next) {
        answer(requests, pushes);
        if (pushes) push(pushes, requests);
    }
}

static void serve(struct pushes *pushes) {
    int input = STDIN_FILENO, listener = requests_listen();
    // These are told apart from connections by the addresses of their variables.
    watch(input, &input);
    watch(listener, &listener);
    if (pushes) watch(pushes_socket(pushes), pushes);
    for (;;) {
        struct epoll_event events[EVENTS_PER_TURN];
        int ready = epoll_wait(epoll, events, EVENTS_PER_TURN, -1);
        for (int i = 0; i < ready; i++) {
            void *who = events[i].data.ptr;
            if (who == &input) exit(0);
            if (who == &listener) {
                requests_accept(listener);
            } else if (who == pushes) {
                pushes_read(pushes, is_answered);
            } else if (request_read(who)) {
                ((struct request *)who)->next = requests;
                requests = who;
            }
        }
        write_all(pushes);
        if (pushes) pushes_flush(pushes);
    }
}

int main(int count, char **arguments) {
    const char *operation = count > 2 ? arguments[1] : "";
    setvbuf(stdout, NULL, _IOLBF, 0);
    signal(SIGPIPE, SIG_IGN);
    if (count > 2) database_open(arguments[2]);
    if (count == 4 && !strcmp(operation, "import")) import_file(arguments[2], arguments[3]);
    else if (count == 3 && !strcmp(operation, "upserts")) serve(NULL);
    else if (count == 5 && !strcmp(operation, "sends")) serve(pushes_open(arguments[3], arguments[4]));
    else if (count == 5 && !strcmp(operation, "broadcasts")) broadcasts(arguments[2], arguments[3], arguments[4]);
    else fprintf(stderr, "usage: floor import FOLDER FILE | upserts FOLDER | sends|broadcasts FOLDER PORT CERTIFICATE\n");
    return 0;
}
