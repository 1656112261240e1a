/// How pages of traces look: light and dark by the system's choice, one column on a phone, black on white on paper.
package enum TraceStyle {
    package static let rules: StaticString = """

        :root { color-scheme: light dark; --back: #fff; --text: #1b1f24; --soft: #57606a; --line: #d0d7de; --track: #f1f3f5;
          --key: #57606a; --stage: #1f6feb; --request: #1a7f37; --wait: #bf8700; --work: #8250df; --service: #0a7ea4; --bad: #cf222e }
        @media (prefers-color-scheme: dark) { :root { --back: #0d1117; --text: #e6edf3; --soft: #9da7b3; --line: #30363d;
          --track: #161b22; --key: #8b949e; --stage: #58a6ff; --request: #3fb950; --wait: #d29922; --work: #bc8cff;
          --service: #39c5cf; --bad: #ff7b72 } }
        * { box-sizing: border-box }
        body { margin: 0 auto; padding: 1rem; max-width: 75rem; background: var(--back); color: var(--text);
          font: 16px/1.45 system-ui, sans-serif; overflow-wrap: anywhere }
        h1 { font-size: 1.5rem } h2 { font-size: 1.15rem; margin: 2rem 0 .25rem } h3 { font-size: 1rem; margin: 1rem 0 .25rem }
        p { margin: .25rem 0 } .soft { color: var(--soft) } code { font-size: .9em }
        .problem { border-left: .4rem solid var(--bad); padding: .25rem .75rem; margin: .75rem 0 } .problem h2 { margin: 0 }
        .fine { border-left: .4rem solid var(--request); padding: .25rem .75rem }
        ol.fall { list-style: none; margin: .5rem 0; padding: 0 }
        ol.fall li { display: grid; grid-template-columns: 17rem 1fr 6rem; gap: .5rem; padding: .1rem 0; border-bottom: 1px solid var(--line) }
        ol.fall .track { position: relative; background: var(--track); min-height: 1.1rem }
        ol.fall .bar { position: absolute; top: .15rem; bottom: .15rem; min-width: 2px; background: var(--stage) }
        ol.fall .time { text-align: right; font-variant-numeric: tabular-nums }
        ol.fall .key { background: var(--key) } ol.fall .request { background: var(--request) } ol.fall .wait { background: var(--wait) }
        ol.fall .work { background: var(--work) } ol.fall .service { background: var(--service) }
        ol.fall .wrong, ol.fall .mark { background: var(--bad) }
        .bad { color: var(--bad); font-weight: 600 }
        .sheet { overflow-x: auto } table { border-collapse: collapse; width: 100%; font-size: .875rem }
        th, td { text-align: left; vertical-align: top; padding: .25rem .5rem; border-bottom: 1px solid var(--line) }
        td.number, th.number { text-align: right; font-variant-numeric: tabular-nums; white-space: nowrap }
        caption { text-align: left; color: var(--soft); padding: .25rem 0 }
        .pictures { display: grid; grid-template-columns: repeat(auto-fill, minmax(16rem, 1fr)); gap: 1rem }
        figure { margin: .5rem 0 } img { max-width: 100%; height: auto; border: 1px solid var(--line) }
        a { color: var(--stage) } a:focus-visible, .sheet:focus-visible { outline: 3px solid var(--stage) }
        @media (max-width: 40rem) { ol.fall li { grid-template-columns: 1fr 5rem } ol.fall .track { grid-column: 1 / 3; grid-row: 2 } }
        @media print { :root { --back: #fff; --text: #000; --soft: #444; --line: #999; --track: #eee } body { max-width: none; padding: 0 }
          .sheet { overflow: visible } section { break-inside: avoid-page } .bar { print-color-adjust: exact } }

        """
}
