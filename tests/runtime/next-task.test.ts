/** A task of its own comes wherever the runtime is, whatever of Node and of pages is there. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { breathe } from "../../packages/train/src/interrupt.ts";
import { nextTask } from "../../runtime/src/devices/pressure.ts";

const names = ["setImmediate", "MessageChannel"] as const;

/** Runs `body` with these in the place of what brings tasks. */
async function withGlobals(
  values: Readonly<Record<(typeof names)[number], unknown>>,
  body: () => Promise<void>,
): Promise<void> {
  const kept = names.map((name) => Object.getOwnPropertyDescriptor(globalThis, name)!);
  for (const name of names)
    Object.defineProperty(globalThis, name, { value: values[name], configurable: true });
  try {
    await body();
  } finally {
    names.forEach((name, i) => {
      Object.defineProperty(globalThis, name, kept[i]!);
    });
  }
}

const throwing = function refused(): never {
  throw new Error("A Node.js API is used which is not supported in the Edge Runtime.");
};
const { setImmediate, MessageChannel } = globalThis;
const places = {
  Node: { setImmediate, MessageChannel },
  "a page": { setImmediate: undefined, MessageChannel },
  "an edge with functions that throw": { setImmediate: throwing, MessageChannel: throwing },
  "a place that has neither": { setImmediate: undefined, MessageChannel: undefined },
};
for (const [place, values] of Object.entries(places))
  for (const task of [nextTask, breathe])
    test(`${task.name} resolves in ${place}, after all that was due at once`, async () => {
      await withGlobals(values, async () => {
        const order: string[] = [];
        const brought = task().then(() => order.push("task"));
        await Promise.resolve().then(() => order.push("turn"));
        await brought;
        assert.equal(order, ["turn", "task"]);
      });
    });

test.run();
