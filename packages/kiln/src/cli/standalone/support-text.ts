/**
 * What of a standalone program is the same for all: memory, errors, weights, launches. Written for
 * any C11 with the vectors of GCC and Clang, with threads where OpenMP is.
 */

/** Before the header of vectors. */
export const openingText = `#if __BYTE_ORDER__ != __ORDER_LITTLE_ENDIAN__
#error "weights and tensors are little-endian"
#endif
#include <stdio.h>
#include <stdlib.h>
#ifdef _OPENMP
#include <omp.h>
#endif
/* Vectors that are wider than the machine's never cross a call. */
#pragma GCC diagnostic ignored "-Wpsabi"
#ifdef __clang__
#pragma STDC FP_CONTRACT OFF
#define KERNEL __attribute__((unused))
#else
/* GCC 12 takes some functions that store through mem for ones without effects. */
#define KERNEL __attribute__((noipa, unused))
#endif
`;

/** Extents, memory and launches; before the functions of the interface. */
export const supportText = `typedef void kernel(char *mem, const int32_t *args, long from, long to, long stack);

struct NET_model {
  char *mem;        /* at a multiple of 64, in block */
  char *block;
  double capacity;  /* bytes from mem */
  int threads;
};

typedef struct {
  char *mem;
  long stack, stride;
  int threads;
} running;

static _Thread_local char error_text[256];

static int refuse(const char *why) {
  snprintf(error_text, sizeof error_text, "%s", why);
  return -1;
}

INLINE double floor_div(double a, double b) { return __builtin_floor(a / b); }
INLINE double floor_mod(double a, double b) { return a - __builtin_floor(a / b) * b; }
INLINE double least(double a, double b) { return a < b ? a : b; }
INLINE double greatest(double a, double b) { return a > b ? a : b; }
INLINE double line_up(double bytes) { return __builtin_ceil(greatest(bytes, 1.0) / 64.0) * 64.0; }

/* Kernels address 32 bits, and may load a whole vector where less is left. */
#define MOST_BYTES (4294967296.0 - 64.0)

/* The next place of so many bytes. One that is negative or too large makes the end too large. */
INLINE long place(double *end, double bytes) {
  const double at = *end;
  *end = bytes >= 0.0 ? at + line_up(bytes) : 2.0 * MOST_BYTES;
  return at < MOST_BYTES ? (long)at : 0;
}

/* Memory of so many bytes, what is kept between runs included. */
static int reserve(struct NET_model *model, double end) {
  if (end <= model->capacity) return 0;
  if (!(end <= MOST_BYTES) || end > (double)LONG_MAX) return refuse("a run needs more than 4 GiB");
  char *const block = malloc((size_t)end + 128);
  if (!block) return refuse("no memory for a run");
  char *const mem = block + (64 - (uintptr_t)block % 64);
  if (model->mem) memcpy(mem, model->mem, KEPT_END);
  free(model->block);
  model->block = block;
  model->mem = mem;
  model->capacity = end;
  return 0;
}

/* No bytes may have no address. */
INLINE void move(void *to, const void *from, double bytes) {
  if (bytes > 0.0) memcpy(to, from, (size_t)bytes);
}

/* Calls a kernel for all of its units; less work than about 100 microseconds is not shared. */
INLINE void launch(const running *r, kernel *k, const int32_t *args, double units, double work) {
  const long n = (long)greatest(units, 0.0);
#ifdef _OPENMP
  if (r->threads > 1 && n > 1 && work >= 1e6) {
    const long parts = n < 4L * r->threads ? n : 4L * r->threads;
#pragma omp parallel for schedule(dynamic) num_threads(r->threads)
    for (long p = 0; p < parts; p++)
      k(r->mem, args, n * p / parts, n * (p + 1) / parts, r->stack + r->stride * omp_get_thread_num());
    return;
  }
#endif
  (void)work;
  k(r->mem, args, 0, n, r->stack);
}
`;

/** Where the weights are a file. */
export const readText = `static int fill(char *to, const char *path) {
  char line[64];
  FILE *const file = path ? fopen(path, "rb") : NULL;
  if (!file) return refuse("the weights cannot be opened");
  const size_t bytes = KEPT_END - KEPT_FROM;
  const int ours = fread(line, 1, sizeof line, file) == sizeof line &&
                   memcmp(line, weights_line, sizeof weights_line - 1) == 0;
  const int whole = ours && fread(to, 1, bytes, file) == bytes && fgetc(file) == EOF;
  fclose(file);
  if (!ours) return refuse("the weights are not those of this program");
  return whole ? 0 : refuse("the weights are not whole");
}
`;

/** Where they are part of the program. */
export const copyText = `static int fill(char *to, const char *path) {
  (void)path;
  memcpy(to, embedded, KEPT_END - KEPT_FROM);
  return 0;
}
`;

/** The interface but for the run itself. */
export const functionsText = `NET_model *NET_create(const char *weights_path) {
  NET_model *const model = calloc(1, sizeof *model);
  if (!model) {
    refuse("no memory for a model");
    return NULL;
  }
#ifdef _OPENMP
  model->threads = omp_get_max_threads();
#else
  model->threads = 1;
#endif
  if (reserve(model, KEPT_END) == 0 && fill(model->mem + KEPT_FROM, weights_path) == 0) return model;
  NET_free(model);
  return NULL;
}

void NET_free(NET_model *model) {
  if (model) free(model->block);
  free(model);
}

const char *NET_error(void) { return error_text; }

void NET_set_threads(NET_model *model, int threads) {
#ifdef _OPENMP
  model->threads = threads < 1 ? 1 : threads > 256 ? 256 : threads;
#else
  (void)threads;
  model->threads = 1;
#endif
}

static const NET_tensor *tensor_at(int first, int count, int i) {
  return i >= 0 && i < count ? &tensors[first + i] : NULL;
}

const NET_tensor *NET_input(int i) { return tensor_at(0, INPUTS, i); }
const NET_tensor *NET_output(int i) { return tensor_at(INPUTS, OUTPUTS, i); }
const NET_tensor *NET_state(int i) { return tensor_at(INPUTS + OUTPUTS, STATES, i); }
const char *NET_dim(int i) { return i >= 0 && i < DIMS ? dim_names[i] : NULL; }

void *NET_state_data(NET_model *model, int i) {
  return i >= 0 && i < STATES ? model->mem + state_places[i] : NULL;
}

int64_t NET_shape(const NET_tensor *tensor, const int64_t *dims, int64_t *shape) {
  if (extents_of(tensor->id, dims, shape) != 0) return -1;
  int64_t elements = 1;
  for (int i = 0; i < tensor->rank; i++) {
    if (shape[i] < 0) return refuse("an extent is negative");
    elements *= shape[i];
  }
  return elements;
}
`;
