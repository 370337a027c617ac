/** How the page looks, light and dark. Fonts are those of the system: a page that asks for none asks nobody. */
const light =
  "--paper:#fbfaf7;--sheet:#ffffff;--ink:#23211d;--faint:#6d675c;--line:#ddd8cc;--accent:#b4501a;--soft:#f3efe6;--near:#b4501a;--add:#1d6b3c;--drop:#a0302a;" +
  "--map:#dfe9f3;--rows:#e2efdc;--scan:#d9efec;--contraction:#f8e4d3;--scatter:#efe0f1;--sort:#f3ecc9;--control:#e4e2ee;--attention:#f6d9dc;--copy:#ece8df;--heat:#b4501a;--live:#c98a5f";
const dark =
  "--paper:#191816;--sheet:#211f1c;--ink:#ece7dc;--faint:#a49c8d;--line:#3b3731;--accent:#f0955c;--soft:#2a2723;--near:#f0955c;--add:#7fcf9c;--drop:#f08f86;" +
  "--map:#27394b;--rows:#2c3f27;--scan:#203f3b;--contraction:#4b3422;--scatter:#422e47;--sort:#423c1e;--control:#343147;--attention:#4b2a2e;--copy:#35312a;--heat:#f0955c;--live:#a0622f";

const kinds = [
  "map",
  "rows",
  "scan",
  "contraction",
  "scatter",
  "sort",
  "control",
  "attention",
  "copy",
];

export const style = `
:root{color-scheme:light;${light}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;${dark}}}
:root[data-theme=dark]{color-scheme:dark;${dark}}
*{box-sizing:border-box}
html,body{height:100%;margin:0}
body{display:grid;grid-template:auto minmax(0,1fr)/minmax(0,11fr) minmax(0,9fr);font:14px/1.45 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
header{grid-column:1/-1;display:flex;gap:14px;align-items:center;padding:8px 16px;border-bottom:1px solid var(--line);background:var(--sheet)}
header .name{font-weight:650;font-size:16px;color:inherit;text-decoration:none;max-width:30ch;overflow:hidden;text-overflow:ellipsis;white-space:nowrap}
.note,.hint{color:var(--faint)}
p.note{margin:0;padding:10px 16px}
.none{color:var(--faint);padding:0 16px}
aside .none{padding:0}
nav{display:flex;gap:2px}
nav a{padding:4px 10px;border-radius:6px;color:inherit;text-decoration:none}
nav a:hover{background:var(--soft)}
nav a[aria-current]{background:var(--soft);color:var(--accent);font-weight:600}
.search{position:relative;margin-left:auto;flex:0 1 340px}
.search input{width:100%;font:inherit;padding:5px 10px;border:1px solid var(--line);border-radius:6px;background:var(--paper);color:inherit}
.found{position:absolute;z-index:5;top:100%;right:0;width:min(560px,92vw);max-height:60vh;overflow:auto;margin:4px 0;padding:4px;list-style:none;background:var(--sheet);border:1px solid var(--line);border-radius:8px;box-shadow:0 6px 24px #0003}
.found[hidden]{display:none}
.found li{padding:4px 8px;border-radius:5px;cursor:pointer;overflow-wrap:anywhere}
.found li span{color:var(--faint)}
.found li[aria-selected=true]{background:var(--soft)}
main{min-height:0;min-width:0;position:relative;border-right:1px solid var(--line)}
.view{position:absolute;inset:0;display:flex;flex-direction:column}
.scroll{overflow:auto;flex:1;padding:0 16px 16px}
.graph{width:100%;flex:1;min-height:0;touch-action:none;cursor:grab;user-select:none;display:block}
.graph.dragged{cursor:grabbing}
.graph text,.memory text{font-size:12px;fill:var(--ink);font-family:ui-monospace,monospace}
.graph .note,.memory .note{fill:var(--faint);font-size:11px}
.graph.far text{display:none}
.graph g[role=button]{cursor:pointer;outline:none}
.graph g:focus-visible>rect:first-child{stroke:var(--accent);stroke-width:2.5}
.cluster>rect{fill:var(--soft);stroke:var(--line)}
.cluster.open>rect{fill:var(--soft);fill-opacity:.45}
.cluster>.title{font-weight:650}
.kernel>rect:first-child{fill:var(--copy);stroke:var(--line)}
${kinds.map((k) => `.kernel.${k}>rect:first-child{fill:var(--${k})}.chip.${k}{background:var(--${k})}`).join("")}
.kernel.near>rect:first-child{stroke:var(--near);stroke-width:1.5}
.kernel.selected>rect:first-child{stroke:var(--near);stroke-width:3}
.kernel .heat{fill:var(--heat)}
.route{fill:none;stroke:var(--faint);stroke-opacity:.55}
.route.near{stroke:var(--near);stroke-opacity:1}
#arrow path{fill:var(--faint)}
.tools{position:absolute;right:12px;top:10px;display:flex;gap:4px}
.tools button,th button{font:inherit;border:1px solid var(--line);border-radius:6px;background:var(--sheet);color:inherit;padding:2px 9px;cursor:pointer}
.tools button:hover{background:var(--soft)}
.legend{display:flex;flex-wrap:wrap;gap:6px;padding:7px 12px;font-size:12px;align-items:center;border-top:1px solid var(--line);background:var(--sheet)}
.chip{background:var(--copy);border-radius:10px;padding:1px 9px;font:12px ui-monospace,monospace;font-weight:400}
h2 .chip{margin-left:10px;vertical-align:middle}
aside{overflow:auto;min-height:0;background:var(--sheet);container-type:inline-size;outline:none}
article{padding:14px 18px 30px}
h2{margin:0 0 8px;font:600 18px ui-monospace,monospace;overflow-wrap:anywhere}
h3{margin:18px 0 6px;font-size:13px;color:var(--faint);font-weight:600}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,button:focus-visible,input:focus-visible{outline:2px solid var(--accent);outline-offset:1px}
dl{display:grid;grid-template-columns:max-content minmax(0,1fr);gap:3px 14px;margin:0}
dt{color:var(--faint)}
dd{margin:0;overflow-wrap:anywhere}
ul{margin:0;padding-left:18px}
li{margin:2px 0}
.reason{overflow-wrap:anywhere}
.why{background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:0 5px;font:12px ui-monospace,monospace}
.beside{display:grid;gap:0 14px;grid-template-columns:minmax(0,1fr)}
@container (min-width:640px){.beside{grid-template-columns:minmax(0,1fr) minmax(0,1fr)}}
.code{margin:0;padding:9px 11px;background:var(--paper);border:1px solid var(--line);border-radius:6px;font:12px/1.5 ui-monospace,monospace;overflow:auto;max-height:70vh;white-space:pre;tab-size:2}
.ir{white-space:pre-wrap;overflow-wrap:anywhere;padding-left:3ch;text-indent:-3ch}
.ir a{color:inherit;text-decoration-color:var(--line)}
.ir.inlined{color:var(--faint)}
.ir.removed{color:var(--drop)}
.ir.added{color:var(--add)}
li .ir,li.ir{font:12px/1.5 ui-monospace,monospace;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%;font-size:13px}
th{position:sticky;top:0;background:var(--paper);text-align:left;font-weight:600;color:var(--faint);padding:6px 10px 6px 0;white-space:nowrap}
aside th{background:var(--sheet)}
td{padding:3px 10px 3px 0;border-top:1px solid var(--line);overflow-wrap:anywhere;vertical-align:top}
.number{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}
th[aria-sort=descending] button{color:var(--accent)}
.view tbody tr{cursor:pointer}
.view tbody tr:hover{background:var(--soft)}
.bars{min-width:80px;width:100%}
.bar{display:block;height:10px;margin-top:5px;background:var(--heat);border-radius:2px}
.memory{display:block}
.memory .slot{fill:var(--soft)}
.memory .life{fill:var(--live);stroke:var(--sheet);cursor:pointer}
.memory .life:hover{fill:var(--accent)}
.memory .life.scratch{fill:var(--faint)}
.memory text[role=link]{cursor:pointer}
kbd{font:12px ui-monospace,monospace;background:var(--soft);border:1px solid var(--line);border-radius:4px;padding:0 5px}
@media (max-width:760px){body{grid-template:auto minmax(0,1fr) minmax(0,1fr)/minmax(0,1fr)}header{flex-wrap:wrap}main{border-right:0;border-bottom:1px solid var(--line)}.search{flex:1 1 100%}}
`;
