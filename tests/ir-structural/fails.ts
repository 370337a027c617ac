/** A test of one error: the call, its message word for word, its class. */
import { type DtypeError, type GraphError, ShapeError } from "@kiln-ml/ir";
import { test } from "uvu";
import * as assert from "uvu/assert";

type Class = typeof ShapeError | typeof DtypeError | typeof GraphError;

export function fails(build: () => unknown, message: string, type: Class = ShapeError): void {
  test(message.split("\n")[0]!, () => {
    try {
      build();
    } catch (e) {
      assert.is((e as Error).message, message);
      assert.instance(e, type);
      return;
    }
    assert.unreachable("no error");
  });
}
