import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyTerminal

/// The options that the verbs about blocks share.
private struct BlockOptions {
    static let address = OperatorAddress(code: "notBlocked")
    static let tenant = Option("tenant", .text("NAME"), "the tenant of the account or device", .required)
    static let kind = Positional("KIND", "account, or device", .none)
    static let name = Positional("NAME", "the account's name in the tokens, or the device's name in the console", .none)

    static func kind(_ arguments: Arguments) throws -> String {
        let kind = arguments[kind]
        guard Block.Kind(rawValue: kind) != nil else {
            throw UsageError("KIND is account or device, not \(quoted(kind)).")
        }
        return kind
    }
}

/// `latchkey-server block set`: licenses nothing to an account or a device.
struct BlockSetVerb: Verb {
    private let reason = Option(
        "reason", .text("TEXT"), "the reason, which operators see and viewers do not", .required)
    private let until = Option("until", .text("TIME"), "the end, such as 2026-12-24T00:00:00Z; defaults to no end")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "block set", summary: "block an account or a device",
            details: """
                Each node that reaches the key store enforces it within a second; running streams end at their next renewal or heartbeat. During an outage of
                the key store it is in force on the node of --server only, if that has stores.copy: repeat it for each node. The audit
                records it.
                """,
            positionals: [BlockOptions.kind, BlockOptions.name],
            options: [BlockOptions.tenant, reason, until] + BlockOptions.address.options,
            examples: [
                "latchkey-server block set account viewer-7 --tenant demo --reason 'stolen password'",
                "latchkey-server block set device 6f0c… --tenant demo --reason rooted --until 2026-12-24T00:00:00Z",
            ],
            yes: "it is blocked", no: "it is not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        var members: [String: JSONValue] = [
            "kind": .text(try BlockOptions.kind(arguments)), "name": .text(arguments[BlockOptions.name]),
            "reason": .text(try arguments.required(reason)),
        ]
        members["until"] = arguments[until].map { .text($0) }
        let reply = try await BlockOptions.address.ask(
            "PUT", ["tenants", arguments.required(BlockOptions.tenant), "blocks"], body: .object(members), arguments,
            console)
        console.print(
            JSONValue(reply)?["stored"] == .flag(false)
                ? "Blocked on this node only, until the key store answers. Repeat it with --server for each other node."
                : "Blocked. Each node that reaches the key store enforces it within a second.")
        return .yes
    }
}

/// `latchkey-server block lift`: licenses to a blocked account or device again.
struct BlockLiftVerb: Verb {
    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "block lift", summary: "unblock an account or a device",
            details: "It needs the key store. The audit records it.",
            positionals: [BlockOptions.kind, BlockOptions.name],
            options: [BlockOptions.tenant] + BlockOptions.address.options,
            examples: ["latchkey-server block lift account viewer-7 --tenant demo"],
            yes: "it is no longer blocked", no: "it was not blocked, or still is; the error says which")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let query = [("kind", try BlockOptions.kind(arguments)), ("name", arguments[BlockOptions.name])]
        _ = try await BlockOptions.address.ask(
            "DELETE", ["tenants", arguments.required(BlockOptions.tenant), "blocks"], query: query, arguments, console)
        console.print("Unblocked. Each node that reaches the key store learns it within a second.")
        return .yes
    }
}

/// `latchkey-server block list`: the blocks that a node enforces.
struct BlockListVerb: Verb {
    private let prefix = Option("prefix", .text("TEXT"), "only names that begin with this")

    var usage: Usage {
        Usage(
            program: "latchkey-server", name: "block list",
            summary: "list the blocked accounts and devices of a tenant",
            details: "By name, as the node of --server enforces them.",
            options: [BlockOptions.tenant, prefix] + BlockOptions.address.options + [Flag.json],
            examples: ["latchkey-server block list --tenant demo"],
            yes: "the list was printed", no: "it was not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let path = ["tenants", try arguments.required(BlockOptions.tenant), "blocks"]
        var (blocks, next): ([JSONValue], String?) = ([], "")
        while let after = next {
            let query = [("prefix", arguments[prefix] ?? ""), ("after", after), ("limit", "200")]
            let reply = JSONValue(try await BlockOptions.address.ask("GET", path, query: query, arguments, console))
            blocks += reply?["blocks"]?.elements ?? []
            next = reply?["next"]?.text
        }
        guard !arguments[Flag.json] else {
            console.print(JSONValue.array(blocks).canonicalText)
            return .yes
        }
        for block in blocks {
            let end = block["until"]?.text.map { " until \($0)" } ?? ""
            let words = ["kind", "name", "since", "by", "reason"].map { (block[$0]?.text ?? "").onOneLine }
            console.print("\(words[0]) \(words[1]), since \(words[2])\(end), by \(words[3]): \(words[4])")
        }
        if blocks.isEmpty { console.note("No account and no device is blocked.") }
        return .yes
    }
}
