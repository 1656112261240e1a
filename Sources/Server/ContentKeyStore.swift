import Foundation
public import LatchkeyCore

/// Content keys in memory, found by whatever a license service names a key by.
///
/// Immutable; share it freely.
public struct ContentKeyStore: Sendable {
    /// What came of a search.
    public enum Match: Sendable, Hashable {
        /// One key.
        case one(StoredKey)
        /// The name fits different keys; none is guessed.
        case several
        /// No key has the name.
        case none
    }

    /// The keys in the order in which they were given.
    public let keys: [StoredKey]
    /// Names by how exact they are: whole URI, what stands behind the scheme, last path component.
    private let names: [[String: Match]]
    private let ids: [KeyID: Match]

    /// - Parameter keys: any number; one key may stand under several URIs.
    public init(_ keys: [StoredKey]) {
        self.keys = keys
        let spellings: [(StoredKey) -> String] = [\.uri.raw, \.uri.remainder, \.lastPathComponent]
        names = spellings.map { spelling in Self.index(keys, by: spelling) }
        ids = Self.index(keys, by: \.id)
    }

    /// Finds a key by its URI, what stands behind the URI's scheme, the URI's last path component, or its identifier as
    /// hexadecimal digits, UUID or base64. The more exact way wins.
    public func key(named name: String) -> Match {
        for index in names {
            if let match = index[name] { return match }
        }
        guard let id = KeyID(name) ?? Data(lenientBase64: name).flatMap({ KeyID(bytes: $0) }) else { return .none }
        return key(id)
    }

    /// Finds a key by its identifier.
    public func key(_ id: KeyID) -> Match { ids[id] ?? .none }

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
