import LatchkeyCore

/// Finds key URIs that name the same key although a playlist gives each session a different URI.
///
/// Two URIs do if they differ only in a session's query items, and if the vendor names the key by the rest. Any other query item may name a
/// key. If the vendor's content identifier does not depend on the rest, only whole URIs identify keys.
struct KeyNames: Sendable {
    /// The names of query items that belong to a session, in lower case.
    private let sessionItems: Set<String>
    private let identifier: @Sendable (KeyURI) throws -> ContentIdentifier

    init(_ sessionItems: Set<String>, _ identifier: @escaping @Sendable (KeyURI) throws -> ContentIdentifier) {
        self.sessionItems = Set(sessionItems.map { $0.lowercased() })
        self.identifier = identifier
    }

    /// The key's URI without what belongs to a session; `nil` if that would not name the key.
    func name(of key: KeyURI) -> KeyURI? {
        let (place, items) = Self.parts(key)
        let kept = items.filter { !sessionItems.contains(Self.label(of: $0).lowercased()) }
        let name = Self.uri(place, kept)
        guard let identifier = try? identifier(name) else { return nil }
        let isNamed = Self.others(place, kept).contains { (try? self.identifier($0)) != identifier }
        return isNamed ? name : nil
    }

    /// URIs of other keys, if any part of the URI names one: the same with another end of the path, or another value of an item.
    private static func others(_ place: Substring, _ items: [Substring]) -> [KeyURI] {
        let end = place.lastIndex { $0 != "/" }.map { place.index(after: $0) } ?? place.endIndex
        let elsewhere = Substring("\(place[..<end])0\(place[end...])")
        return [uri(elsewhere, items)]
            + items.indices.map { index in
                var changed = items
                changed[index] += "0"
                return uri(place, changed)
            }
    }

    private static func parts(_ key: KeyURI) -> (place: Substring, items: [Substring]) {
        let parts = key.raw.split(separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        let items = parts.count > 1 ? parts[1].split(separator: "&", omittingEmptySubsequences: false) : []
        return (parts.first ?? "", items)
    }

    private static func uri(_ place: Substring, _ items: [Substring]) -> KeyURI {
        KeyURI(items.isEmpty ? String(place) : "\(place)?\(items.joined(separator: "&"))")
    }

    private static func label(of item: Substring) -> Substring { item.prefix { $0 != "=" } }
}

extension OfflineIndex {
    /// The URI by which the index knows a key: the URI itself, or else the only one that names the same key.
    ///
    /// If several do, their differences name keys after all, and none matches.
    func known(_ key: KeyURI, by names: KeyNames) -> KeyURI {
        guard !isWanted(key), let name = names.name(of: key) else { return key }
        let place = key.raw.utf8.prefix { $0 != UInt8(ascii: "?") }
        let same = wanted.filter {
            $0.raw.utf8.prefix { $0 != UInt8(ascii: "?") }.elementsEqual(place) && names.name(of: $0) == name
        }
        return same.count == 1 ? same.first ?? key : key
    }

    /// Gives keys that the index knows the URIs of a newer session, whose licenses a service still renews.
    mutating func adopt(_ keys: Set<KeyURI>, by names: KeyNames) {
        let counts = keys.reduce(into: [KeyURI: Int]()) { $0[names.name(of: $1) ?? $1, default: 0] += 1 }
        for key in keys where counts[names.name(of: key) ?? key] == 1 {
            rename(known(key, by: names), to: key)
        }
    }

    /// Puts a URI in the place of another one that names the same key.
    mutating func rename(_ old: KeyURI, to new: KeyURI) {
        guard old != new else { return }
        for (asset, keys) in assets where keys.contains(old) { assets[asset] = keys.subtracting([old]).union([new]) }
        guard var record = keys.removeValue(forKey: old) else { return }
        record.uri = new
        keys[new] = record
    }
}
