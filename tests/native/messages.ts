/** The message of what a call throws, or a promise rejects with, which must be of the class. */
import * as assert from "uvu/assert";

type Class = abstract new (...args: never[]) => Error;

function messageOf(error: unknown, type: Class): string {
  assert.instance(error, type);
  return (error as Error).message;
}

export function thrown(call: () => unknown, type: Class): string {
  try {
    call();
  } catch (error) {
    return messageOf(error, type);
  }
  return assert.unreachable("nothing was thrown") as never;
}

export async function rejection(promise: Promise<unknown>, type: Class): Promise<string> {
  try {
    await promise;
  } catch (error) {
    return messageOf(error, type);
  }
  return assert.unreachable("nothing was rejected") as never;
}
