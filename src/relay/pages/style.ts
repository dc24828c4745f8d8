/**
 * How all pages look: plain, in the light or the dark, legible with any size of letters.
 *
 * @module
 */
export const STYLE = `:root{color-scheme:light dark;--ink:#1c1e21;--paper:#fff;--soft:#f2f3f5;--line:#c4c8cf;--link:#0b57d0;--good:#146c2e;--bad:#a3201d}
@media(prefers-color-scheme:dark){:root{--ink:#e6e7ea;--paper:#15171a;--soft:#22252a;--line:#4a4f57;--link:#8ab4f8;--good:#7fd896;--bad:#f2a19e}}
*{box-sizing:border-box}body{margin:0;font:1rem/1.5 system-ui,sans-serif;color:var(--ink);background:var(--paper)}
header,main{max-width:58rem;margin:0 auto;padding:.75rem 1rem}header{display:flex;flex-wrap:wrap;gap:.25rem 1rem;align-items:center;border-bottom:1px solid var(--line)}
header form{margin-left:auto}a{color:var(--link)}h1{font-size:1.5rem;margin:1rem 0 .5rem}h2{font-size:1.15rem;margin:1.5rem 0 .5rem}
label{display:block;margin:.75rem 0 .2rem;font-weight:600}label.choice{font-weight:400}input,select,textarea{font:inherit;color:inherit;background:var(--paper);border:1px solid var(--line);border-radius:.3rem;padding:.45rem .6rem;max-width:100%}
input[type=text],input[type=email],input[type=password],textarea{width:26rem}fieldset{border:1px solid var(--line);border-radius:.3rem;margin:1rem 0}
button{font:inherit;padding:.5rem 1rem;border:1px solid var(--line);border-radius:.3rem;background:var(--soft);color:inherit;cursor:pointer}button.main{background:var(--link);color:var(--paper);border-color:var(--link)}
button.quiet{border:0;background:none;padding:.2rem;text-decoration:underline;color:var(--link)}:focus-visible{outline:3px solid var(--link);outline-offset:2px}
.actions{display:flex;gap:.75rem;margin:1rem 0;flex-wrap:wrap}.note{background:var(--soft);border-left:4px solid var(--link);padding:.6rem .9rem;overflow-wrap:anywhere}.bad{border-left-color:var(--bad)}.good{border-left-color:var(--good)}
code,pre{font-family:ui-monospace,monospace;font-size:.92em}pre{background:var(--soft);padding:.75rem;overflow:auto;white-space:pre-wrap;overflow-wrap:anywhere}
table{border-collapse:collapse;width:100%}th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top;overflow-wrap:anywhere}.scroll{overflow-x:auto}
dl{display:grid;grid-template-columns:max-content 1fr;gap:.3rem 1rem}dt{font-weight:600}dd{margin:0;overflow-wrap:anywhere}.skip{position:absolute;left:-99rem}.skip:focus{left:1rem}svg{max-width:16rem;background:#fff}
`
