/** The page's looks: light and dark, from a phone to a wide screen. */

/** CSS. */
export const style = `
:root { color-scheme: light dark; --ink: #1b1f1c; --paper: #fdfdfb; --soft: #eef2ec; --line: #c3cdc2;
  --leaf: #1f6b3a; --onleaf: #fff; --bad: #a3221b; }
@media (prefers-color-scheme: dark) {
  :root { --ink: #e6ebe6; --paper: #141815; --soft: #1e2520; --line: #435046; --leaf: #7fd19b; --onleaf: #10210f;
    --bad: #ff9d94; }
}
* { box-sizing: border-box; }
body { margin: 0 auto; max-width: 54rem; padding: 1rem; font: 1rem/1.5 system-ui, sans-serif;
  color: var(--ink); background: var(--paper); overflow-wrap: anywhere; }
h1, h2, h3 { line-height: 1.2; }
h2 { margin-top: 2.5rem; border-bottom: 1px solid var(--line); padding-bottom: .25rem; }
a { color: var(--leaf); }
code, pre, input { font-family: ui-monospace, monospace; font-size: .9rem; }
pre { margin: .5rem 0; padding: .75rem; background: var(--soft); border: 1px solid var(--line); border-radius: .4rem;
  white-space: pre-wrap; }
.scroll { overflow-x: auto; }
table { border-collapse: collapse; width: 100%; overflow-wrap: normal; }
th, td { text-align: left; vertical-align: top; padding: .35rem .75rem .35rem 0; border-bottom: 1px solid var(--line); }
form { display: grid; gap: .9rem; }
label { display: block; font-weight: 600; }
label.check { font-weight: 400; }
small { display: block; }
input:not([type=checkbox]) { width: 100%; padding: .5rem; color: inherit; background: var(--paper);
  border: 1px solid var(--line); border-radius: .4rem; font-size: 1rem; }
input:disabled { background: var(--soft); }
button { padding: .5rem 1rem; font: inherit; color: var(--onleaf); background: var(--leaf); border: 0;
  border-radius: .4rem; cursor: pointer; }
button:disabled { opacity: .6; cursor: default; }
form button { justify-self: start; }
:focus-visible { outline: 3px solid var(--leaf); outline-offset: 2px; }
.bad { color: var(--bad); font-weight: 600; }
.good { color: var(--leaf); font-weight: 600; }
`;
