/** The Makefile of a standalone program. */

/** A static and a shared library; MARCH says for which processor, OPENMP whether with threads. */
export const makeText = (prefix: string): string => `# Libraries of ${prefix}.c, by GCC or Clang.
#   make                    for the processor of this machine, with threads where OpenMP is
#   make MARCH=-march=x86-64-v3    for another: any will do, vectors are cut to what it has
#   make OPENMP=            without threads
CC ?= cc
try = $(shell echo 'int main(void) { return 0; }' | $(CC) $(1) -xc - -o /dev/null 2>/dev/null && echo $(1))
MARCH ?= $(or $(call try,-march=native),$(call try,-mcpu=native))
OPENMP ?= $(call try,-fopenmp)
CFLAGS ?= -O3 -Wall -Wextra
# No product is fused with a sum that did not ask for it, integers wrap.
EXACT = -std=c11 -ffp-contract=off -fno-math-errno -fno-trapping-math -fwrapv

all: lib${prefix}.a lib${prefix}.so

${prefix}.o: ${prefix}.c ${prefix}.h
	$(CC) $(CFLAGS) $(EXACT) $(MARCH) $(OPENMP) -fPIC -c ${prefix}.c -o $@

lib${prefix}.a: ${prefix}.o
	$(AR) rcs $@ $<

lib${prefix}.so: ${prefix}.o
	$(CC) -shared $< -o $@ $(OPENMP) -lm

clean:
	rm -f ${prefix}.o lib${prefix}.a lib${prefix}.so

.PHONY: all clean
`;
