#define _GNU_SOURCE
#include "broadcasts.h"
#include "pages.h"
#include "pushes.h"
#include "requests.h"
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <time.h>
#include <unistd.h>

// As many connections and pages as the product has at a time; and how many devices are read before the next look at
// the connections.
enum { CONNECTIONS = 4, PAGES_AT_ONCE = 9, DEVICES_AT_ONCE = 500 };

static struct pushes *connections[CONNECTIONS];
static struct page pages[PAGES_AT_ONCE];
// Of the broadcast so far: the pages that were begun, those before the first of which an answer is missing, and those
// that are on disk.
static int64_t begun, ended, recorded;
static int success_count, refusal_count;
// Which connection is being read, and when.
static int reading;
static int64_t now;

// A thread of its own writes, so that nobody waits for the disk.
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static pthread_cond_t has_work = PTHREAD_COND_INITIALIZER, is_idle = PTHREAD_COND_INITIALIZER;
static bool is_writing, is_stopping;
static int has_written;

static struct page *page_of(int64_t number) {
    return &pages[number % PAGES_AT_ONCE];
}

static void *write_pages(void *unused) {
    for (;;) {
        struct page *ready[PAGES_AT_ONCE];
        int count = 0;
        pthread_mutex_lock(&lock);
        is_writing = false;
        pthread_cond_signal(&is_idle);
        while (ended == recorded && !is_stopping) pthread_cond_wait(&has_work, &lock);
        is_writing = true;
        for (int64_t number = recorded; number < ended; number++) ready[count++] = page_of(number);
        pthread_mutex_unlock(&lock);
        if (!count) return unused;
        bool are_all = ready[count - 1]->is_last;
        pages_record(ready, count);
        pthread_mutex_lock(&lock);
        recorded += count;
        pthread_mutex_unlock(&lock);
        eventfd_write(has_written, 1);
        pages_remove_gone(are_all);
    }
}

// MARK: Pages

static void note_time(void) {
    struct timespec time;
    clock_gettime(CLOCK_REALTIME, &time);
    now = (int64_t)time.tv_sec * 1000 + time.tv_nsec / 1000000;
}

static bool is_over(int64_t number) {
    const struct page *page = page_of(number);
    return page->is_read && page->answered == page->count;
}

static bool has_sent_all(void) {
    return !begun || page_of(begun - 1)->is_last;
}

static bool is_completed(void) {
    pthread_mutex_lock(&lock);
    bool is = has_sent_all() && recorded == begun;
    pthread_mutex_unlock(&lock);
    return is;
}

static void hand_over(void) {
    int64_t over = ended;
    while (over < begun && is_over(over)) page_of(over++)->ended_at = now;
    if (over == ended) return;
    pthread_mutex_lock(&lock);
    ended = over;
    pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
}

static bool begin_page(void) {
    pthread_mutex_lock(&lock);
    bool has_room = begun - recorded < PAGES_AT_ONCE;
    pthread_mutex_unlock(&lock);
    if (!has_room) return false;
    struct page *page = page_of(begun);
    page->size = begun ? PAGE_SIZE : FIRST_PAGE_SIZE;
    page->count = page->sent = page->answered = page->refused = 0;
    page->is_read = page->is_last = false;
    page->started_at = now;
    begun++;
    return true;
}

static struct device *next_device(void) {
    for (;;) {
        struct page *page = page_of(begun - 1);
        if (page->sent < page->count) return &page->devices[page->sent++];
        if (!page->is_read) page_read(page, DEVICES_AT_ONCE);
        else if (page->is_last || !begin_page()) return NULL;
    }
}

static void fill(struct pushes *connection) {
    struct device *device;
    while (begun && pushes_have_room(connection) && (device = next_device()))
        pushes_add(connection, device->token, device);
    pushes_flush(connection);
}

static void is_answered(void *context, int64_t gone_since) {
    struct device *device = context;
    struct page *page = device->page;
    page->answered++;
    if (gone_since) {
        page->refusals[page->refused++] = (struct refusal){device, gone_since, now, reading + 1};
        refusal_count++;
    } else {
        page_reach(device);
        success_count++;
    }
}

// MARK: Requests

static void post(const struct request *it, const char *folder, const char *port) {
    char origin[64];
    if (!is_completed()) die("sending to others at the same time");
    struct text tags = between(it->head, "ServiceBusNotification-Tags: ", "\r\n");
    snprintf(origin, sizeof origin, "https://127.0.0.1:%s", port);
    // The writer thread may still be removing devices.
    pthread_mutex_lock(&lock);
    while (is_writing) pthread_cond_wait(&is_idle, &lock);
    pthread_mutex_unlock(&lock);
    database_begin();
    int64_t delivery = database_accept(it->body, tags);
    database_commit();
    request_answer(it, "201 Created", LOCATION, (struct text){"", 0});
    begun = ended = recorded = success_count = refusal_count = 0;
    pages_begin(delivery, tags, folder, origin);
    pushes_prepare(it->body);
    begin_page();
    for (int i = 0; i < CONNECTIONS; i++) fill(connections[i]);
}

static void tell(const struct request *it) {
    char text[300];
    int length = snprintf(
        text, sizeof text, "<State>%s</State><Name>Success</Name><Count>%d</Count><Name>ExpiredChannel</Name><Count>%d"
        "</Count>", is_completed() ? "Completed" : "Processing", success_count, refusal_count);
    request_answer(it, "200 OK", "", (struct text){text, (size_t)length});
}

static void take(void *who, const char *folder, const char *port) {
    note_time();
    for (reading = 0; reading < CONNECTIONS; reading++) {
        if (who != connections[reading]) continue;
        pushes_read(who, is_answered);
        return fill(who);
    }
    if (!request_read(who)) return;
    if (((struct request *)who)->bytes[0] == 'P') post(who, folder, port);
    else tell(who);
}

// There is room for pages again.
static void go_on(void) {
    eventfd_t count;
    eventfd_read(has_written, &count);
    for (int i = 0; i < CONNECTIONS; i++) fill(connections[i]);
}

void broadcasts(const char *folder, const char *port, const char *certificate) {
    int input = STDIN_FILENO, listener = requests_listen();
    pthread_t thread;
    has_written = eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK);
    // These are told apart from connections by the addresses of their variables.
    watch(input, &input);
    watch(listener, &listener);
    watch(has_written, &has_written);
    for (int i = 0; i < CONNECTIONS; i++) {
        connections[i] = pushes_open(port, certificate);
        watch(pushes_socket(connections[i]), connections[i]);
    }
    if (pthread_create(&thread, NULL, write_pages, NULL)) die("pthread_create");
    for (;;) {
        struct epoll_event events[EVENTS_PER_TURN];
        int ready = epoll_wait(epoll, events, EVENTS_PER_TURN, -1);
        for (int i = 0; i < ready; i++) {
            void *who = events[i].data.ptr;
            if (who == &input) goto end;
            if (who == &listener) requests_accept(listener);
            else if (who == &has_written) go_on();
            else take(who, folder, port);
            hand_over();
        }
    }
end:
    pthread_mutex_lock(&lock);
    is_stopping = true;
    pthread_cond_signal(&has_work);
    pthread_mutex_unlock(&lock);
    pthread_join(thread, NULL);
}
