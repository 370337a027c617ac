/** The flags of `npm start`: a wrong one is told in two lines, and `--help` lists them. */
import { test } from "uvu";
import * as assert from "uvu/assert";
import { runScript } from "./script.ts";

const scripts = {
  "packages/tools/start.mjs": /\[--epochs 3\]/,
};

for (const [script, listed] of Object.entries(scripts)) {
  test(`${script} --help lists its flags and runs nothing`, async () => {
    const { code, out, err } = await runScript(script, ["--help"]);
    assert.equal([code, err], [0, ""], err);
    assert.match(out, /^usage: npm (start|run) /);
    assert.match(out, listed);
  });

  test(`${script} tells a flag that does not exist without a stack`, async () => {
    const { code, err } = await runScript(script, ["--no-such-flag"]);
    assert.is(code, 2);
    assert.match(err, /^.+: Unknown option '--no-such-flag'\n {2}.*--help.*\n$/);
  });
}

test.run();
