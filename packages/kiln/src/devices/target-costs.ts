/**
 * What the parts of a run cost on each target: milliseconds, and amounts a millisecond. The one
 * table that placement reckons with; says nothing about any particular machine.
 *
 * Measured on two cores of a server (AVX-512, Node 20) unless a line says otherwise, rounded to one
 * or two digits.
 */

import { engine, thread } from "@kiln-ml/compiler/program";

const perSecond = 1e3;

/** A compiler's machine in the units of this table. */
const ofMachine = ({ launch, flops, bytes }: typeof engine) => ({
  launch: launch * perSecond,
  flops: flops / perSecond,
  bytes: bytes / perSecond,
});

export const costs = {
  js: {
    ...ofMachine(engine),
    /** `new Function` of one kernel: 19 µs. */
    loadKernel: 0.02,
  },
  wasm: {
    ...ofMachine(thread),
    /** Threads wait in `Atomics.wait`: 6–75 µs until one runs. */
    wake: 0.02,
    /** Threads that gain bandwidth before the memory is busy. */
    memoryThreads: 2,
    /** Into the linear memory and out of it. */
    copy: 10e9 / perSecond,
    /** The memory, the threads and a module. */
    load: 0.2,
    /** 50–120 µs for 2 KB of module, about two kernels. */
    loadKernel: 0.04,
    /** A 32-bit address space, less the stacks of the threads. */
    memory: 4.2e9,
  },
  webgpu: {
    dispatch: 0.007,
    submit: 0.06,
    /** `mapAsync` of a small buffer, Chromium and Dawn. */
    readback: 0.6,
    /** Adapter and device. */
    load: 30,
    /** Shader and pipeline. */
    loadKernel: 2,
    /** Transfers are copied twice, by the page and by the driver: assumed, not measured. */
    /**
     * A card of its own with a fifth of the rates of an H200: matmul 4096 at 29.6 TFLOP/s, a chain
     * at 1.2 TB/s there.
     */
    discrete: {
      flops: 6e12 / perSecond,
      bytes: 250e9 / perSecond,
      transfer: 3e9 / perSecond,
    },
    /**
     * One that shares the processor's memory: a twentieth of that arithmetic, and that memory's
     * bandwidth.
     */
    integrated: {
      flops: 300e9 / perSecond,
      bytes: 30e9 / perSecond,
      transfer: 5e9 / perSecond,
    },
  },
} as const;
