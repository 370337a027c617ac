/** What stands on the pages of the gallery. */
import { labPages } from "./gallery-lab.ts";

const targets =
  '<select id="target" aria-label="target"><option>wasm</option><option>js</option><option>webgpu</option></select>';

export const digitsBody = `<main class="stage">
<section class="work">
<h1>Draw a digit</h1>
<p>Two convolutions and a linear layer learn from 2,000 digits, in a worker of this page. Draw while they learn.</p>
<div class="bar">${targets}<button id="train" class="main">Train again</button><button id="clear">Clear</button><span id="state" class="state" role="status"></span></div>
<div class="bench">
<div class="sheet"><canvas id="sheet" width="280" height="280" tabindex="0" aria-label="draw a digit here"></canvas><output id="guess"></output></div>
<div id="scores"></div>
</div>
<canvas id="losses" class="plot" role="img" aria-label="loss"></canvas>
<p id="accuracy" class="note">loss, and digits that were held back</p>
<div id="held"></div>
</section>
<section class="right-pane"><div class="empty"><div><b>The training step</b>One program: forward, gradients, AdamW. It is shown here once it has run.</div></div><iframe id="inspector" title="inspector"></iframe></section>
<button id="inspect" hidden>inspect</button>
</main>`;

export const onnxBody = `<main class="stage">
<section class="work">
<h1>Drop an ONNX file</h1>
<p>The file is compiled and run here; it is sent nowhere. Inputs are made up, or filled with a picture that you drop.</p>
<label id="drop" class="drop"><b>Drop a model or a picture anywhere</b><span>or choose one</span><input id="file" type="file" multiple accept=".onnx,image/*"></label>
<div class="bar">${targets}<button id="again" class="main">Run</button><span id="state" class="state" role="status"></span></div>
<h2 id="name"></h2>
<ul id="inputs"></ul>
<div class="pictures"><canvas id="given" hidden role="img" aria-label="input picture"></canvas><div id="results"></div></div>
</section>
<section class="right-pane"><div class="empty"><div><b>The model's kernels</b>What the file is compiled to is shown here once it has run.</div></div><iframe id="inspector" title="inspector"></iframe></section>
</main>`;

export const chatBody = `<main class="stage talking">
<section class="work">
<h1>Talk to a model</h1>
<p>A language model answers in a worker of this page. The one that is here tells stories of animals, and knows nothing else; drop a GGUF file, or the folder of a Llama, Qwen, Gemma, Phi, Mistral or GPT-2, to talk to that. It is sent nowhere.</p>
<label id="drop" class="drop"><b>Drop a .gguf file or a folder anywhere</b><span>or choose files</span><input id="file" type="file" multiple accept=".gguf,.json,.safetensors,.jinja"></label>
<div class="bar">${targets}<button id="fresh">New conversation</button><label class="row">temperature <input id="temperature" type="range" min="0" max="1.5" step="0.1" value="0"></label></div>
<p id="model" class="note"></p>
<ol id="talk" class="talk" aria-live="polite"></ol>
<form id="say" class="row"><textarea id="text" rows="2" aria-label="say" spellcheck="false" autocomplete="off"></textarea><button id="send" class="main" disabled>Send</button><button id="stop" type="button" disabled>Stop</button></form>
<p id="state" class="state" role="status"></p>
</section>
</main>`;

interface Card {
  readonly href: string;
  readonly title: string;
  readonly text: string;
  readonly picture: string;
}

const list: readonly Card[] = [
  {
    href: "digits.html",
    title: "Draw a digit",
    text: "A convolutional network is trained in front of you, and reads what you draw meanwhile.",
    picture: "digits",
  },
  {
    href: "onnx.html",
    title: "Drop an ONNX file",
    text: "Compiled in the page, run on pictures that you drop, and inspected.",
    picture: "onnx",
  },
  {
    href: "chat.html",
    title: "Talk to a model",
    text: "A language model writes token by token; drop a GGUF file or a folder to talk to yours.",
    picture: "chat",
  },
  ...labPages.map(({ name, title, card }) => ({
    href: `${name}.html`,
    title,
    text: card,
    picture: name,
  })),
  {
    href: "../playground/index.html#picture",
    title: "A picture, learnt",
    text: "From the place of a pixel to its colour: watch a network paint.",
    picture: "picture",
  },
  {
    href: "../playground/index.html#circle",
    title: "Inside or outside",
    text: "The smallest training loop, with the boundary that it finds.",
    picture: "circle",
  },
];

export const pictured = list.map(({ picture }) => picture);

export const cards = `<main class="page wide"><h1>Gallery</h1>
<p>Everything here trains or runs in your browser, in a worker, on files of this site alone. Choose the target; look inside.</p>
<div class="cards">${list
  .map(
    ({ href, title, text, picture }) =>
      `<a class="card" href="${href}"><img src="../images/${picture}.png" alt="" width="640" height="400" loading="lazy"><b>${title}</b><span>${text}</span></a>`,
  )
  .join("")}</div></main>`;
