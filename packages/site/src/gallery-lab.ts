/** The pages of demos that learn: what each says and has, its card, and its scripts. */

export interface LabPage {
  /** Of its page and its scripts. */
  readonly name: string;
  readonly title: string;
  /** On its card. */
  readonly card: string;
  readonly intro: string;
  /** Between the buttons and the losses. */
  readonly bench: string;
  /** More buttons. */
  readonly buttons?: string;
  /** What stands right until the step is inspected. */
  readonly step: string;
}

const molecules = (
  [
    ["aspirin", "CC(=O)Oc1ccccc1C(=O)O"],
    ["caffeine", "Cn1cnc2c1c(=O)n(C)c(=O)n2C"],
    ["paracetamol", "CC(=O)Nc1ccc(O)cc1"],
    ["nicotine", "CN1CCCC1c1cccnc1"],
    ["vanillin", "COc1cc(C=O)ccc1O"],
    ["hexane", "CCCCCC"],
  ] as const
)
  .map(([name, smiles]) => `<button type="button" data-smiles="${smiles}">${name}</button>`)
  .join("");

const rhyme =
  "how much wood would a woodchuck chuck if a woodchuck could chuck wood? as much wood as a woodchuck would, if a woodchuck could chuck wood.";

export const labPages: readonly LabPage[] = [
  {
    name: "gpt",
    title: "A tiny GPT",
    card: "Two blocks of attention learn a text of yours by its letters, and go on where you begin.",
    intro:
      "Two blocks of attention learn a text by its letters, in a worker of this page. Any text of a few lines will do; it is sent nowhere.",
    bench: `<label class="field"><span>text to learn</span><textarea id="text" rows="3" spellcheck="false">${rhyme}</textarea></label>
<form id="go" class="row"><input id="prompt" type="text" value="how much" aria-label="begin with" spellcheck="false" autocomplete="off"><label class="row">temperature <input id="temperature" type="range" min="0.1" max="1.5" step="0.1" value="0.4"></label><button>Go on</button></form>
<p id="answer" class="saying" aria-live="polite"></p>`,
    step: "Attention, its gradient, clipping and AdamW: one program.",
  },
  {
    name: "gan",
    title: "Discs and rings",
    card: "A painter and a judge train each other; a grid shows what is painted meanwhile.",
    intro:
      "One network paints from noise, another tells what is painted from what is real. Each learns from the other, in turns.",
    buttons: '<button id="others">Other noise</button>',
    bench:
      '<div class="pair"><figure><canvas id="painted" class="grid" role="img" aria-label="painted"></canvas><figcaption>painted</figcaption></figure><figure><canvas id="real" class="grid" role="img" aria-label="real"></canvas><figcaption>real</figcaption></figure></div>',
    step: "The painter's: it looks through the judge, whose weights stay.",
  },
  {
    name: "unet",
    title: "Cut it out",
    card: "A U-Net learns to tell things from their ground, and marks them in a picture that you drop.",
    intro:
      "A U-Net learns from scenes that are painted here: things on a ground. It marks what stands out; of the world it knows nothing. Drop a picture of something before a plain wall.",
    bench: `<label id="drop" class="drop"><b>Drop a picture anywhere</b><span>or choose one</span><input id="file" type="file" accept="image/*"></label>
<div class="pair"><figure><canvas id="given" role="img" aria-label="the picture"></canvas><figcaption>the picture, 96 × 96</figcaption></figure><figure><canvas id="overlay" role="img" aria-label="what was found"></canvas><figcaption>what was found</figcaption></figure></div>
<div id="scenes" class="strip"></div>
<p id="accuracy" class="note"></p>`,
    step: "Convolutions, pools, bridges, two losses and AdamW.",
  },
  {
    name: "eeg",
    title: "Which hand?",
    card: "Eight electrodes, one second: a network in EEGNet's form hears which hand is imagined to move.",
    intro:
      "A rhythm over each half of the head rests while the opposite hand is imagined to move. The signals are made up, each person's a little different; the network is tried on people that it never heard.",
    bench: `<div class="row"><button id="left">Imagine left</button><button id="right">Imagine right</button><button id="person">Somebody else</button><span id="imagined" class="state"></span></div>
<canvas id="traces" class="traces" role="img" aria-label="signals of one second"></canvas>
<div class="heard"><svg id="head" viewBox="0 0 100 102" role="img" aria-label="where it was read"></svg><div id="scores"></div></div>
<p id="accuracy" class="note"></p>`,
    step: "Filters in time, mixtures of electrodes, powers, and all of their gradients.",
  },
  {
    name: "molecules",
    title: "A molecule's surface",
    card: "A graph network learns the polar surface of molecules; type one and see what each atom gives.",
    intro:
      "A graph network sees made-up molecules and one number each: the polar surface, added up from a table of groups that it is never shown. It learns what each atom gives. Type a molecule as SMILES.",
    bench: `<input id="smiles" class="wide" type="text" value="CC(=O)Oc1ccccc1C(=O)O" aria-label="SMILES" spellcheck="false" autocomplete="off">
<div class="row">${molecules}</div>
<svg id="molecule" class="molecule" role="img" aria-label="the molecule"></svg>
<p id="surface" class="saying" aria-live="polite"></p>
<div class="heard"><canvas id="agreement" role="img" aria-label="learned surface over surface by the table"></canvas><p id="accuracy" class="note"></p></div>`,
    step: "Two rounds between neighbours, a sum over atoms, and their gradients.",
  },
];

export const labBody = ({ title, intro, bench, buttons = "", step, name }: LabPage): string =>
  `<main class="stage">
<section class="work">
<h1>${title}</h1>
<p>${intro}</p>
<div class="bar"><select id="target" aria-label="target"><option>wasm</option><option>js</option><option>webgpu</option></select><button id="train" class="main">Train again</button>${buttons}</div>
<p id="state" class="state" role="status"></p>
${bench}
<div id="losses"></div>
${name === "gpt" ? '<ol id="said" reversed></ol>' : ""}
</section>
<section class="right-pane"><div class="empty"><div><b>The training step</b>${step} It is shown here once it has run.</div></div><iframe id="inspector" title="inspector"></iframe></section>
</main>`;
