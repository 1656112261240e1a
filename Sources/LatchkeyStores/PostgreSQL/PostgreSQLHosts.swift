import CPostgreSQL
import LatchkeyCore
import LatchkeySystem

/// The hosts of an address, each with the parameters of a connection.
///
/// libpq would try them in turn itself, but without a time limit for each if its calls do not block.
struct PostgreSQLHosts: Sendable {
    /// The defaults of an address, against hosts that stop responding.
    private static let defaults = [
        "target_session_attrs": "read-write", "tcp_user_timeout": "3000", "keepalives_idle": "10",
        "keepalives_interval": "3", "keepalives_count": "3", "connect_timeout": "3",
        "fallback_application_name": "latchkey",
    ]
    /// The parameters of every connection.
    private static let fixed = ["client_encoding": "UTF8"]

    /// Keywords and values of each host; not empty. May hold a password.
    private(set) var parameters: [[String: Secret]]
    /// Whether a server that takes no changes will do.
    private(set) var takesReadOnly: Bool
    /// Whether the address says which servers will do.
    private let saysWhich: Bool
    /// How long one host may take.
    let connectLimit: Duration

    /// - Parameter address: as libpq reads it.
    /// - Throws: `storeMisconfigured` for an address that libpq cannot read, without quoting it.
    init(_ address: Secret) throws(StoreError) {
        var complaint: UnsafeMutablePointer<CChar>?
        let options = PQconninfoParse(address.revealedText, &complaint)
        // The complaint quotes the address, and with it the password.
        PQfreemem(complaint)
        guard let options else {
            throw StoreError(
                .misconfigured, PostgreSQLStore.name, reason: "libpq cannot parse the address.",
                remedy: "Use postgresql://USER@HOST[,HOST…]/DATABASE, with %-escapes for special characters.")
        }
        defer { PQconninfoFree(options) }
        var given: [String: String] = [:]
        var option = options
        while let keyword = option.pointee.keyword {
            if let value = option.pointee.val { given[String(cString: keyword)] = String(cString: value) }
            option += 1
        }
        let lists = ["host", "hostaddr", "port"].map {
            ($0, given[$0].map { $0.split(separator: ",", omittingEmptySubsequences: false) } ?? [])
        }
        let count = max(1, lists.map(\.1.count).max() ?? 1)
        parameters = (0..<count).map { number in
            var one = Self.defaults.merging(given) { $1 }.merging(Self.fixed) { $1 }
            for (keyword, values) in lists where !values.isEmpty {
                // One port applies to all hosts.
                one[keyword] = values.indices.contains(number) ? String(values[number]) : values.last.map(String.init)
            }
            return one.mapValues { Secret($0) }
        }
        let wanted = given["target_session_attrs"] ?? Self.defaults["target_session_attrs"] ?? ""
        takesReadOnly = !["read-write", "primary"].contains(wanted)
        saysWhich = given["target_session_attrs"] != nil
        let seconds = Int(given["connect_timeout"] ?? "") ?? 3
        connectLimit = .seconds(seconds > 0 ? min(seconds, 60) : 3)
    }

    /// The hosts for readers; `nil` if the address says which servers will do.
    var forReaders: PostgreSQLHosts? {
        guard !saysWhich else { return nil }
        var hosts = self
        hosts.parameters = parameters.map { $0.merging(["target_session_attrs": Secret("any")]) { $1 } }
        hosts.takesReadOnly = true
        return hosts
    }
}
