/**
 * What of native libraries is not printed: sorting, and a library with the loop over the calls of a
 * run, which threads share. A run is one call from the host, so that no launch costs one.
 */

/**
 * The order of one line of keys, made by merging runs from one half of `spare` into the other.
 * Keys are made to rise as signed integers; a place breaks ties, so that equal keys stay in order.
 */
export const sorting: string = `
typedef struct { int64_t key; int64_t place; } element;

static void merge_runs(element *a, element *b, long n, long width) {
  for (long low = 0; low < n; low += 2 * width) {
    long p = low, q = low + width < n ? low + width : n, out = low;
    const long middle = q, high = low + 2 * width < n ? low + 2 * width : n;
    while (p < middle && q < high) b[out++] = a[q].key < a[p].key ? a[q++] : a[p++];
    while (p < middle) b[out++] = a[p++];
    while (q < high) b[out++] = a[q++];
  }
}

static void sort_elements(element *a, long n, int32_t *order, long count) {
  element *b = a + n;
  for (long low = 0; low < n; low += 8)
    for (long i = low + 1; i < n && i < low + 8; i++) {
      const element e = a[i];
      long at = i;
      for (; at > low && e.key < a[at - 1].key; at--) a[at] = a[at - 1];
      a[at] = e;
    }
  for (long width = 8; width < n; width *= 2) {
    merge_runs(a, b, n, width);
    element *const c = a;
    a = b;
    b = c;
  }
  for (long i = 0; i < count; i++) order[i] = (int32_t)a[i].place;
}

/* Of an i32 key and its place one integer: the spare memory has two for each. */
static void merge_words(const int64_t *a, int64_t *b, long n, long width) {
  for (long low = 0; low < n; low += 2 * width) {
    long p = low, q = low + width < n ? low + width : n, out = low;
    const long middle = q, high = low + 2 * width < n ? low + 2 * width : n;
    while (p < middle && q < high) b[out++] = a[q] < a[p] ? a[q++] : a[p++];
    while (p < middle) b[out++] = a[p++];
    while (q < high) b[out++] = a[q++];
  }
}

void sort_i32(char *mem, long keys, long order, long spare, long n, long count, long flip) {
  int64_t *a = (int64_t *)(mem + spare), *b = a + n;
  for (long i = 0; i < n; i++) {
    const int64_t e = (int64_t)((uint64_t)(load_int(mem + keys + 4 * i) ^ flip) << 32 | (uint64_t)i);
    long at = i;
    for (; at > (i & -8) && e < a[at - 1]; at--) a[at] = a[at - 1];
    a[at] = e;
  }
  for (long width = 8; width < n; width *= 2) {
    merge_words(a, b, n, width);
    int64_t *const c = a;
    a = b;
    b = c;
  }
  for (long i = 0; i < count; i++) store_int(mem + order + 4 * i, (int32_t)a[i]);
}

/* Bits of negative numbers fall; NaN is the greatest, and -0 is 0. */
void sort_f64(char *mem, long keys, long order, long spare, long n, long count, long flip) {
  element *a = (element *)(mem + spare);
  for (long i = 0; i < n; i++) {
    const double x = load_double(mem + keys + 8 * i) + 0.0;
    int64_t key;
    memcpy(&key, &x, 8);
    key ^= (int64_t)((uint64_t)(key >> 63) >> 1);
    if (x != x) key = INT64_MAX;
    a[i] = (element){key ^ (int64_t)flip, i};
  }
  sort_elements(a, n, (int32_t *)(mem + order), count);
}
`;

/**
 * The pool: a library of its own, which all programs of a process share. The records of a run are
 * those of `wasm-words.ts`: argc, entry, units, pieces, parts, arguments. Threads wait in `work`
 * for a call; each takes the next part until none is left. A thread that has not woken up when the
 * last part is taken is not waited for.
 */
const running = `
typedef void entry(char *mem, const int32_t *args, long from, long to, long stack);

typedef struct {
  entry *const *entries;
  char *mem;
  long stack, stride;
  /* The device's, each of which has a stack: other devices may have started more. */
  int threads;
} run_state;

static void do_part(const run_state *r, const int32_t *at, long part, long thread) {
  const int64_t units = at[2], parts = at[4];
  r->entries[at[1]](r->mem, at + 5, units * part / parts, units * (part + 1) / parts,
                    r->stack + thread * r->stride);
}

static struct {
  pthread_mutex_t user, lock;
  pthread_cond_t wake, idle;
  const run_state *run;
  const int32_t *at;
  uint64_t turn;
  int joined, started;
} pool = {PTHREAD_MUTEX_INITIALIZER, PTHREAD_MUTEX_INITIALIZER, PTHREAD_COND_INITIALIZER,
          PTHREAD_COND_INITIALIZER, NULL, NULL, 0, 0, 0};
static atomic_int next_part;
static atomic_uint_fast64_t current_turn;

static void take_parts(const run_state *r, const int32_t *at, long thread) {
  for (int part; (part = atomic_fetch_add(&next_part, 1)) < at[4];) do_part(r, at, part, thread);
}

static void *work(void *number) {
  const long thread = (long)(intptr_t)number;
  uint64_t seen = 0;
  for (;;) {
    /* A call follows the one before soon: it is cheaper to look again than to sleep. */
    for (int i = 0; i < 4000 && atomic_load_explicit(&current_turn, memory_order_relaxed) == seen; i++)
      PAUSE();
    pthread_mutex_lock(&pool.lock);
    while (pool.turn == seen || !pool.at) {
      if (pool.turn != seen) seen = pool.turn;
      pthread_cond_wait(&pool.wake, &pool.lock);
    }
    seen = pool.turn;
    const run_state *run = pool.run;
    if (thread >= run->threads) {
      pthread_mutex_unlock(&pool.lock);
      continue;
    }
    pool.joined++;
    const int32_t *at = pool.at;
    pthread_mutex_unlock(&pool.lock);
    take_parts(run, at, thread);
    pthread_mutex_lock(&pool.lock);
    if (--pool.joined == 0) pthread_cond_signal(&pool.idle);
    pthread_mutex_unlock(&pool.lock);
  }
  return NULL;
}

static void share(const run_state *r, const int32_t *at) {
  pthread_mutex_lock(&pool.lock);
  pool.run = r;
  pool.at = at;
  atomic_store(&next_part, 0);
  atomic_store(&current_turn, ++pool.turn);
  pthread_cond_broadcast(&pool.wake);
  pthread_mutex_unlock(&pool.lock);
  take_parts(r, at, 0);
  pthread_mutex_lock(&pool.lock);
  pool.at = NULL;
  while (pool.joined > 0) pthread_cond_wait(&pool.idle, &pool.lock);
  pthread_mutex_unlock(&pool.lock);
}

/* Starts threads until there are so many, the caller among them; how many there are. */
int kiln_threads(int wanted) {
  pthread_mutex_lock(&pool.user);
  while (pool.started + 1 < wanted && pool.started < 255) {
    pthread_t thread;
    if (pthread_create(&thread, NULL, work, (void *)(intptr_t)(pool.started + 1)) != 0) break;
    pthread_detach(thread);
    pool.started++;
  }
  const int there = pool.started + 1;
  pthread_mutex_unlock(&pool.user);
  return there;
}

static double now(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return (double)t.tv_sec * 1e3 + (double)t.tv_nsec * 1e-6;
}

/* Where a buffer of the host lies. */
double kiln_address(void *at) { return (double)(uintptr_t)at; }

/* Runs all records. The ms of each go to times, unless that is 0. */
int kiln_run(double entries, double mem, double words, int count, double stack, double stride, int threads,
             double times) {
  const run_state r = {(entry *const *)(uintptr_t)entries, (char *)(uintptr_t)mem, (long)stack, (long)stride, threads};
  const int32_t *const first = (const int32_t *)(uintptr_t)words;
  double *time = (double *)(uintptr_t)times;
  /* Another device of the process may be at work: the pool serves one of them. */
  const int alone = pthread_mutex_trylock(&pool.user) != 0;
  for (const int32_t *at = first; at < first + count; at += 5 + at[0]) {
    const double start = time ? now() : 0;
    if (at[4] > 1 && threads > 1 && !alone) share(&r, at);
    else for (long part = 0; part < at[4]; part++) do_part(&r, at, part, 0);
    if (time) *time++ = now() - start;
  }
  if (!alone) pthread_mutex_unlock(&pool.user);
  return 0;
}
`;

const opening = `#define _POSIX_C_SOURCE 200809L
#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>
#include <time.h>
#if defined(__x86_64__) || defined(__i386__)
#define PAUSE() __builtin_ia32_pause()
#else
#define PAUSE() ((void)0)
#endif
`;

export const poolText: string = opening + running;

/** The file with the table of functions, in the order in which calls number them. */
export function tableText(entries: readonly string[]): string {
  const signature = "(char *mem, const int32_t *args, long from, long to, long stack)";
  const declared = entries.map((e) => `void ${e}${signature};`);
  const table = `static void (*const entries[])${signature} = {${[...entries, "0"].join(", ")}};\n`;
  const address = "double kiln_entries(void) { return (double)(uintptr_t)entries; }\n";
  return `#include "kiln.h"\n${sorting}\n${declared.join("\n")}\n${table}${address}`;
}

/** A file with some of the kernels. */
export const unitText = (kernels: readonly string[]): string =>
  `#include "kiln.h"\n\n${kernels.join("\n\n")}\n`;
