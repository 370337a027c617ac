/** The views that are lists: kernels with what they cost, and what the compiler did. */
import { bytes, count, flops, milliseconds, percent } from "./amounts.ts";
import { h, link, table } from "./dom.ts";
import type { Model } from "./model.ts";

/** A column: what it shows, and the number that it is sorted by. */
interface Column {
  readonly name: string;
  readonly text: (kernel: number) => Node | string;
  readonly value: (kernel: number) => number;
}

export function kernelsView(model: Model, go: (hash: string) => void): HTMLElement {
  const { data, times } = model;
  const of = (k: number) => data.kernels[k]!;
  const all = data.kernels.map((_, i) => i);
  const timed: Column[] = [
    {
      name: "time",
      text: (k) => milliseconds(times.get(k)?.ms ?? 0),
      value: (k) => times.get(k)?.ms ?? 0,
    },
    {
      name: "predicted",
      text: (k) => milliseconds((times.get(k)?.ms ?? 0) * (times.get(k)?.fraction ?? 0)),
      value: (k) => (times.get(k)?.ms ?? 0) * (times.get(k)?.fraction ?? 0),
    },
    {
      name: "of limit",
      text: (k) =>
        times.get(k) ? `${percent(times.get(k)!.fraction)} ${times.get(k)!.bound}` : "",
      value: (k) => times.get(k)?.fraction ?? 0,
    },
  ];
  const columns: Column[] = [
    { name: "step", text: (k) => link(`kernel-${k}`, `${k} ${of(k).name}`), value: (k) => -k },
    ...(times.size ? timed : []),
    {
      name: "bytes",
      text: (k) => bytes(of(k).bytes * of(k).times),
      value: (k) => of(k).bytes * of(k).times,
    },
    {
      name: "operations",
      text: (k) => flops(of(k).flops * of(k).times),
      value: (k) => of(k).flops * of(k).times,
    },
    {
      name: "nodes",
      text: (k) => count(of(k).members.length + of(k).inlined.length),
      value: (k) => of(k).members.length + of(k).inlined.length,
    },
  ];
  const body = h("div", { class: "scroll" });
  let by = times.size ? 1 : 0;
  const draw = (): void => {
    const { value } = columns[by]!;
    const rows = [...all].sort((a, b) => value(b) - value(a) || a - b);
    const made = table(
      [...columns.map((c) => c.name), "module"],
      rows.map((k) => [...columns.map((c) => c.text(k)), of(k).module ?? ""]),
      columns.flatMap((_, i) => (i ? [i] : [])),
    );
    for (const [i, th] of [...made.querySelectorAll("th")].entries()) {
      if (i >= columns.length) continue;
      const button = h("button", { type: "button", title: "sort by it" }, th.textContent ?? "");
      button.addEventListener("click", () => {
        by = i;
        draw();
      });
      th.setAttribute("aria-sort", i === by ? "descending" : "none");
      th.replaceChildren(button);
    }
    for (const [i, row] of [...made.querySelectorAll("tbody tr")].entries())
      row.addEventListener("click", () => go(`kernel-${rows[i]}`));
    body.replaceChildren(made);
  };
  draw();
  const note = data.profile
    ? `Medians of ${data.profile.runs} runs on ${data.profile.device}, by ${data.profile.timing}. Limits: ${bytes(data.profile.limits.bytes)}/s and ${flops(data.profile.limits.flops)} operations a second, ${data.profile.limits.from}.`
    : "Nothing was timed; bytes and operations are counts of one run.";
  return h("section", { class: "view list" }, h("p", { class: "note" }, note), body);
}

export function stagesView(model: Model, go: (hash: string) => void): HTMLElement {
  const { stages, compileMs } = model.data;
  if (!stages.length)
    return h(
      "section",
      { class: "view list" },
      h("p", { class: "none" }, "An artifact does not tell how it was made."),
    );
  const most = Math.max(...stages.map((s) => s.ms), 1e-9);
  const rows = stages.map((s, i) => {
    const bar = h("span", { class: "bar" });
    bar.style.width = `${Math.max(0.5, (100 * s.ms) / most)}%`;
    const change = s.removed
      ? s.removed.length || s.added?.length
        ? `−${count(s.removed.length)} +${count(s.added?.length ?? 0)}`
        : "nothing"
      : "";
    return [
      link(`stage-${i}`, s.name),
      count(s.size),
      change,
      i ? milliseconds(s.ms) : "",
      h("div", { class: "bars" }, bar),
    ];
  });
  const made = table(["stage", "nodes or kernels", "changed", "time", ""], rows, [1, 2, 3]);
  for (const [i, row] of [...made.querySelectorAll("tbody tr")].entries())
    row.addEventListener("click", () => go(`stage-${i}`));
  const note = `Compiled in ${milliseconds(compileMs ?? 0)}. Choose a stage to see what it removed and added.`;
  return h(
    "section",
    { class: "view list" },
    h("p", { class: "note" }, note),
    h("div", { class: "scroll" }, made),
  );
}
