import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores
import LatchkeyTerminal
import LatchkeyVault

/// `latchkey-server audit verify`: whether the audit is as it was written.
struct AuditVerb: Verb {
    private let config = Option("config", .path("FILE"), "the configuration, in JSON", .required)
    private let atLeast = Option(
        "at-least", .auditAnchor, "an entry that an earlier run printed; if it is missing, the chain is broken")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "audit verify", summary: "verify the audit's chain",
            details: """
                Names the first entry that was changed, removed or moved, and prints the last entry's number and hash. Keep these out of
                reach of anyone who can write to the audit, and pass them in the next time. Without them, the command cannot detect that
                the newest entries, or all of them, were removed.
                """,
            options: [config, atLeast, Flag.json],
            examples: [
                "latchkey-server audit verify --config server.json",
                "latchkey-server audit verify --config server.json --at-least 41:6f0c…",
                "latchkey-server audit verify --config server.json --json",
            ],
            yes: "the chain is intact and contains the entry of --at-least",
            no: "the chain is broken; the output names the entry")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let engines = try await ServerEngines.open(ConfigurationFile.read(arguments.required(config)), for: .checking)
        defer { engines.close() }
        let verdict = try await AuditChain.verify(engines.audit, knowing: arguments[atLeast])
        var anchor: AuditAnchor?
        if case .intact(let last) = verdict { anchor = AuditAnchor(last) }
        if arguments[Flag.json] {
            try console.printJSON(
                Report(
                    intact: anchor != nil, verdict: "\(verdict)", anchor: anchor?.text,
                    anchored: arguments[atLeast] != nil))
        } else {
            console.print("\(verdict)")
            if let anchor { console.print("Anchor: \(anchor.text)") }
            if anchor != nil, arguments[atLeast] == nil {
                console.note(
                    "This did not check for removed newer entries: pass an earlier run's anchor in --at-least.")
            }
        }
        return anchor == nil ? .no : .yes
    }

    /// The output of `--json`.
    private struct Report: Encodable {
        let intact: Bool
        let verdict: String
        /// The last entry, as `--at-least` takes it.
        let anchor: String?
        /// Whether an anchor was given.
        let anchored: Bool
    }
}

extension ValueForm<AuditAnchor> {
    /// `NUMBER:HASH`.
    fileprivate static let auditAnchor = ValueForm(placeholder: "NUMBER:HASH") { text throws(UsageError) in
        guard let anchor = AuditAnchor(text) else {
            throw UsageError("needs NUMBER:HASH as printed by audit verify, not \(quoted(text))")
        }
        return anchor
    }
}
