/** The backend on a target for the time of a test, beside tfjs's own cpu backend. */
import "@tensorflow/tfjs-backend-cpu";
// Registers the gradients of the kernels.
import "@tensorflow/tfjs-layers";
import { setTarget } from "@kiln-ml/tfjs";
import * as tf from "@tensorflow/tfjs-core";
import type { TargetName } from "kiln-ml";

// It advertises its Node bindings once.
tf.env().set("IS_NODE", false);

let opened: TargetName | undefined;

/** `work` on Kiln's backend, after which tensors are made by the cpu backend again. */
export async function onKiln<T>(target: TargetName, work: () => T | Promise<T>): Promise<T> {
  if (opened !== target) {
    if (tf.engine().registryFactory.kiln) reopen();
    setTarget(target);
    opened = target;
  }
  await tf.setBackend("kiln");
  try {
    return await work();
  } finally {
    await tf.setBackend("cpu");
  }
}

/** Forgets the backend that is open, so that the next one is opened anew. */
function reopen(): void {
  const { factory, priority } = tf.engine().registryFactory.kiln!;
  tf.removeBackend("kiln");
  tf.registerBackend("kiln", factory, priority);
}

export async function onCpu<T>(work: () => T | Promise<T>): Promise<T> {
  await tf.setBackend("cpu");
  return work();
}
