/**
 * The picture of the inspector in the README: a training step of a small network of the examples' kind, profiled and opened at a
 * kernel, as Chromium shows it. Needs the browser that the tests unpack: `npm run picture`.
 */
import { mkdirSync } from "node:fs";
import { join, resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { writeFileAtomic } from "@kiln-ml/artifact/node";
import { inspectionPage } from "@kiln-ml/inspector/node";
import { compile, nn, optim, type Tensor } from "kiln-ml";
import { chromium } from "playwright-core";

class Digits extends nn.Module {
  conv1 = new nn.Conv2d(1, 16, 3);
  conv2 = new nn.Conv2d(16, 32, 3);
  fc1 = new nn.Linear(32 * 24 * 24, 64);
  fc2 = new nn.Linear(64, 10);
  override forward(x: Tensor): Tensor {
    const maps = this.conv2.forward(this.conv1.forward(x).relu()).relu();
    return this.fc2.forward(this.fc1.forward(maps.flatten(1)).relu());
  }
}

nn.seed(1);
const net = new Digits();
const opt = new optim.Adam(net.parameters(), { lr: 1e-3 });
const train = (x: Tensor, y: Tensor): Tensor => {
  const loss = nn.crossEntropy(net.forward(x), y);
  opt.step(loss);
  return loss;
};
const step = compile(train, { target: "wasm", name: "digits" });
const images = { data: new Float32Array(32 * 784).fill(0.1), shape: [32, 1, 28, 28] };
const labels = { data: new Int32Array(32), shape: [32] };
const inspection = await step.inspect({
  profile: [images, labels],
  site: (site) => site.replace(/^.*[\\/]/, "").replace("inspector-picture", "train"),
});

const folder = process.env.KILN_CHROMIUM;
if (!folder) throw new Error("no browser: run it by npm run picture");
const scratch = resolve("node_modules/.cache/kiln-picture");
mkdirSync(scratch, { recursive: true });
const page = join(scratch, "inspector.html");
await writeFileAtomic(page, new TextEncoder().encode(await inspectionPage(inspection)));
const env = {
  ...process.env,
  LD_LIBRARY_PATH: `${process.env.LD_LIBRARY_PATH}:${join(folder, "lib")}`,
} as Record<string, string>;
const browser = await chromium.launch({
  executablePath: join(folder, "chromium"),
  args: ["--no-sandbox", "--disable-dev-shm-usage"],
  env,
});
const tab = await browser.newPage({ viewport: { width: 1120, height: 690 } });
const longest = inspection.profile!.rows[0]!.kernel;
await tab.goto(`${pathToFileURL(page).href}#kernel-${longest}`);
await tab.waitForSelector(".kernel.selected");
const picture = await tab.screenshot({ type: "png" });
await browser.close();
mkdirSync("docs/images", { recursive: true });
await writeFileAtomic(resolve("docs/images/inspector.png"), picture);
console.log(`wrote docs/images/inspector.png, ${picture.length} bytes`);
