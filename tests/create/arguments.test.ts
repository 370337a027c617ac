/**
 * The command line of `npm create kiln-app`: what is refused, by which words, and what a terminal
 * is asked.
 */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { chosen, readFlags } from "../../packages/create-kiln-app/src/command.ts";

const refusal = async (made: () => unknown): Promise<string> => {
  try {
    await made();
  } catch (error) {
    assert.is((error as Error).name, "Refusal");
    return (error as Error).message;
  }
  throw new Error("was not refused");
};

const names = "train, page, onnx, server";
const refused: readonly [args: readonly string[], message: string][] = [
  [["a", "-t", "pgae"], 'there is no template "pgae"\n  did you mean page?'],
  [["a", "-t", "Train"], 'there is no template "Train"\n  did you mean train?'],
  [["a", "-t", "react"], `there is no template "react"\n  it is ${names}`],
  [["a", "-t", "__proto__"], `there is no template "__proto__"\n  it is ${names}`],
  [["a", "--template"], `--template needs a name\n  it is ${names}`],
  [["a", "--template="], `--template needs a name\n  it is ${names}`],
  [["a", "-t", "--help"], `--template needs a name\n  it is ${names}`],
  [["a", "-t", "page", "-t", "page"], "--template is given twice"],
  [["a", "--tempalte", "page"], "there is no option --tempalte\n  did you mean --template?"],
  [["a", "-x"], "there is no option -x\n  --help lists them"],
  [["a", "page"], "npm kept --template for itself\n  npm create kiln-app a -- --template page"],
  [["a", "b", "-t", "page"], 'one folder, please: "a" and "b" are given'],
  [["-t", "page"], "which folder is missing\n  npm create kiln-app my-app -- --template page"],
  [[], "which folder is missing\n  npm create kiln-app my-app -- --template train"],
  [["a"], `which template is missing\n  --template is ${names}`],
];

test("wrong arguments are refused by one line and what mends them", async () => {
  for (const [args, message] of refused)
    assert.is(await refusal(() => chosen(readFlags(args))), message, args.join(" "));
});

test("a terminal is asked for what flags leave open, until it is right", async () => {
  const asking = (...answers: string[]) => {
    const asked: string[] = [];
    const ask = async (question: string): Promise<string> => {
      asked.push(question);
      return answers.shift()!;
    };
    return { asked, ask };
  };
  const both = asking(" mine ", "sever", "9", "2");
  const { folder: place, template } = await chosen(readFlags([]), both.ask);
  assert.equal([place, template.name], ["mine", "page"]);
  assert.match(both.asked[2]!, /did you mean server\?/);
  assert.is(both.asked.length, 4);
  const defaults = await chosen(readFlags([]), asking("", "").ask);
  assert.equal([defaults.folder, defaults.template.name], ["kiln-app", "train"]);
  const none = asking();
  await chosen(readFlags(["a", "-t", "onnx"]), none.ask);
  assert.equal(none.asked, []);
});

test.run();
