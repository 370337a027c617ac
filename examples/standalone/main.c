/*
 * The model of examples/precompile as C, called from C. Word numbers are the arguments.
 *
 *   npx kiln compile examples/precompile/model.ts --target native -o out/sentence
 *   make -C out/sentence OPENMP=
 *   cc -Iout/sentence examples/standalone/main.c out/sentence/libsentence.a -lm -o out/main
 *   out/main out/sentence/sentence.weights 3 14 15
 */
#include <stdio.h>
#include <stdlib.h>

#include "sentence.h"

enum { MOST_WORDS = 64, CLASSES = 3 };

int main(int count, char **given) {
  if (count < 3 || count - 2 > MOST_WORDS) {
    fprintf(stderr, "usage: %s sentence.weights WORD...\n", given[0]);
    return 2;
  }
  int32_t words[MOST_WORDS];
  for (int i = 2; i < count; i++) words[i - 2] = (int32_t)strtol(given[i], NULL, 10);

  sentence_model *const model = sentence_create(given[1]);
  if (!model) {
    fprintf(stderr, "%s\n", sentence_error());
    return 1;
  }
  /* The symbol T, then a pointer for each input and each output. */
  const int64_t dims[] = {count - 2};
  float chances[CLASSES];
  const void *const inputs[] = {words};
  void *const outputs[] = {chances};
  const int failed = sentence_run(model, dims, inputs, outputs) != 0;
  if (failed) fprintf(stderr, "%s\n", sentence_error());
  else printf("%d words: %.3f %.3f %.3f\n", count - 2, chances[0], chances[1], chances[2]);
  sentence_free(model);
  return failed;
}
