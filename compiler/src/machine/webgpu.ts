/**
 * WebGPU: what every device has, a card, and what was found best on it. Schedules, fusion and the
 * printer's target ask; none has numbers of its own.
 */
import type { Card } from "./machine.ts";

/** What every WebGPU device guarantees (WebGPU 3.6.2; 2024-12). */
export const guaranteed = {
  maxStorageBuffersPerShaderStage: 8,
  maxStorageBufferBindingSize: 134217728,
  maxBufferSize: 268435456,
  maxComputeWorkgroupStorageSize: 16384,
  maxComputeInvocationsPerWorkgroup: 256,
  maxComputeWorkgroupsPerDimension: 65535,
};

/**
 * NVIDIA H200. Units and registers: its data sheet (2023-11). Rates: a product of 4096³ takes
 * 2.85 ms, a chain of elementwise ops moves 1.2 TB/s. A launch: an empty kernel after another
 * takes 7 µs, and what a chain whose memory is in cache moves meanwhile (2026-11).
 */
export const card: Card = {
  name: "NVIDIA H200",
  flops: 48e12,
  bytes: 1.2e12,
  launch: 7e-6,
  launchBytes: 12e6,
  units: 132,
  registers: 65536,
  tileLines: 128,
};

/** What one workgroup may do alone, in elements, tried on the card (2026-11). */
export const alone = {
  /** A row is walked by one workgroup, once a phase. */
  row: 1 << 16,
  /** A reduction over rows as well keeps the whole device waiting for one workgroup. */
  total: 1 << 18,
  /** Beside another kernel's work, four an invocation: less than a launch takes. */
  guest: 1024,
};

/** Reductions of rows, tried on the card (2026-11). */
export const rows = {
  /** Rows up to this long are one invocation's work. */
  short: 32,
  /** Fewer columns than this leave most of a device idle, unless their rows are short. */
  leastColumns: 256,
  /** Invocations of a workgroup that each have a row or a column. */
  group: 64,
  /** Inner loops of at most this many iterations are written out. */
  unrolled: 9,
};

/** Rows that a team shares, tried on the card (2026-11). */
export const rowTeams = {
  /**
   * Steps an invocation should take: fewer leave invocations idle while they combine, more wait for
   * one another's loads. The first is taken where nothing was measured.
   */
  steps: [4, 1, 2, 8, 16],
  /** Steps whose values registers hold, of four elements and of one. */
  mostWideSteps: 8,
  mostSteps: 32,
  /**
   * A team of at least so many invocations has a workgroup of its own, which is at least one
   * subgroup on most devices.
   */
  ownGroup: 32,
  /** Invocations of a workgroup that several teams share. */
  sharedGroup: 128,
};

/** Columns that a team shares, tried on the card (2026-11). */
export const columnTeams = {
  /** Columns of a workgroup: neighbours, so that a memory access takes whole sectors. */
  widths: [8, 4, 16, 32, 64],
  /** A short column's are more, as a few invocations have soon walked it. */
  wide: 32,
  short: 128,
  /** With more columns than this each has a workgroup's worth of neighbours and work for all. */
  most: 1 << 14,
  leastRows: 64,
};

/** Scans, tried on the card (2026-11). */
export const scans = {
  /** Invocations that each have a line, or share one. */
  group: 64,
  /** Shorter lines do not pay for what a workgroup says to itself. */
  leastLine: 128,
  /** So many lines side by side keep the device busy, and are read together. */
  manyLines: 4096,
  /** Elements of a line that are worth a whole workgroup. */
  wide: 1024,
  /** Tiles of a line that an invocation has registers for. */
  mostHeld: 8,
};

/** Scatters, counted for the card (2026-11); what a walk of one invocation takes was measured. */
export const scatters = {
  /** An invocation takes 0.27 µs for an update or a row, so that so many are a launch or two. */
  walked: 64,
  /** Updates that a workgroup lists at a time, with two words and a little for each. */
  tile: 1024,
  /** Neighbours whose updates are counted together: a place in the list is two short sums. */
  run: 16,
  /** Workgroups read all indices, so that rows are shared out among no more than these. */
  leastGroups: 512,
  /** Neighbours that a memory access takes at once. */
  leastColumns: 32,
  /** Of an extent that has no bound. */
  usual: 1 << 16,
};

/** Workgroups of an attention that keep the card busy (2026-11). */
export const busyAttention = 192;
