/** How the site looks, light and dark, in the colours of the inspector. Fonts are the system's: a page that asks for none asks nobody. */
const light =
  "--paper:#fbfaf7;--sheet:#ffffff;--ink:#23211d;--faint:#6d675c;--line:#ddd8cc;--accent:#b4501a;--soft:#f3efe6;--mark:#f4d9c5;--fault:#fbe3df;--bad:#a0302a;--good:#1d6b3c;--code-keyword:#8a3f8f;--code-string:#2d6a3f;--code-number:#9a5b00;--code-type:#1f5f8b;--code-call:#8f4312;--shade:#00000014";
const dark =
  "--paper:#191816;--sheet:#211f1c;--ink:#ece7dc;--faint:#a49c8d;--line:#3b3731;--accent:#f0955c;--soft:#2a2723;--mark:#5a3d29;--fault:#4b2a28;--bad:#f08f86;--good:#7fcf9c;--code-keyword:#d6a1dc;--code-string:#9bcf9f;--code-number:#e8bc77;--code-type:#8fc1e8;--code-call:#f0b08a;--shade:#00000060";

const base = `
:root{color-scheme:light;${light}}
@media (prefers-color-scheme:dark){:root:not([data-theme=light]){color-scheme:dark;${dark}}}
:root[data-theme=dark]{color-scheme:dark;${dark}}
*{box-sizing:border-box}
html{height:100%;scroll-padding-top:70px}
body{margin:0;min-height:100%;font:16px/1.6 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
a{color:var(--accent);text-decoration-thickness:1px;text-underline-offset:2px}
a:focus-visible,button:focus-visible,select:focus-visible,input:focus-visible,canvas:focus-visible{outline:2px solid var(--accent);outline-offset:2px}
header.top{display:flex;align-items:center;gap:4px 20px;flex-wrap:wrap;padding:10px 20px;border-bottom:1px solid var(--line);background:var(--sheet)}
header.top .name{display:flex;align-items:center;gap:8px;font-weight:700;font-size:18px;color:inherit;text-decoration:none;letter-spacing:-.01em}
header.top .name svg{width:20px;height:20px;fill:var(--accent)}
header.top nav{display:flex;flex-wrap:wrap;gap:2px;font-size:15px}
header.top nav a{padding:3px 10px;border-radius:6px;color:inherit;text-decoration:none}
header.top nav a:hover{background:var(--soft)}
header.top nav a[aria-current]{background:var(--soft);color:var(--accent);font-weight:600}
button,select,input[type=file]::file-selector-button{font:inherit;font-size:14px;padding:4px 12px;border:1px solid var(--line);border-radius:7px;background:var(--sheet);color:inherit;cursor:pointer}
button:hover:not(:disabled),select:hover:not(:disabled){background:var(--soft)}
button:disabled,select:disabled{opacity:.5;cursor:default}
button.main{background:var(--accent);border-color:var(--accent);color:var(--sheet);font-weight:600}
button.main:hover:not(:disabled){background:var(--accent);filter:brightness(1.08)}
`;

const play = `
body.play{height:100vh;display:flex;flex-direction:column;overflow:hidden}
.bar{display:flex;flex-wrap:wrap;gap:8px;align-items:center;padding:8px 14px;border-bottom:1px solid var(--line);font-size:14px}
.bar .state{color:var(--faint);margin-left:4px;font-variant-numeric:tabular-nums}
.bar .right{margin-left:auto;display:flex;gap:8px;align-items:center}
body[data-state=failed] .bar .state{color:var(--bad)}
body[data-state=running] .bar .state::before{content:"";display:inline-block;width:8px;height:8px;margin-right:7px;border-radius:50%;background:var(--accent);animation:beat 1s ease-in-out infinite alternate}
@keyframes beat{from{opacity:.25}}
@media (prefers-reduced-motion:reduce){body[data-state=running] .bar .state::before{animation:none}}
.panes{flex:1;min-height:0;display:grid;grid-template:minmax(0,1fr)/minmax(340px,5fr) minmax(0,6fr)}
.left{min-width:0;min-height:0;display:grid;grid-template-rows:minmax(0,3fr) minmax(0,2fr);border-right:1px solid var(--line)}
#editor{min-height:0;overflow:hidden}
.said{min-height:0;display:flex;border-top:1px solid var(--line);background:var(--paper)}
#console{flex:1;min-width:0;overflow:auto;padding:8px 14px;font:12.5px/1.55 ui-monospace,monospace}
#console:empty::before{content:"what the program says";color:var(--faint)}
.line{white-space:pre-wrap;overflow-wrap:anywhere}
.line.error{color:var(--bad)}
.line.warn{color:var(--code-number)}
#figures{flex:0 1 auto;max-width:56%;overflow:auto;padding:8px 14px;display:flex;flex-wrap:wrap;gap:10px;align-content:flex-start;border-left:1px solid var(--line)}
#figures:empty{display:none}
figure{margin:0}
figure canvas{display:block;width:150px;image-rendering:pixelated;border-radius:5px;background:var(--soft)}
figure.wide{flex:1 1 100%}
figure canvas.plot{width:100%;min-width:240px;height:74px;color:var(--accent);image-rendering:auto;border:1px solid var(--line);background:var(--sheet)}
figcaption{font-size:12px;color:var(--faint);margin-top:2px;font-variant-numeric:tabular-nums}
.right-pane{min-width:0;min-height:0;position:relative;background:var(--sheet)}
.right-pane iframe{position:absolute;inset:0;width:100%;height:100%;border:0;visibility:hidden}
body.inspected .right-pane iframe{visibility:visible}
body.inspected .empty{display:none}
.empty{height:100%;display:grid;place-content:center;text-align:center;color:var(--faint);padding:30px}
.empty b{display:block;color:var(--ink);font-size:17px}
@media (max-width:860px){body.play{height:auto;overflow:auto}.panes{display:block}.left{border-right:0;grid-template-rows:52vh 260px}.right-pane{height:80vh;border-top:1px solid var(--line)}.said{flex-wrap:wrap}}
`;

const demo = `
body.demo{height:100vh;display:flex;flex-direction:column;overflow:hidden}
.stage{flex:1;min-height:0;display:grid;grid-template:minmax(0,1fr)/minmax(380px,1fr) minmax(0,1fr)}
.work{overflow:auto;padding:22px 28px;border-right:1px solid var(--line)}
.work h1{margin:0;font-size:26px;letter-spacing:-.01em}
.work h2{font:600 16px ui-monospace,monospace;margin:18px 0 6px}
.work p{margin:4px 0 12px;color:var(--faint);max-width:62ch}
.work .bar{padding:0 0 14px;border:0;min-height:50px;flex-wrap:nowrap}
.work .bar .state{overflow:hidden;max-height:3.2em;overflow-wrap:anywhere}
.bench{display:grid;grid-template-columns:280px minmax(150px,300px);gap:26px;align-items:center}
.sheet{position:relative;width:280px;height:280px}
.sheet canvas{width:100%;height:100%;background:var(--sheet);border:1px solid var(--line);border-radius:12px;touch-action:none;cursor:crosshair;box-shadow:0 2px 14px var(--shade)}
.sheet output{position:absolute;right:14px;bottom:4px;font-size:40px;font-weight:700;color:var(--accent);pointer-events:none}
.score{display:grid;grid-template-columns:16px 1fr 46px;gap:10px;align-items:center;height:27px;font-variant-numeric:tabular-nums}
.score .track{height:9px;border-radius:5px;background:var(--soft);overflow:hidden}
.score i{display:block;height:100%;width:0;background:var(--faint);border-radius:5px;transition:width .12s}
.score.best i{background:var(--accent)}
.score em{font-style:normal;font-size:13px;color:var(--faint);text-align:right}
.score.best b{color:var(--accent)}
.work canvas.plot{display:block;width:100%;max-width:606px;height:70px;margin-top:20px;color:var(--accent);border:1px solid var(--line);border-radius:6px;background:var(--sheet)}
.work p.note{margin:6px 0 12px;font-size:14px}
#held{display:flex;flex-wrap:wrap;gap:6px;max-width:606px}
#held figure{width:42px;height:42px;position:relative;border:1px solid var(--line);border-radius:6px;background:var(--sheet);font:600 11px system-ui;color:var(--bad);text-align:right;line-height:1;padding:2px}
#held figure.wrong{border-color:var(--bad)}
#held canvas{position:absolute;inset:0;width:100%;background:none}
.drop{display:flex;flex-wrap:wrap;gap:4px 14px;align-items:center;padding:20px;margin-bottom:14px;border:1.5px dashed var(--line);border-radius:12px;background:var(--sheet);cursor:pointer}
.drop span{color:var(--faint)}
.drop.over{border-color:var(--accent);background:var(--soft)}
#inputs{list-style:none;padding:0;margin:0 0 14px;font:14px ui-monospace,monospace}
.extent{display:inline-flex;gap:6px;align-items:center;margin-left:6px;padding:1px 8px;border-radius:6px;background:var(--soft)}
.extent input{width:64px;font:inherit;padding:1px 4px;border:1px solid var(--line);border-radius:4px;background:var(--sheet);color:inherit}
.pictures{display:flex;flex-wrap:wrap;gap:14px}
.pictures canvas{width:min(272px,100%);image-rendering:auto;border-radius:8px}
.pictures code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
@media (max-width:860px){body.demo{height:auto;overflow:auto}.stage{display:block}.work{border:0}.right-pane{height:80vh}.bench{grid-template-columns:1fr}}
`;

const page = `
.page{max-width:820px;margin:0 auto;padding:32px 24px 80px}
.page.wide{max-width:1120px}
.cards{display:grid;grid-template-columns:repeat(auto-fill,minmax(300px,1fr));gap:20px;margin-top:24px}
.card{display:flex;flex-direction:column;gap:2px;padding:0 0 16px;border:1px solid var(--line);border-radius:12px;background:var(--sheet);color:inherit;text-decoration:none;overflow:hidden;transition:box-shadow .15s,transform .15s}
.card:hover{box-shadow:0 6px 22px var(--shade);transform:translateY(-2px)}
.card img{width:100%;height:auto;aspect-ratio:16/10;object-fit:cover;background:var(--soft);border-bottom:1px solid var(--line);margin-bottom:10px}
.card b,.card span{padding:0 16px}
.card span{color:var(--faint);font-size:15px;line-height:1.45}
`;

export const siteStyle = base + play + demo + page;
