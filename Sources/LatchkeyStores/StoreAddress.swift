package import Foundation
package import LatchkeyCore

/// The address of a store, as in a configuration.
///
/// Source: `Documentation/LicenseServer.md` §7.4.
package enum StoreAddress: Sendable, Hashable {
    /// In this process; lost when it ends.
    case memory
    /// `sqlite:PATH`: a file for one node.
    case sqlite(path: String)
    /// `postgresql://…` or `postgres://…`: one or several hosts, as libpq reads it. It may hold a password.
    case postgresql(Secret)
    /// In the syntax of `RedisAddress`.
    case redis(Secret)

    /// - Parameter text: the address.
    /// - Throws: `storeAddress` for another scheme. Whether the engine is available shows when it is opened.
    package init(_ text: String) throws(Diagnosis) {
        if text == "memory" {
            self = .memory
        } else if let path = text.dropping("sqlite:"), !path.isEmpty {
            self = .sqlite(path: path)
        } else if text.hasPrefix("postgresql://") || text.hasPrefix("postgres://") {
            self = .postgresql(Secret(text))
        } else if text.hasPrefix("redis+unix:") || RedisScheme(of: text) != nil {
            self = .redis(Secret(text))
        } else {
            let scheme = text.prefix { $0 != ":" }.prefix(20)
            throw Diagnosis(
                code: "storeAddress", reason: "“\(String(scheme).onOneLine)” is not a supported kind of store.",
                remedy: "Write memory, sqlite:PATH, postgresql://…, redis://… or redis+cluster://….")
        }
    }

    /// Whether it is a PostgreSQL database, whose tables have to be made.
    package var isDatabase: Bool {
        if case .postgresql = self { true } else { false }
    }

    /// Whether the address contains a password: behind the user's name, or as a parameter.
    package var holdsPassword: Bool {
        guard case .postgresql(let secret) = self else {
            guard case .redis(let secret) = self else { return false }
            let text = secret.revealedText[...]
            return Self.holdsPassword(text, loginBefore: RedisAddress.parameters(in: text))
        }
        let text = secret.revealedText[...]
        return Self.holdsPassword(text, loginBefore: text.endIndex)
    }

    /// The files of Redis's secrets that the address names, to check whether others can read them.
    package var secretFiles: [String] {
        guard case .redis(let secret) = self, let address = try? RedisAddress(secret) else { return [] }
        return RedisAddress.File.allCases.filter(\.isSecret).compactMap { address.files[$0] }
    }

    /// The address, with relative file paths resolved against a folder. PostgreSQL's library reads its own.
    package func below(_ folder: URL) -> StoreAddress {
        func absolute(_ path: String) -> String { URL(filePath: path, relativeTo: folder).absoluteURL.path }
        switch self {
        case .memory, .postgresql: return self
        case .sqlite(let path): return .sqlite(path: absolute(path))
        case .redis(let secret):
            let text = secret.revealedText[...]
            let mark = RedisAddress.parameters(in: text)
            guard mark < text.endIndex, RedisScheme(of: secret.revealedText) != nil else { return self }
            let items = text[mark...].dropFirst().split(separator: "&").map { item in
                let words = item.split(separator: "=", maxSplits: 1)
                guard words.count == 2, RedisAddress.File(rawValue: String(words[0])) != nil,
                    let path = String(words[1]).removingPercentEncoding,
                    let value = absolute(path).addingPercentEncoding(withAllowedCharacters: .alphanumerics)
                else { return String(item) }
                return "\(words[0])=\(value)"
            }
            return .redis(Secret("\(text[..<mark])?\(items.joined(separator: "&"))"))
        }
    }

    private static func holdsPassword(_ text: Substring, loginBefore end: Substring.Index) -> Bool {
        let parts = text.split(separator: "?", maxSplits: 1)
        let items = parts.count > 1 ? parts[1].split(separator: "&") : []
        if items.contains(where: { $0.lowercased().hasPrefix("password=") && $0.utf8.count > 9 }) { return true }
        // A password may contain a slash or a question mark, against the rules: search up to the last @ before the end.
        guard let scheme = text.range(of: "://"), let at = text[..<end].lastIndex(of: "@"), at >= scheme.upperBound,
            let colon = text[scheme.upperBound..<at].firstIndex(of: ":")
        else { return false }
        return text.index(after: colon) < at
    }
}

extension String {
    fileprivate func dropping(_ prefix: String) -> String? { hasPrefix(prefix) ? String(dropFirst(prefix.count)) : nil }
}
