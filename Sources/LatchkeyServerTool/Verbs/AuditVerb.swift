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
        "at-least", .auditAnchor, "an entry that was there once, as this printed it; its absence is a break")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "audit verify", summary: "compute the audit's chain again",
            details: """
                Names the first entry that was changed, removed or put elsewhere, and prints the last one's number and hash. Keep these where
                nobody can write who can write the audit, and give them next time: without them, an audit whose newest entries are gone, or
                all, cannot be told from a whole one.
                """,
            options: [config, atLeast, Flag.json],
            examples: [
                "latchkey-server audit verify --config server.json",
                "latchkey-server audit verify --config server.json --at-least 41:6f0c…",
                "latchkey-server audit verify --config server.json --json",
            ],
            yes: "the chain is whole, and the entry of --at-least is in it", no: "it is broken; the place is named")
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
                    "Whether newer entries are gone was not checked: give the anchor of a former run by --at-least.")
            }
        }
        return anchor == nil ? .no : .yes
    }

    /// What `--json` prints.
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
            throw UsageError("needs NUMBER:HASH as audit verify prints it, not \(quoted(text))")
        }
        return anchor
    }
}
