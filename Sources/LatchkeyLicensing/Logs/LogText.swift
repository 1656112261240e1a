import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms

/// Writes an entry as one JSON object on one line.
struct LogText: Sendable {
    private let pseudonyms: UserPseudonyms
    private let cut: AddressCut
    /// The member that names the node, written once; empty for none.
    private let node: [UInt8]
    /// The longest text of a member, in characters.
    private static let limit = 500
    /// 22 characters are 16 bytes in base64.
    private static let shortestSecret = 22
    private let dates = LogDates()

    init(_ pseudonyms: UserPseudonyms, _ cut: AddressCut, node: String? = nil) {
        self.pseudonyms = pseudonyms
        self.cut = cut
        var member: [UInt8] = []
        Self.add("node", node.map { String($0.prefix(64)).onOneLine }, to: &member)
        self.node = member
    }

    /// The line with its end.
    /// - Parameter dropped: how many lines of the event were dropped before this one.
    func line(_ entry: LogEntry, at date: Date, dropped: Int) -> Data {
        var line: [UInt8] = []
        line.reserveCapacity(512)
        line += "{\"ts\":\"".utf8
        line += dates.text(of: date).utf8
        line += "\",\"level\":\"".utf8
        line += entry.level.rawValue.utf8
        line += "\",\"event\":\"".utf8
        line += entry.event.name.utf8
        line += "\"".utf8
        line += node
        Self.add("request_id", entry.requestID?.text, to: &line)
        Self.add("trace_id", entry.trace?.traceID, to: &line)
        Self.add("tenant", entry.tenant.map(Self.shown), to: &line)
        Self.add("endpoint", entry.endpoint?.name, to: &line)
        Self.add("drm", entry.drm?.label, to: &line)
        Self.add("outcome", entry.outcome?.rawValue, to: &line)
        Self.add("reason", entry.reason.map(Self.shown), to: &line)
        Self.add("kid", entry.keyID?.description, to: &line)
        Self.add("key_from", entry.keyOrigin?.rawValue, to: &line)
        if !entry.degraded.isEmpty {
            Self.add("degraded", entry.degraded.map(\.rawValue).joined(separator: " "), to: &line)
        }
        Self.add("user", pseudonym(in: entry), to: &line)
        Self.add("address", entry.address.map { cut.range(of: $0).description }, to: &line)
        Self.add("listener", entry.listener.map(Self.shown), to: &line)
        Self.add("url", entry.url.map(Self.shown), to: &line)
        Self.add("message", entry.message.map(Self.shown), to: &line)
        if let status = entry.status { line += ",\"status\":\(status)".utf8 }
        if let duration = entry.duration {
            line += ",\"ms\":\((duration.inMilliseconds * 1_000).rounded() / 1_000)".utf8
        }
        if dropped > 0 { line += ",\"dropped\":\(dropped)".utf8 }
        line += "}\n".utf8
        return Data(line)
    }

    private func pseudonym(in entry: LogEntry) -> String? {
        guard let user = entry.user, let tenant = entry.tenant else { return nil }
        return pseudonyms.pseudonym(of: user, at: tenant)
    }

    private static func add(_ name: String, _ value: String?, to line: inout [UInt8]) {
        guard let value else { return }
        line += ",\"".utf8
        line += name.utf8
        line += "\":".utf8
        JSONValue.append(value, quotedTo: &line)
    }

    /// A text on one line, cut to a limit, and without anything that looks like a secret.
    ///
    /// Nothing secret should come so far. A mistake in some message must not put a token or a key into a log all the same.
    private static func shown(_ text: String) -> String {
        // Most texts are shorter than a secret, and nothing in them needs to be looked at closely.
        if text.utf8.count < shortestSecret,
            !text.hasBytes(where: { $0 < 0x20 || $0 > 0x7e || $0 == 0x3d || $0 == 0x40 })
        {
            return text
        }
        return String(Redaction.standard.redacted(words: String(text.prefix(limit * 4))).onOneLine.prefix(limit))
    }
}
