/** A test for each act that is refused, word for word. */
import { test } from "uvu";
import * as assert from "uvu/assert";

export type Refusal = readonly [message: string, act: () => unknown];

export function areRefused(cases: readonly Refusal[]): void {
  for (const [message, act] of cases)
    test(message.split("\n")[0]!, async () => {
      const found = await Promise.resolve()
        .then(act)
        .then(
          () => "nothing is refused",
          (e: Error) => e.message,
        );
      assert.is(found, message);
    });
}
