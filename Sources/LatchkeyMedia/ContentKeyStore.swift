import Foundation
public import LatchkeyCore

/// Content keys in memory, found by any name that license services use for a key.
///
/// Immutable.
public struct ContentKeyStore: Sendable {
    /// The result of a search.
    public enum Match: Sendable, Hashable {
        /// One key.
        case one(StoredKey)
        /// The name matches different keys.
        case several
        /// The name matches no key.
        case none
    }

    /// The keys in their original order.
    public let keys: [StoredKey]
    /// Names, in order of precision: the whole URI, the text after its scheme, its last path component.
    private let names: [[String: Match]]
    private let ids: [KeyID: Match]

    /// - Parameter keys: any number; one key may have several URIs.
    public init(_ keys: [StoredKey]) {
        self.keys = keys
        let spellings: [(StoredKey) -> String] = [\.uri.raw, \.uri.remainder, \.lastPathComponent]
        names = spellings.map { spelling in Self.index(keys, by: spelling) }
        ids = Self.index(keys, by: \.id)
    }

    /// Finds a key by its URI, the text after the URI's scheme, the URI's last path component, or by its identifier as
    /// hexadecimal digits, UUID or base64. The most precise match wins.
    public func key(named name: String) -> Match {
        for index in names {
            if let match = index[name] { return match }
        }
        guard let id = KeyID(name) ?? Data(lenientBase64: name).flatMap({ KeyID(bytes: $0) }) else { return .none }
        return key(id)
    }

    /// Finds a key by its identifier.
    public func key(_ id: KeyID) -> Match { ids[id] ?? .none }

    /// The part of a content identifier that names a key, if the vendor does not specify the part of the key URI.
    ///
    /// The first match of: the whole, the text after the scheme, the last path component, the host. Without a match, the
    /// whole, for the refusal to show.
    package func name(in identifier: ContentIdentifier) -> String {
        let uri = KeyURI(identifier.description)
        let candidates = [uri.raw, uri.remainderBeforeQuery, uri.pathComponents.last ?? uri.host, uri.host]
        return candidates.first(where: hasKey) ?? uri.raw
    }

    /// Whether a name matches exactly one key.
    package func hasKey(named name: String) -> Bool {
        if case .one = key(named: name) { true } else { false }
    }

    private static func index<Name: Hashable>(_ keys: [StoredKey], by name: (StoredKey) -> Name) -> [Name: Match] {
        keys.reduce(into: [:]) { index, key in
            switch index[name(key)] {
            case nil, .some(.none): index[name(key)] = .one(key)
            case .one(let other) where other.isSameKey(as: key): break
            case .one, .several: index[name(key)] = .several
            }
        }
    }
}
