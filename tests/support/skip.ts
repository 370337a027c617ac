/**
 * Tests that cannot run here are registered by name, so the runner counts and lists them. What a machine of ours
 * always has (a software adapter, a browser) is not skipped in CI: there its absence is a failure.
 */
import { test } from "uvu";

declare global {
  var KILN_SKIPPED: { name: string; reason: string }[] | undefined;
}

const inCI = Boolean(process.env.CI);

/** Counts a test that cannot run here and never in CI either, such as one on data that is not in the repository. */
export function skip(name: string, reason: string): void {
  // A file run by itself, without the runner, tells at once.
  if (globalThis.KILN_SKIPPED === undefined) console.log(`skipped: ${name} (${reason})`);
  else globalThis.KILN_SKIPPED.push({ name, reason });
}

/** Skips a test for want of something every CI machine has; in CI it fails instead. */
export function missing(name: string, reason: string): void {
  if (inCI) {
    test(name, () => {
      throw new Error(reason);
    });
  } else {
    skip(name, reason);
  }
}
