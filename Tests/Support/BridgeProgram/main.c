// A host in C, which the tests run: it makes keys, has one fail, and frees them. Prints what Latchkey says, a line each.
#include <errno.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "latchkey.h"

struct host {
    const char *name;
    pthread_mutex_t lock;
    pthread_cond_t changed;
    int failures, ends;
};

static void on_outcome(void *user_data, const char *outcome) {
    struct host *host = user_data;
    pthread_mutex_lock(&host->lock);
    printf("%s: %s\n", host->name, outcome);
    if (strstr(outcome, "\"kind\":\"failure\"")) host->failures++;
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

static void on_credentials(void *user_data, uint64_t number, const char *request) {
    struct host *host = user_data;
    printf("%s asks: %s\n", host->name, request);
    latchkey_answer(number, "{\"token\":\"a token\"}");
}

static void on_end(void *user_data) {
    struct host *host = user_data;
    pthread_mutex_lock(&host->lock);
    host->ends++;
    printf("%s: end %d\n", host->name, host->ends);
    pthread_cond_broadcast(&host->changed);
    pthread_mutex_unlock(&host->lock);
}

/// Waits a minute at most until a number is not zero.
static int wait_for(struct host *host, const int *number) {
    struct timespec limit;
    clock_gettime(CLOCK_REALTIME, &limit);
    limit.tv_sec += 60;
    pthread_mutex_lock(&host->lock);
    while (*number == 0 && pthread_cond_timedwait(&host->changed, &host->lock, &limit) != ETIMEDOUT) {}
    int reached = *number != 0;
    pthread_mutex_unlock(&host->lock);
    return reached;
}

int main(void) {
    struct host refused = {"refused", PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    char *error = NULL;
    if (latchkey_keys_create("{\"profile\":\"nobody\"}", &refused, NULL, on_outcome, on_end, &error)) return 1;
    printf("error: %s\n", error);
    latchkey_text_free(error);
    if (!wait_for(&refused, &refused.ends)) return 2;

    // The certificate's address is not https, so that the key fails without a network.
    struct host host = {"host", PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER, 0, 0};
    latchkey_keys keys = latchkey_keys_create(
        "{\"profile\":\"vudrm\",\"settings\":{\"certificateURL\":\"http://vendor.example/certificate\"}}", &host,
        on_credentials, on_outcome, on_end, &error);
    if (!keys) return 3;
    if (!latchkey_keys_preload(keys, "skd://vendor.example/movie", "movie-1")) return 4;
    if (!wait_for(&host, &host.failures)) return 5;
    latchkey_keys_free(keys);
    if (!wait_for(&host, &host.ends)) return 6;
    return 0;
}
