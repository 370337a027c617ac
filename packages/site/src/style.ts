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
button{white-space:nowrap}
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
.stage p.state{margin:-6px 0 14px;font-size:14px;font-variant-numeric:tabular-nums;max-width:none}
body[data-state=failed] p.state{color:var(--bad)}
.stage.talking{grid-template-columns:minmax(0,1fr)}
.talking .work{border-right:0;display:flex;flex-direction:column;width:100%;max-width:820px;margin:0 auto}
.talking .drop{padding:12px 18px;margin-bottom:10px}
.talking .bar{flex-wrap:wrap;min-height:0;padding-bottom:8px}
.talk{flex:1 1 120px;overflow:auto;list-style:none;margin:0;padding:4px 2px;font-size:16px;line-height:1.55}
.talk li{width:fit-content;max-width:86%;margin:8px 0;padding:8px 14px;border:1px solid var(--line);border-radius:14px;background:var(--sheet);white-space:pre-wrap;overflow-wrap:anywhere}
.talk li:empty{visibility:hidden}
.talk li.asked{margin-left:auto;border-color:transparent;background:var(--soft)}
.talk b{color:var(--accent);font-weight:600}
#say{flex-wrap:nowrap;align-items:stretch}
#say textarea{flex:1;max-width:none;resize:none;font:inherit}
.talking p.state{margin:0;min-height:1.5em}
.field{display:block;font-size:13px;color:var(--faint)}
textarea,input[type=text]{font:14px/1.5 ui-monospace,monospace;padding:6px 10px;border:1px solid var(--line);border-radius:8px;background:var(--sheet);color:var(--ink)}
textarea,input.wide{display:block;width:100%;max-width:606px;resize:vertical}
.row{display:flex;flex-wrap:wrap;gap:8px;align-items:center;margin:10px 0}
label.row{margin:0;font-size:14px;color:var(--faint)}
.row .state{font-size:14px;color:var(--faint)}
.row input[type=text]{flex:1 1 140px;max-width:240px}
input[type=range]{accent-color:var(--accent);width:110px}
.work p.saying{min-height:1.6em;font:15px/1.6 ui-monospace,monospace;color:var(--ink);overflow-wrap:anywhere}
.work p.saying.wrong{color:var(--bad)}
.saying span,#said span{color:var(--accent)}
#losses{display:grid;gap:10px;margin:16px 0;max-width:606px}
.work #losses canvas.plot{margin:0}
#said{padding-left:2.2em;font:13.5px/1.7 ui-monospace,monospace;color:var(--faint)}
#said li:first-child{color:var(--ink)}
.pair{display:grid;grid-template-columns:1fr 1fr;gap:18px;max-width:606px}
.pair canvas{width:100%;aspect-ratio:1;background:var(--sheet);border:1px solid var(--line);border-radius:10px;color:var(--ink);image-rendering:auto}
.pair canvas.grid{padding:10px;image-rendering:pixelated}
.strip{display:grid;grid-template-columns:repeat(6,1fr);gap:8px;max-width:606px;margin-top:14px}
.work .strip canvas{width:100%;border-radius:6px}
.work canvas.traces{display:block;width:100%;max-width:606px;height:250px;color:var(--accent);background:var(--sheet);border:1px solid var(--line);border-radius:10px}
.heard{display:grid;grid-template-columns:190px minmax(150px,390px);gap:26px;align-items:center;margin-top:16px;max-width:606px}
.heard .score{grid-template-columns:44px 1fr 46px}
.heard canvas{width:190px;height:190px;color:var(--accent);background:var(--sheet);border:1px solid var(--line);border-radius:10px}
#head .outline{fill:var(--sheet);stroke:var(--faint);stroke-width:1}
#head .place{fill:var(--sheet);stroke:var(--line)}
#head .weight{fill:var(--accent)}
#head text{font:600 6px system-ui;text-anchor:middle;fill:var(--ink)}
.molecule{display:block;width:100%;max-width:606px;height:270px;background:var(--sheet);border:1px solid var(--line);border-radius:12px}
.molecule .bond{stroke:var(--ink);stroke-width:1.5;stroke-linecap:round}
.molecule .half{stroke-dasharray:3 4}
.molecule .paper{fill:var(--sheet);opacity:.85}
.molecule .halo{fill:var(--accent);opacity:.28;transition:r .15s}
.molecule .halo.less{fill:var(--faint)}
.molecule .atom{font:600 14px system-ui;text-anchor:middle;fill:var(--ink)}
.molecule .O{fill:var(--bad)}.molecule .N{fill:var(--code-type)}.molecule .S,.molecule .P{fill:var(--code-number)}.molecule .F,.molecule .Cl,.molecule .Br,.molecule .I{fill:var(--good)}
.pictures{display:flex;flex-wrap:wrap;gap:14px}
.pictures canvas{width:min(272px,100%);image-rendering:auto;border-radius:8px}
.pictures code{font:13px ui-monospace,monospace;overflow-wrap:anywhere}
@media (max-width:860px){body.demo{height:auto;overflow:auto}.stage{display:block}.work{border:0}.work .bar{flex-wrap:wrap}.work .bar .state{max-height:none}.right-pane{height:80vh}.bench{grid-template-columns:1fr}}
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

const text = `
.documents{display:grid;grid-template-columns:230px minmax(0,780px) 200px;gap:44px;justify-content:center;padding:0 24px}
.side,.contents{font-size:14.5px;padding:26px 0 26px 8px;position:sticky;top:0;align-self:start;max-height:100vh;overflow:auto}
.side h2,.contents h2{font-size:13px;color:var(--faint);font-weight:600;margin:16px 0 4px}
.side h2:first-child,.contents h2:first-child{margin-top:0}
.side ul,.contents ul{list-style:none;margin:0;padding:0}
.side a,.contents a{display:block;padding:2px 8px;margin-left:-8px;border-radius:5px;color:inherit;text-decoration:none}
.contents a{color:var(--faint);line-height:1.35;padding:3px 8px}
.side a:hover,.contents a:hover{background:var(--soft)}
.side a[aria-current]{background:var(--soft);color:var(--accent);font-weight:600}
.text{padding:26px 0 90px;min-width:0;overflow-wrap:break-word}
.text h1{font-size:32px;line-height:1.2;letter-spacing:-.015em;margin:0 0 14px}
.text h2{font-size:22px;margin:38px 0 10px;letter-spacing:-.01em}
.text h3{font-size:17px;margin:26px 0 8px}
.text img{max-width:100%;height:auto;border:1px solid var(--line);border-radius:10px}
code{font:.88em ui-monospace,monospace;background:var(--soft);border-radius:4px;padding:1px 4px;overflow-wrap:anywhere}
pre{background:var(--sheet);border:1px solid var(--line);border-radius:9px;padding:13px 16px;overflow:auto;font:13.5px/1.55 ui-monospace,monospace}
pre code{font:inherit;background:none;padding:0;overflow-wrap:normal}
pre i,code i{font-style:normal}
i.k{color:var(--code-keyword)}i.s{color:var(--code-string)}i.n{color:var(--code-number)}i.c{color:var(--faint)}i.t{color:var(--code-type)}i.f{color:var(--code-call)}
.text .table{overflow-x:auto;margin:14px 0}
.text table{border-collapse:collapse;font-size:14.5px;width:100%}
.text th{text-align:left;color:var(--faint);font-weight:600;padding:5px 14px 5px 0;border-bottom:1px solid var(--line);white-space:nowrap}
.text td{padding:5px 14px 5px 0;border-bottom:1px solid var(--line);vertical-align:top}
table.figures td:nth-child(n+2){font-variant-numeric:tabular-nums;white-space:nowrap}
.text a.file{color:inherit;text-decoration:none}
.text .note{font-size:14px;color:var(--faint)}
.ratio{display:flex;gap:8px;align-items:center;min-width:150px}
.ratio i{display:block;height:8px;border-radius:4px;background:var(--accent)}
.ratio.less i{background:var(--faint)}
@media (max-width:1180px){.documents{grid-template-columns:210px minmax(0,780px)}.contents{display:none}.documents>div:last-child{display:none}}
@media (max-width:760px){.documents{display:flex;flex-direction:column;padding:0 20px}.side{order:1;position:static;max-height:none;border-top:1px solid var(--line)}.text{padding-bottom:40px}.page.text{padding-inline:20px}}
`;

const home = `
.landing{max-width:1180px;margin:0 auto;padding:0 24px 90px}
.hero{display:grid;grid-template-columns:minmax(0,5fr) minmax(0,6fr);gap:48px;align-items:center;padding:64px 0 48px}
.hero h1{font-size:42px;line-height:1.08;letter-spacing:-.025em;margin:0 0 18px;text-wrap:balance}
.hero p{font-size:18px;color:var(--faint);margin:0 0 22px}
.actions{display:flex;flex-wrap:wrap;gap:10px}
.button{display:inline-block;padding:8px 18px;border:1px solid var(--line);border-radius:9px;background:var(--sheet);color:var(--ink);font-size:16px;font-weight:600;text-decoration:none}
.button:hover{background:var(--soft)}
.button.main{background:var(--accent);border-color:var(--accent);color:var(--sheet)}
.button.main:hover{filter:brightness(1.08)}
.hero pre{margin:0}
.hero pre.install{display:inline-block;padding:8px 16px}
.hero pre.program{padding:20px 22px;box-shadow:0 10px 40px var(--shade);border-radius:12px;font-size:13px;white-space:pre-wrap;text-wrap:wrap}
.figures3{display:grid;grid-template-columns:repeat(auto-fit,minmax(220px,1fr));gap:24px;padding:26px 0;border-top:1px solid var(--line);border-bottom:1px solid var(--line)}
.figures3 b{display:block;font-size:34px;letter-spacing:-.02em;color:var(--accent)}
.figures3 span{color:var(--faint)}
.look{padding:56px 0 0;text-align:center}
.look h2{font-size:30px;letter-spacing:-.02em;margin:0 0 8px}
.look p{max-width:66ch;margin:0 auto 28px;color:var(--faint)}
.look img{width:100%;height:auto;border:1px solid var(--line);border-radius:14px;box-shadow:0 14px 50px var(--shade)}
.three{display:grid;grid-template-columns:repeat(auto-fit,minmax(280px,1fr));gap:22px;margin-top:64px}
.three a{display:flex;flex-direction:column;color:inherit;text-decoration:none;border:1px solid var(--line);border-radius:12px;overflow:hidden;background:var(--sheet);padding-bottom:16px}
.three img{width:100%;height:auto;aspect-ratio:16/10;object-fit:cover;border-bottom:1px solid var(--line);margin-bottom:12px}
.three b,.three span{padding:0 16px}
.three span{color:var(--faint);font-size:15px}
@media (max-width:900px){.hero{grid-template-columns:minmax(0,1fr);padding-top:36px}.hero h1{font-size:36px}}
`;

export const siteStyle = base + play + demo + page + text + home;
