/** Of the page; light or dark as the reader's system is. */
export const STYLE = `
:root { color-scheme: light dark; --paper: #fbfaf7; --sheet: #ffffff; --ink: #1d2733; --soft: #5b6876; --rule: #d9d5cb; --sea: #14607a; --sea-soft: #e3eff3; --up: #1c7a45; --down: #b3261e; --idle: #8a8f98; --code: #f3f1ea; --put: #8a5c00; }
@media (prefers-color-scheme: dark) { :root { --paper: #10171e; --sheet: #18222b; --ink: #e4e9ee; --soft: #98a6b3; --rule: #2c3944; --sea: #6cc3de; --sea-soft: #1c3440; --up: #5fd08c; --down: #ff8a80; --idle: #7d8893; --code: #0c1218; --put: #e3b45a; } }
* { box-sizing: border-box; }
html { scroll-behavior: smooth; }
body { margin: 0; background: var(--paper); color: var(--ink); font: 16px/1.5 system-ui, -apple-system, "Segoe UI", Roboto, sans-serif; }
header { position: sticky; top: 0; z-index: 2; display: flex; flex-wrap: wrap; align-items: center; gap: .5rem 1.5rem; padding: .6rem 1.5rem; background: var(--sheet); border-bottom: 1px solid var(--rule); }
header h1 { display: flex; align-items: center; gap: .5rem; margin: 0; font-size: 1.15rem; letter-spacing: .02em; }
header svg { width: 1.6rem; height: 1.6rem; stroke: var(--sea); fill: none; }
nav { display: flex; gap: .25rem; }
nav a { padding: .3rem .8rem; border-radius: .4rem; color: var(--soft); text-decoration: none; }
nav a[aria-current] { background: var(--sea-soft); color: var(--sea); font-weight: 600; }
.token { display: flex; align-items: center; gap: .5rem; margin-left: auto; color: var(--soft); font-size: .9rem; }
main { max-width: 78rem; margin: 0 auto; padding: 1.25rem 1.5rem 4rem; }
h2 { margin: 2rem 0 .25rem; font-size: 1.2rem; scroll-margin-top: 5rem; }
h2 small { margin-left: .6rem; color: var(--soft); font-size: .9rem; font-weight: 400; }
p.lead { max-width: 46rem; margin: .2rem 0 1rem; color: var(--soft); }
code, pre, textarea, input, .path { font-family: ui-monospace, SFMono-Regular, Menlo, Consolas, monospace; font-size: .88rem; }
pre { overflow-x: auto; margin: .5rem 0; padding: .7rem .9rem; background: var(--code); border: 1px solid var(--rule); border-radius: .4rem; white-space: pre-wrap; overflow-wrap: anywhere; }
input, textarea { width: 100%; padding: .4rem .6rem; color: inherit; background: var(--paper); border: 1px solid var(--rule); border-radius: .4rem; }
.token input { width: 14rem; }
textarea { min-height: 9rem; resize: vertical; }
button { padding: .45rem 1.1rem; border: 0; border-radius: .4rem; background: var(--sea); color: var(--sheet); font: inherit; font-weight: 600; cursor: pointer; }
a, summary, input, textarea, button { outline-offset: 2px; }
:focus-visible { outline: 2px solid var(--sea); }
.shelf { display: flex; flex-wrap: wrap; gap: .35rem .9rem; margin: .8rem 0 0; font-size: .9rem; }
.shelf a { color: var(--sea); text-decoration: none; }
.shelf a:hover { text-decoration: underline; }
details.operation { margin: .4rem 0; background: var(--sheet); border: 1px solid var(--rule); border-radius: .5rem; }
details.operation > summary { display: flex; flex-wrap: wrap; align-items: baseline; gap: .2rem .8rem; padding: .5rem .8rem; cursor: pointer; list-style: none; }
details.operation > summary::-webkit-details-marker { display: none; }
details.operation[open] > summary { border-bottom: 1px solid var(--rule); }
.verb { min-width: 4.2rem; padding: 0 .5rem; border-radius: .3rem; color: var(--sheet); font-size: .78rem; font-weight: 700; line-height: 1.6rem; text-align: center; }
.verb.get { background: var(--sea); } .verb.post { background: var(--up); } .verb.put { background: var(--put); } .verb.delete { background: var(--down); }
.path { overflow-wrap: anywhere; } .path i { color: var(--sea); font-style: normal; }
.summary { color: var(--soft); font-size: .92rem; }
.inside { padding: .6rem .9rem 1rem; }
table { width: 100%; border-collapse: collapse; font-size: .92rem; }
th, td { padding: .3rem .6rem .3rem 0; border-bottom: 1px solid var(--rule); text-align: left; vertical-align: top; }
th { color: var(--soft); font-weight: 600; }
.need { color: var(--down); font-size: .82rem; }
.try { display: grid; gap: .5rem; margin-top: .9rem; }
.try label { display: grid; grid-template-columns: 11rem 1fr; align-items: center; gap: .6rem; }
.try label.box { display: flex; } .try label.box input { width: auto; }
.outcome:empty, .notice:empty { display: none; }
.notice { margin: 1rem 0; padding: .7rem 1rem; border-left: 4px solid var(--down); background: var(--sheet); }
.figures { display: flex; flex-wrap: wrap; gap: 1rem; margin: .5rem 0 1rem; }
.figures div { min-width: 9rem; padding: .6rem 1rem; background: var(--sheet); border: 1px solid var(--rule); border-radius: .5rem; }
.figures b { display: block; font-size: 1.5rem; line-height: 1.2; font-variant-numeric: tabular-nums; }
.figures span { color: var(--soft); font-size: .88rem; }
.figures .bad b { color: var(--down); }
.frame { overflow-x: auto; background: var(--sheet); border: 1px solid var(--rule); border-radius: .6rem; }
.frame svg { display: block; width: 100%; min-width: 56rem; height: auto; }
.frame rect { fill: var(--paper); stroke: var(--rule); }
.frame .mark { stroke: none; fill: var(--idle); }
.frame .up .mark { fill: var(--up); } .frame .down .mark { fill: var(--down); } .frame .plain .mark { fill: var(--sea); }
.frame .down rect.box { stroke: var(--down); }
.frame text { fill: var(--ink); font-size: 13px; } .frame text.head { fill: var(--soft); font-size: 12px; letter-spacing: .08em; }
.frame text.small { fill: var(--soft); font-size: 11.5px; } .frame text.name { font-weight: 600; }
.frame path { fill: none; stroke: var(--idle); stroke-opacity: .55; }
.frame path.up { stroke: var(--up); } .frame path.down { stroke: var(--down); stroke-dasharray: 3 4; } .frame path.off { stroke-dasharray: 2 5; stroke-opacity: .4; } .frame path.plain { stroke: var(--sea); }
.events { margin: .5rem 0 0; padding: 0; list-style: none; font-size: .92rem; font-variant-numeric: tabular-nums; }
.events li { display: flex; gap: .8rem; padding: .2rem 0; border-bottom: 1px solid var(--rule); }
.events .up { color: var(--up); font-weight: 600; } .events .down { color: var(--down); font-weight: 600; }
[hidden] { display: none; }
@media (max-width: 40rem) { .try label { grid-template-columns: 1fr; } main { padding: 1rem; } .token { margin-left: 0; } }
`;
