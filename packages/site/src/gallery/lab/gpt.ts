/**
 * The page of the tiny GPT: a text to learn, what it says meanwhile, and a beginning to go on from.
 */
import { byId, h } from "../../play/dom.ts";
import { Lab } from "./page.ts";
import type { Prompt, Said } from "./views.ts";

const said = ({ prompt, continued }: Said) => [h("span", {}, prompt), continued];

const lab = new Lab<Said, Prompt, Said>({
  worker: "gpt-worker.js",
  given: () => byId<HTMLTextAreaElement>("text").value,
  onStart() {
    byId("said").replaceChildren();
    byId("answer").replaceChildren();
  },
  onView(view) {
    byId("said").prepend(h("li", {}, ...said(view)));
  },
  onAnswer(answer) {
    byId("answer").replaceChildren(...said(answer));
  },
});

byId("go").addEventListener("submit", (event) => {
  event.preventDefault();
  lab.ask({
    prompt: byId<HTMLInputElement>("prompt").value,
    length: 120,
    temperature: Number(byId<HTMLInputElement>("temperature").value),
  });
});
lab.train();
