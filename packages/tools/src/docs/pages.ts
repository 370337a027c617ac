/** The generated pages by path. Writes nothing. */
import { examplesPage, examplesPagePath } from "../examples/page.ts";
import { coveragePage } from "./coverage.ts";
import { errorsPage } from "./errors.ts";
import { onnxPage } from "./onnx.ts";
import { opsPage } from "./ops.ts";
import { passesPage } from "./passes.ts";
import { packagePages, readmeOf } from "./readmes.ts";
import { referencePages } from "./reference.ts";
import { tfjsOpsPage } from "./tfjs-ops.ts";

export const generatedPages = (): ReadonlyMap<string, string> =>
  new Map([
    ["docs/ops.md", opsPage()],
    ["docs/passes.md", passesPage()],
    ["docs/errors.md", errorsPage()],
    ["docs/onnx.md", onnxPage()],
    ["docs/tfjs-ops.md", tfjsOpsPage()],
    ["docs/coverage.md", coveragePage()],
    ...referencePages(),
    [examplesPagePath, examplesPage()],
    ...packagePages.map((p) => [`${p.folder}/README.md`, readmeOf(p)] as const),
  ]);
