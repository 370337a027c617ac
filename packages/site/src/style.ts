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

export const siteStyle = base + play;
