/** The templates by name, each a folder of files beside the sources. */
import { near, Refusal } from "./refusal.ts";

export interface Template {
  readonly name: string;
  readonly title: string;
  /** The script of its package.json to run first. */
  readonly script: string;
}

export const templates: readonly Template[] = [
  { name: "train", title: "train a network in Node", script: "start" },
  { name: "page", title: "a model of your own in a page, by Vite", script: "dev" },
  { name: "onnx", title: "an ONNX file in a page, by Vite", script: "dev" },
  { name: "server", title: "a model behind HTTP, in Node", script: "start" },
];

export const templateNames: readonly string[] = templates.map(({ name }) => name);

/** Throws Refusal for a name of none. */
export function templateNamed(name: string): Template {
  const found = templates.find((t) => t.name === name);
  if (found) return found;
  const meant = near(name, templateNames);
  throw new Refusal(
    `there is no template ${JSON.stringify(name)}\n  ${meant ? `did you mean ${meant}?` : `it is ${templateNames.join(", ")}`}`,
  );
}
