//! One self-contained HTML page: style inside, nothing loaded.

/// Text that stands as itself in HTML.
pub fn escape(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '&' => out.push_str("&amp;"),
            '<' => out.push_str("&lt;"),
            '>' => out.push_str("&gt;"),
            '"' => out.push_str("&quot;"),
            '\'' => out.push_str("&#39;"),
            c => out.push(c),
        }
    }
    out
}

const STYLE: &str = "\
:root{--ink:#1c2733;--soft:#5b6b7b;--line:#d9e0e7;--paper:#fff;--tint:#f4f7fa;--mark:#2f6f8f;--band:#e4f0e6;--warn:#b4552d}\
@media(prefers-color-scheme:dark){:root{--ink:#e6edf3;--soft:#9aa9b8;--line:#33404d;--paper:#11181f;--tint:#19222b;--mark:#6fb3d2;--band:#1d3324;--warn:#e0906a}}\
*{box-sizing:border-box}body{margin:0;background:var(--paper);color:var(--ink);font:16px/1.55 system-ui,sans-serif}\
main{max-width:62rem;margin:0 auto;padding:2.5rem 1.25rem 5rem}h1{font-size:1.9rem;margin:0 0 .3rem}\
h2{margin:2.6rem 0 .7rem;padding-bottom:.3rem;border-bottom:1px solid var(--line);font-size:1.3rem}\
h3{margin:1.8rem 0 .5rem;font-size:1.08rem}p{margin:.5rem 0}.soft{color:var(--soft)}\
table{border-collapse:collapse;width:100%;margin:.7rem 0;font-size:.92rem}\
th,td{text-align:left;padding:.4rem .6rem;border-bottom:1px solid var(--line);vertical-align:top}\
th{color:var(--soft);font-weight:600}td.n{text-align:right;font-variant-numeric:tabular-nums;white-space:nowrap}\
code,pre{font:.88rem/1.5 ui-monospace,SFMono-Regular,Menlo,monospace;background:var(--tint);border-radius:4px}\
code{padding:.1rem .3rem}pre{padding:.8rem 1rem;overflow:auto}\
svg{width:100%;height:auto;display:block;margin:.6rem 0}svg text{font:12px system-ui,sans-serif;fill:var(--ink)}\
svg .name{text-anchor:end}svg .tick,svg .soft{fill:var(--soft);font-size:11px}svg .bar{fill:var(--mark)}svg .band{fill:var(--band)}\
svg .box{fill:var(--tint);stroke:var(--mark);stroke-width:1.4}svg .edge{stroke:var(--soft);stroke-width:1.4;fill:none}\
svg .title{font-weight:600;font-size:13px}svg .line{stroke:var(--mark);stroke-width:2;fill:none}\
svg .limit{stroke:var(--warn);stroke-width:1.4;stroke-dasharray:6 4}\
.tag{display:inline-block;border:1px solid var(--line);border-radius:99px;padding:0 .55rem;font-size:.8rem;color:var(--soft);margin-right:.3rem}\
.question{border-left:3px solid var(--warn);padding:.3rem .8rem;margin:.4rem 0;background:var(--tint)}";

/// A page with this title and body.
pub fn page(title: &str, body: &str) -> String {
    let title = escape(title);
    format!(
        "<!doctype html>\n<html lang=\"en\"><head><meta charset=\"utf-8\"><meta name=\"viewport\" \
         content=\"width=device-width,initial-scale=1\"><title>{title}</title><style>{STYLE}</style>\
         </head><body><main><h1>{title}</h1>\n{body}\n</main></body></html>\n"
    )
}
