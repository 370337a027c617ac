/*
 * Decompositions of n x n matrices of float in plain loops, row-major, as a textbook has them. No
 * blocks, no intrinsics, no threads: what the compiler makes of the loops. `rows.ts` compiles and
 * runs this:
 *
 *   plain OP N ROUNDS x.bin b.bin y.bin
 *
 * reads x[n][n] and b[n][n], writes what OP gives to y.bin and prints the milliseconds of CPU of
 * each round.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#define AT(m, i, j) m[(size_t)(i) * n + (j)]

static float *matrix(int n) { return calloc((size_t)n * n + n, sizeof(float)); }

static void swap_rows(float *a, int n, int i, int j) {
  for (int k = 0; k < n; k++) {
    float t = AT(a, i, k);
    AT(a, i, k) = AT(a, j, k);
    AT(a, j, k) = t;
  }
}

/* In place, unit lower and upper triangle, row `order[i]` of x first. */
static void lu(float *restrict a, int n, int *order) {
  for (int i = 0; i < n; i++) order[i] = i;
  for (int k = 0; k < n; k++) {
    int p = k;
    for (int i = k + 1; i < n; i++)
      if (fabsf(AT(a, i, k)) > fabsf(AT(a, p, k))) p = i;
    if (p != k) {
      swap_rows(a, n, k, p);
      int t = order[k];
      order[k] = order[p];
      order[p] = t;
    }
    for (int i = k + 1; i < n; i++) {
      float f = AT(a, i, k) /= AT(a, k, k);
      for (int j = k + 1; j < n; j++) AT(a, i, j) -= f * AT(a, k, j);
    }
  }
}

/* Right-looking, in the lower triangle; zeros above it. */
static void cholesky(float *restrict a, int n) {
  for (int k = 0; k < n; k++) {
    float root = sqrtf(AT(a, k, k));
    for (int i = k; i < n; i++) AT(a, i, k) /= root;
    for (int j = k + 1; j < n; j++) AT(a, k, j) = AT(a, j, k);
    AT(a, k, k) = root;
    for (int i = k + 1; i < n; i++)
      for (int j = k + 1; j <= i; j++) AT(a, i, j) -= AT(a, i, k) * AT(a, k, j);
    for (int j = k + 1; j < n; j++) AT(a, k, j) = 0;
  }
}

/* x = a^-1 b of m right sides. */
static void solve(float *restrict a, const float *b, float *restrict x, int n, int m) {
  int *order = malloc(n * sizeof(int));
  lu(a, n, order);
  for (int i = 0; i < n; i++) memcpy(x + (size_t)i * m, b + (size_t)order[i] * m, m * sizeof(float));
  for (int i = 0; i < n; i++)
    for (int k = 0; k < i; k++)
      for (int j = 0; j < m; j++) x[(size_t)i * m + j] -= AT(a, i, k) * x[(size_t)k * m + j];
  for (int i = n - 1; i >= 0; i--) {
    for (int k = i + 1; k < n; k++)
      for (int j = 0; j < m; j++) x[(size_t)i * m + j] -= AT(a, i, k) * x[(size_t)k * m + j];
    for (int j = 0; j < m; j++) x[(size_t)i * m + j] /= AT(a, i, i);
  }
  free(order);
}

/* Reflections in the rows of t, the transpose of x: t becomes r^T, and q the first n columns. */
static void qr(float *restrict t, float *restrict q, int n) {
  float *v = matrix(n), *tau = malloc(n * sizeof(float));
  for (int k = 0; k < n; k++) {
    float rest = 0;
    for (int i = k + 1; i < n; i++) rest += AT(t, k, i) * AT(t, k, i);
    float first = AT(t, k, k), length = sqrtf(rest + first * first);
    float onto = first < 0 ? length : -length, head = first - onto;
    tau[k] = rest == 0 ? 0 : 2 / (rest + head * head);
    AT(v, k, k) = head;
    for (int i = k + 1; i < n; i++) AT(v, k, i) = AT(t, k, i);
    if (tau[k] == 0) continue;
    for (int c = k; c < n; c++) {
      float dot = 0;
      for (int i = k; i < n; i++) dot += AT(t, c, i) * AT(v, k, i);
      for (int i = k; i < n; i++) AT(t, c, i) -= dot * tau[k] * AT(v, k, i);
    }
  }
  for (int i = 0; i < n; i++) AT(q, i, i) = 1;
  for (int k = n - 1; k >= 0; k--)
    for (int c = k; c < n; c++) {
      float dot = 0;
      for (int i = k; i < n; i++) dot += AT(q, c, i) * AT(v, k, i);
      for (int i = k; i < n; i++) AT(q, c, i) -= dot * tau[k] * AT(v, k, i);
    }
  free(v);
  free(tau);
}

/*
 * One-sided rotations of rows until they are orthogonal, with those of v beside them; row by row.
 */
static void rotate(float *restrict a, float *restrict v, int n) {
  for (int sweep = 0; sweep < 24; sweep++) {
    float worst = 0;
    for (int p = 0; p < n; p++)
      for (int q = p + 1; q < n; q++) {
        float alpha = 0, beta = 0, gamma = 0;
        for (int i = 0; i < n; i++) {
          alpha += AT(a, p, i) * AT(a, p, i);
          beta += AT(a, q, i) * AT(a, q, i);
          gamma += AT(a, p, i) * AT(a, q, i);
        }
        float skew = fabsf(gamma) / (sqrtf(alpha) * sqrtf(beta));
        if (skew > worst) worst = skew;
        if (gamma == 0) continue;
        float zeta = (beta - alpha) / (2 * gamma);
        float t = (zeta < 0 ? -1 : 1) / (fabsf(zeta) + sqrtf(1 + zeta * zeta));
        float c = 1 / sqrtf(1 + t * t), s = t * c;
        for (int i = 0; i < n; i++) {
          float x = AT(a, p, i), y = AT(a, q, i);
          AT(a, p, i) = c * x - s * y;
          AT(a, q, i) = s * x + c * y;
        }
        if (!v) continue;
        for (int i = 0; i < n; i++) {
          float x = AT(v, p, i), y = AT(v, q, i);
          AT(v, p, i) = c * x - s * y;
          AT(v, q, i) = s * x + c * y;
        }
      }
    if (worst <= 16 * 1.1920929e-7f) break;
  }
}

static void lengths(const float *a, float *y, int n) {
  for (int i = 0; i < n; i++) {
    float s = 0;
    for (int j = 0; j < n; j++) s += AT(a, i, j) * AT(a, i, j);
    y[i] = sqrtf(s);
  }
}

static void svd(float *a, float *v, float *y, int n) {
  for (int i = 0; i < n; i++) AT(v, i, i) = 1;
  rotate(a, v, n);
  lengths(a, y, n);
}

/*
 * Householder to three diagonals, then QL with implicit shifts and the vectors (EISPACK's tred2 and
 * tql2).
 */
static void eigh(float *restrict z, float *d, float *e, int n) {
  for (int i = n - 1; i > 0; i--) {
    float h = 0, scale = 0;
    for (int k = 0; k < i; k++) scale += fabsf(AT(z, i, k));
    if (i == 1 || scale == 0) {
      e[i] = AT(z, i, i - 1);
      d[i] = 0;
      continue;
    }
    for (int k = 0; k < i; k++) {
      AT(z, i, k) /= scale;
      h += AT(z, i, k) * AT(z, i, k);
    }
    float f = AT(z, i, i - 1), g = f >= 0 ? -sqrtf(h) : sqrtf(h);
    e[i] = scale * g;
    h -= f * g;
    AT(z, i, i - 1) = f - g;
    f = 0;
    for (int j = 0; j < i; j++) {
      AT(z, j, i) = AT(z, i, j) / h;
      g = 0;
      for (int k = 0; k <= j; k++) g += AT(z, j, k) * AT(z, i, k);
      for (int k = j + 1; k < i; k++) g += AT(z, k, j) * AT(z, i, k);
      e[j] = g / h;
      f += e[j] * AT(z, i, j);
    }
    float hh = f / (h + h);
    for (int j = 0; j < i; j++) {
      f = AT(z, i, j);
      e[j] = g = e[j] - hh * f;
      for (int k = 0; k <= j; k++) AT(z, j, k) -= f * e[k] + g * AT(z, i, k);
    }
    d[i] = h;
  }
  d[0] = e[0] = 0;
  for (int i = 0; i < n; i++) {
    if (d[i] != 0)
      for (int j = 0; j < i; j++) {
        float g = 0;
        for (int k = 0; k < i; k++) g += AT(z, i, k) * AT(z, k, j);
        for (int k = 0; k < i; k++) AT(z, k, j) -= g * AT(z, k, i);
      }
    d[i] = AT(z, i, i);
    AT(z, i, i) = 1;
    for (int j = 0; j < i; j++) AT(z, j, i) = AT(z, i, j) = 0;
  }
  /* Vectors as rows, so that a rotation runs along memory. */
  for (int i = 0; i < n; i++)
    for (int j = 0; j < i; j++) {
      float t = AT(z, i, j);
      AT(z, i, j) = AT(z, j, i);
      AT(z, j, i) = t;
    }
  for (int i = 1; i < n; i++) e[i - 1] = e[i];
  e[n - 1] = 0;
  for (int l = 0; l < n; l++)
    for (int turn = 0; turn < 60; turn++) {
      int m = l;
      for (; m < n - 1; m++) {
        float dd = fabsf(d[m]) + fabsf(d[m + 1]);
        if (fabsf(e[m]) + dd == dd) break;
      }
      if (m == l) break;
      float g = (d[l + 1] - d[l]) / (2 * e[l]), r = hypotf(g, 1);
      g = d[m] - d[l] + e[l] / (g + copysignf(r, g));
      float s = 1, c = 1, p = 0;
      int i = m - 1;
      for (; i >= l; i--) {
        float f = s * e[i], b = c * e[i];
        e[i + 1] = r = hypotf(f, g);
        if (r == 0) {
          d[i + 1] -= p;
          e[m] = 0;
          break;
        }
        s = f / r;
        c = g / r;
        g = d[i + 1] - p;
        r = (d[i] - g) * s + 2 * c * b;
        p = s * r;
        d[i + 1] = g + p;
        g = c * r - b;
        for (int k = 0; k < n; k++) {
          f = AT(z, i + 1, k);
          AT(z, i + 1, k) = s * AT(z, i, k) + c * f;
          AT(z, i, k) = c * AT(z, i, k) - s * f;
        }
      }
      if (r == 0 && i >= l) continue;
      d[l] -= p;
      e[l] = g;
      e[m] = 0;
    }
}

static void transpose(const float *x, float *y, int n) {
  for (int i = 0; i < n; i++)
    for (int j = 0; j < n; j++) AT(y, j, i) = AT(x, i, j);
}

static int read_matrix(const char *path, float *x, int n) {
  FILE *f = fopen(path, "rb");
  if (!f) return 0;
  size_t got = fread(x, sizeof(float), (size_t)n * n, f);
  fclose(f);
  return got == (size_t)n * n;
}

int main(int argc, char **argv) {
  if (argc != 7) return 2;
  const char *op = argv[1];
  int n = atoi(argv[2]), rounds = atoi(argv[3]);
  float *x = matrix(n), *b = matrix(n);
  if (!read_matrix(argv[4], x, n) || !read_matrix(argv[5], b, n)) return 3;
  float *y = 0;
  for (int r = 0; r < rounds; r++) {
    float *a = matrix(n), *w = matrix(n), *e = calloc(n, sizeof(float));
    int *order = malloc(n * sizeof(int));
    free(y);
    y = matrix(n);
    clock_t start = clock();
    memcpy(a, x, (size_t)n * n * sizeof(float));
    if (!strcmp(op, "lu")) lu(a, n, order), memcpy(y, a, (size_t)n * n * sizeof(float));
    else if (!strcmp(op, "cholesky")) cholesky(a, n), memcpy(y, a, (size_t)n * n * sizeof(float));
    else if (!strcmp(op, "solve")) solve(a, b, y, n, n);
    else if (!strcmp(op, "inv")) {
      for (int i = 0; i < n; i++) AT(w, i, i) = 1;
      solve(a, w, y, n, n);
    } else if (!strcmp(op, "qr")) transpose(x, a, n), qr(a, w, n), transpose(a, y, n);
    else if (!strcmp(op, "svd")) svd(a, w, y, n);
    else if (!strcmp(op, "eigh")) eigh(a, y, e, n);
    else return 4;
    printf("%.3f\n", 1000.0 * (double)(clock() - start) / CLOCKS_PER_SEC);
    free(a);
    free(w);
    free(e);
    free(order);
  }
  FILE *f = fopen(argv[6], "wb");
  if (!f) return 5;
  fwrite(y, sizeof(float), (size_t)n * n, f);
  return fclose(f);
}
