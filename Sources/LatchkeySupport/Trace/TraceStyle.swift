/// The style of pages of traces, reports and measurements: light and dark by the system's choice, one column on a phone, black on white on
/// paper. Looks differ by form as well as by color.
package enum TraceStyle {
    package static let rules: StaticString = """

        :root { color-scheme: light dark; --back: #ffffff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --track: #f1f3f5;
          --key: #57606a; --stage: #1a5fd0; --request: #1a7f37; --wait: #9a6700; --work: #8250df; --service: #0a7ea4; --bad: #cf222e }
        @media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --soft: #9da7b3; --line: #30363d;
          --track: #161b22; --key: #8b949e; --stage: #58a6ff; --request: #3fb950; --wait: #d29922; --work: #bc8cff;
          --service: #39c5cf; --bad: #ff7b72 } }
        @media print { :root { color-scheme: light; --back: #ffffff; --text: #000000; --soft: #444444; --line: #999999;
          --track: #f1f3f5; --key: #57606a; --stage: #1a5fd0; --request: #1a7f37; --wait: #9a6700; --work: #8250df;
          --service: #0a7ea4; --bad: #cf222e } }
        * { box-sizing: border-box }
        body { margin: 0 auto; padding: 1rem; max-width: 110rem; background: var(--back); color: var(--text);
          font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere }
        h1 { font-size: 1.5rem; margin: .5rem 0 } h2 { font-size: 1.15rem; margin: 2rem 0 .25rem; scroll-margin-top: 1rem }
        h3 { font-size: 1rem; margin: 1rem 0 .25rem }
        p { margin: .25rem 0 } .soft { color: var(--soft) } code { font-size: .9em } pre { white-space: pre-wrap; margin: 0 }
        .problem { border-left: .4rem solid var(--bad); padding: .25rem .75rem; margin: .75rem 0 } .problem h2 { margin: 0 }
        .doubt .problem { border-color: var(--wait) }
        .fine { border-left: .4rem solid var(--request); padding: .25rem .75rem }
        .unseen { position: absolute; width: 1px; height: 1px; overflow: hidden; clip-path: inset(50%); white-space: nowrap }
        ol.fall { list-style: none; margin: 0 0 .5rem; padding: 0 }
        ol.fall li, .scale { display: grid; grid-template-columns: 17rem minmax(0, 1fr) 6rem; gap: .5rem }
        ol.fall li { padding: .1rem 0; border-bottom: 1px solid var(--line) } ol.fall li:hover { background: var(--track) }
        .track { position: relative; min-height: 1.1rem }
        ol.fall .track { background: repeating-linear-gradient(to right, var(--line) 0 1px, var(--track) 1px var(--step)) }
        .scale .track { grid-column: 2; color: var(--soft); font-size: .75rem } .scale .track span { position: absolute; white-space: nowrap }
        .bar { background: var(--stage) } .track .bar { position: absolute; top: .15rem; bottom: .15rem; min-width: 3px }
        .bar.key { background: var(--key) } .bar.request, .account .request { background: var(--request) }
        .bar.wait, .account .wait { background: repeating-linear-gradient(135deg, var(--wait) 0 3px, transparent 3px 6px) }
        .bar.work { background: var(--work) } .bar.service { background: none; border: 2px solid var(--service) }
        .track .bar.key, .track .bar.stage { top: .42rem; bottom: .42rem }
        .bar.wrong { background: repeating-linear-gradient(45deg, var(--bad) 0 6px, var(--back) 6px 8px) }
        .bar.lease { background: var(--request); opacity: .55 } .bar.mark { background: var(--text) }
        .track .bar.cut { -webkit-mask: linear-gradient(to right, #000 70%, transparent); mask: linear-gradient(to right, #000 70%, transparent) }
        .trip { display: inline-block; min-width: 1.4em; padding: 0 .3em; border: 1px solid var(--request); border-radius: 1em;
          color: var(--request); font-size: .75rem; line-height: 1.3; text-align: center }
        ol.fall .time { text-align: right; font-variant-numeric: tabular-nums }
        .account { display: flex; height: 1rem; margin: .35rem 0; background: var(--track) } .account span { min-width: 2px }
        .account .key { background: var(--key) } .account .stage { background: var(--stage) } .account .work { background: var(--work) }
        .account .service { background: var(--service) }
        .legend { display: flex; flex-wrap: wrap; gap: .25rem 1rem; list-style: none; margin: 1rem 0 0; padding: 0; font-size: .875rem }
        .swatch { display: inline-block; width: 1.5rem; height: .7rem; margin-right: .35rem }
        .bad { color: var(--bad); font-weight: 600 } ol.steps .doubt { color: var(--wait); font-weight: 600 }
        ol.steps { list-style: none; margin: 0; padding: 0; font-size: .875rem }
        ol.steps li { display: grid; grid-template-columns: 7rem 5rem minmax(0, 60rem); padding: .25rem 0; border-bottom: 1px solid var(--line) }
        ol.steps p { margin: 0 0 .15rem }
        .sheet { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .875rem; overflow-wrap: break-word }
        th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line); min-width: 5rem; max-width: 30rem }
        tbody th { font-weight: 600; min-width: 7rem }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; min-width: 0 } td.number { white-space: nowrap }
        th.number { max-width: 10rem }
        caption { text-align: left; color: var(--soft); padding: .25rem 0 }
        caption span { position: sticky; left: 0; display: inline-block; max-width: calc(100vw - 2rem) }
        .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(13rem, 1fr)); gap: 1rem }
        .cards { display: grid; grid-template-columns: repeat(auto-fill, minmax(min(100%, 21rem), 1fr)); gap: 1rem }
        .card { border: 1px solid var(--line); padding: .5rem .75rem; break-inside: avoid } .card h3 { margin: 0 }
        .card .value { font-size: 1.35rem; font-variant-numeric: tabular-nums }
        svg { display: block; width: 100%; height: auto } svg text { fill: var(--soft); font-size: 12px }
        .sheet svg { min-width: 36rem } svg .stage { stroke: var(--stage); fill: var(--stage) } svg .request { stroke: var(--request); fill: var(--request) }
        svg .wait { stroke: var(--wait); fill: var(--wait) } svg .wrong { stroke: var(--bad); fill: var(--bad) } svg .dot.missed { fill: var(--bad) }
        svg polyline.line { fill: none; stroke-width: 2 } svg polyline.wrong { stroke-width: 4; stroke-opacity: .5 }
        svg .aim { stroke: var(--text); stroke-width: 1.5; stroke-dasharray: 5 3 } svg .grid { stroke: var(--line) }
        figure { margin: .5rem 0 } img { max-width: 100%; height: auto; border: 1px solid var(--line) }
        details { margin: .5rem 0 } summary { cursor: pointer; color: var(--stage) }
        a { color: var(--stage) } a:focus-visible, summary:focus-visible, .sheet:focus-visible { outline: 3px solid var(--stage); outline-offset: 2px }
        @media (max-width: 40rem) { ol.fall li { grid-template-columns: minmax(0, 1fr) 6rem }
          ol.steps li { grid-template-columns: 7rem minmax(0, 1fr) } ol.steps div { grid-column: 1 / 3 }
          ol.fall .track { grid-column: 1 / 3; grid-row: 2 } .scale { grid-template-columns: minmax(0, 1fr) } .scale .track { grid-column: 1 }
          .sheet th, .sheet td { min-width: 15rem } .sheet tbody th { min-width: 7rem } .sheet td.number, .sheet th.number { min-width: 0 } }
        @media print { details::details-content { content-visibility: visible } body { max-width: none; padding: 0; font-size: 11pt } .sheet { overflow: visible } table { font-size: 7pt }
          th, td { padding: .1rem .2rem; min-width: 0; overflow-wrap: anywhere } h2, .scale { break-after: avoid } li, tr, figure { break-inside: avoid }
          .bar, .account span, .swatch, .track { print-color-adjust: exact } a { color: inherit; text-decoration: none } }

        """
}
