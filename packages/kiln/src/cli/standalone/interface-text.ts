/** The header of a standalone program: the C interface, which depends on nothing but the name. */
import { type Artifact, printShape, type TensorSpec } from "@kiln-ml/artifact";
import { comment, inWordsOf } from "./c-text.ts";

const typesText = `#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* The model with its weights and the memory of its runs. One thread at a time may use it. */
typedef struct NET_model NET_model;

/* A tensor is row-major, without gaps, and little-endian. */
typedef struct {
  const char *name;
  const char *dtype;    /* f32, f64, f16, bf16, i32, u32, i8, u8 or bool */
  size_t element_bytes;
  int rank;
  const char *shape;    /* as text, "[N,10]" */
  int id;               /* for NET_shape */
} NET_tensor;
`;

const functionsText = `/* The model, with the weights of the file, or its own if they are part of the program (then NULL
   will do). NULL if that fails: NET_error says why. */
NET_model *NET_create(const char *weights_path);

/* Runs it once. dims has a number for each symbol, in the order of NET_dim, and may be NULL if there
   are none. inputs and outputs have a pointer for each tensor, in the order of NET_input and
   NET_output; those of tensors without elements may be NULL. 0, or -1 if that fails: NET_error says
   why, and no output is written. */
int NET_run(NET_model *model, const int64_t *dims, const void *const *inputs, void *const *outputs);

void NET_free(NET_model *model);

/* Why the last call of this thread failed. */
const char *NET_error(void);

/* Inputs, outputs and states by their place; NULL beyond the last. */
const NET_tensor *NET_input(int i);
const NET_tensor *NET_output(int i);
const NET_tensor *NET_state(int i);

/* The name of a symbol of shapes; NULL beyond the last. */
const char *NET_dim(int i);

/* Writes the extents of a tensor; the number of its elements, or -1 for dims that do not fit. */
int64_t NET_shape(const NET_tensor *tensor, const int64_t *dims, int64_t *shape);

/* Where the values of a state lie, to be read and written between runs, until the next one. */
void *NET_state_data(NET_model *model, int i);

/* How many threads a run may take; they are there if the program was built with OpenMP. */
void NET_set_threads(NET_model *model, int threads);

#ifdef __cplusplus
}
#endif
#endif
`;

const line = ({ name, dtype, shape }: TensorSpec, i: number): string =>
  comment(`  ${i}: ${name} ${dtype}${printShape(shape)}`);

/** Lines of comments that list tensors, if there are any. */
function listed(title: string, specs: readonly TensorSpec[]): string[] {
  return specs.length ? [comment(title), ...specs.map(line)] : [];
}

/** `net.h`. */
export function interfaceText({ name, signature }: Artifact, prefix: string): string {
  const { dims, inputs, outputs, states } = signature;
  // One that the header of kernels, `KILN_H`, cannot have.
  const guard = `${prefix.toUpperCase()}_INTERFACE_H`;
  const counts = { DIMS: dims, INPUTS: inputs, OUTPUTS: outputs, STATES: states };
  return [
    comment(`${name}, compiled by Kiln for C11 with the vectors of GCC and Clang.`),
    `#ifndef ${guard}`,
    `#define ${guard}`,
    inWordsOf(typesText, prefix),
    ...Object.entries(counts).map(
      ([what, list]) => `#define ${prefix.toUpperCase()}_${what} ${list.length}`,
    ),
    ...(dims.length ? [comment(`Symbols: ${dims.map((d) => d.name).join(", ")}`)] : []),
    ...listed("Inputs:", inputs),
    ...listed("Outputs:", outputs),
    ...listed(
      "States, which a run may change:",
      states.filter((s) => s.written),
    ),
    "",
    inWordsOf(functionsText, prefix),
  ].join("\n");
}
