/* The generators of threads: seeds and the numbers of calls. */
#include "core/status.h"
#include "ops/random.h"
#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/random.h>
#include <time.h>

enum { OWN_CALLS_BITS = 40 }; /* of a thread that was not seeded, before the next one's begin */

static WEFT__THREAD_LOCAL weft_random own;
static WEFT__THREAD_LOCAL bool is_set, is_misread;

/* The seed of threads that have none; 0: not chosen yet. */
static _Atomic uint64_t common;
static _Atomic uint64_t threads;

static uint64_t seed_of_system(void)
{
    uint64_t seed = 0;
    struct timespec now = {0};
    if (getrandom(&seed, sizeof seed, GRND_NONBLOCK) != (ssize_t)sizeof seed) {
        (void)clock_gettime(CLOCK_REALTIME, &now); /* early at boot */
        seed = (uint64_t)now.tv_sec << 32 ^ (uint64_t)now.tv_nsec;
    }
    return seed ? seed : 1;
}

/* What does not read as a number is no seed, and an error of the first call that needs it. */
static bool seed_of_environment(uint64_t *seed)
{
    const char *text = getenv("WEFT_SEED");
    char *end = NULL;
    if (!text || !*text)
        return false;
    errno = 0;
    *seed = strtoull(text, &end, 0);
    is_misread = errno != 0 || *end != 0;
    return !is_misread;
}

static uint64_t common_seed(void)
{
    uint64_t seed, none = 0;
    if (seed_of_environment(&seed))
        return seed;
    seed = atomic_load(&common);
    if (seed)
        return seed;
    seed = seed_of_system();
    return atomic_compare_exchange_strong(&common, &none, seed) ? seed : none;
}

weft_random *weft__random_own(void)
{
    if (!is_set) {
        own = (weft_random){.seed = common_seed(),
                            .call = atomic_fetch_add(&threads, 1) << OWN_CALLS_BITS};
        is_set = true;
    }
    return &own;
}

weft_status weft__random_usable(void)
{
    const char *text = getenv("WEFT_SEED");
    (void)weft__random_own();
    if (!is_misread)
        return WEFT_OK;
    return FAIL(WEFT_ERROR_ARGUMENT,
                "the environment variable WEFT_SEED is '%.40s'; a number from 0 to "
                "18446744073709551615 was expected",
                text ? text : "");
}

void weft_random_seed(uint64_t seed) { weft_random_set((weft_random){.seed = seed}); }

weft_random weft_random_get(void) { return *weft__random_own(); }

void weft_random_set(weft_random random)
{
    own = random;
    is_set = true;
    is_misread = false;
}
