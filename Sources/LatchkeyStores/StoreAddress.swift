import Foundation
package import LatchkeyCore

/// Where a store is, as a configuration names it.
///
/// Source: `Documentation/LicenseServer.md` §7.4.
package enum StoreAddress: Sendable, Hashable {
    /// In this process; gone when it ends.
    case memory
    /// `sqlite:PATH`: a file for one node.
    case sqlite(path: String)
    /// `postgresql://…` or `postgres://…`: one or several hosts, as libpq reads it. It may hold a password.
    case postgresql(Secret)
    /// `redis://[[USER]:PASSWORD@]HOST[:PORT][/DATABASE]`, `redis+unix:PATH`, or `redis+sentinel://HOST:PORT[,HOST:PORT…]/NAME`.
    case redis(Secret)

    /// - Parameter text: the address.
    /// - Throws: `storeAddress` for another scheme. Whether the engine is there shows when it is opened.
    package init(_ text: String) throws(Diagnosis) {
        if text == "memory" {
            self = .memory
        } else if let path = text.dropping("sqlite:"), !path.isEmpty {
            self = .sqlite(path: path)
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            self = .postgresql(Secret(text))
        } else if text.hasPrefix("redis://") || text.hasPrefix("redis+unix:") || text.hasPrefix("redis+sentinel://") {
            self = .redis(Secret(text))
        } else {
            let scheme = text.prefix { $0 != ":" }.prefix(20)
            throw Diagnosis(
                code: "storeAddress", reason: "“\(String(scheme).onOneLine)” is no kind of store.",
                remedy: "Write memory, sqlite:PATH, postgresql://… or redis://….")
        }
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
