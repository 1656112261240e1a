import LatchkeyCore

/// A vendor's codes as a table. A row has a code, a kind, a meaning, and then, if they differ from the kind's: a remedy, the status that
/// the page states, and whether new credentials may help.
struct CodeTable: Sendable {
    let codes: [String: DocumentedCode]
    let flaws: [TableFlaw]

    init(_ text: String) {
        var codes: [String: DocumentedCode] = [:]
        let table = EmbeddedTable(text, columns: 3...6) { row throws(TableFlaw) in
            let code = try row.text(0)
            guard codes[code] == nil else { throw row.flaw("The code \(code) is there twice.") }
            codes[code] = DocumentedCode(
                try row.value(1) { ServiceKind(rawValue: $0)?.kind }, try row.text(2), try row.valueIfAny(3) { $0 },
                status: try row.valueIfAny(4) { Int($0) },
                newCredentials: try row.valueIfAny(5) { ["newCredentials": true, "sameCredentials": false][$0] })
        }
        (self.codes, flaws) = (codes, table.flaws)
    }
}
