/**
 * The worker of a demo that learns: trains off the page's thread, shows how it goes, and answers
 * between two steps.
 */
import type { Inspection } from "@kiln-ml/inspector";
import { openTarget } from "../device.ts";
import type { FromLab, Losses, ToLab } from "./messages.ts";

/** A network in training. Questions and answers are what its page and it agree on. */
export interface Experiment<View, Question, Answer> {
  readonly steps: number;
  /** Steps from one view to the next. */
  readonly every: number;
  step(): Promise<Losses>;
  view(): Promise<View>;
  ask(question: Question): Promise<Answer>;
  /** Of its training step, once it has run. */
  inspect(): Promise<Inspection>;
}

interface Scope {
  postMessage(message: FromLab): void;
  addEventListener(kind: "message", listen: (event: { readonly data: ToLab }) => void): void;
}

/** `make` begins with what the page gave, and is told of the steps that will be made. */
export function serveLab<Given, View, Question, Answer>(
  steps: number,
  make: (given: Given, steps: number) => Experiment<View, Question, Answer>,
): void {
  const scope = globalThis as unknown as Scope;
  const post = (message: FromLab): void => scope.postMessage(message);
  let running: Experiment<View, Question, Answer> | undefined;
  /** The last question that came before there was somebody to answer. */
  let early: Question | undefined;

  const ask = async (question: Question): Promise<void> => {
    if (running) post({ kind: "answer", answer: await running.ask(question) });
    else early = question;
  };

  const train = async ({ target, given, steps: wanted = steps }: ToLab & { kind: "train" }) => {
    post({ kind: "ready", device: await openTarget(target), steps: wanted });
    const experiment = make(given as Given, wanted);
    for (let step = 1; step <= wanted; step++) {
      const losses = await experiment.step();
      if (step === 1) post({ kind: "inspection", inspection: await experiment.inspect() });
      running = experiment;
      if (step % experiment.every === 0 || step === 1 || step === wanted)
        post({ kind: "view", view: await experiment.view() });
      if (early !== undefined) await ask(early);
      early = undefined;
      post({ kind: "step", step, losses });
    }
  };

  scope.addEventListener("message", ({ data }) => {
    const done = data.kind === "train" ? train(data) : ask(data.question as Question);
    done.catch((error) => post({ kind: "failed", text: String(error) }));
  });
}
