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

    /// Whether a password stands in the address: behind the user's name, or as a parameter.
    package var holdsPassword: Bool {
        guard case .postgresql(let secret) = self else {
            guard case .redis(let secret) = self else { return false }
            return Self.holdsPassword(secret.revealedText)
        }
        return Self.holdsPassword(secret.revealedText)
    }

    private static func holdsPassword(_ text: String) -> Bool {
        let parts = text.split(separator: "?", maxSplits: 1)
        let items = parts.count > 1 ? parts[1].split(separator: "&") : []
        if items.contains(where: { $0.lowercased().hasPrefix("password=") && $0.utf8.count > 9 }) { return true }
        // A password may have a slash or a question mark in it, against the rules: look up to the last @ of all.
        guard let scheme = text.range(of: "://"), let at = text.lastIndex(of: "@"), at >= scheme.upperBound,
            let colon = text[scheme.upperBound..<at].firstIndex(of: ":")
        else { return false }
        return text.index(after: colon) < at
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
