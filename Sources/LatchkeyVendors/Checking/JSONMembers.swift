import Foundation
import LatchkeyCore

/// Decodes JSON and records which members of its objects were read, to find misspelled ones.
///
/// It wraps the decoder that values see, and so works for every type without a list of its members.
final class JSONMembers: Sendable {
    private struct Seen {
        var unread: Set<String> = []
        var unknown: Set<String> = []
    }

    private let seen = Locked(Seen())
    fileprivate static let key = CodingUserInfoKey(rawValue: "latchkey.members")

    /// The places of members that nothing read. Complete after a decoding that succeeded.
    var unread: [String] { seen.withLock { $0.unread.sorted() } }
    /// The places of members whose names the types do not know, as far as decoding came.
    var unknown: [String] { seen.withLock { $0.unknown.sorted() } }

    func decode<Value: Decodable>(_ type: Value.Type, from json: Data) throws -> Value {
        let decoder = JSONDecoder()
        if let key = Self.key { decoder.userInfo[key] = self }
        return try decoder.decode(Watched<Value>.self, from: json).value
    }

    /// Records an object's members. `allKeys` of a container has only the names that its type knows.
    fileprivate func open<Key: CodingKey>(_ names: [String], of: Key.Type, at path: [any CodingKey]) {
        let places = names.map { (name: $0, place: (path + [AnyKey(stringValue: $0)]).jsonPlace) }
        seen.withLock { seen in
            seen.unread.formUnion(places.map(\.place))
            seen.unknown.formUnion(places.filter { Key(stringValue: $0.name) == nil }.map(\.place))
        }
    }

    fileprivate func read(_ path: [any CodingKey]) {
        let place = path.jsonPlace
        _ = seen.withLock { $0.unread.remove(place) }
    }
}

/// A value that a watching decoder decodes.
private struct Watched<Value: Decodable>: Decodable {
    let value: Value

    init(from decoder: any Decoder) throws {
        let members = JSONMembers.key.flatMap { decoder.userInfo[$0] } as? JSONMembers
        do {
            value = try Value(from: WatchingDecoder(base: decoder, members: members ?? JSONMembers()))
        } catch DecodingError.dataCorrupted(let context) {
            // The standard library's message for an unknown raw value names Swift's types.
            guard let words = Self.words, context.codingPath.count == decoder.codingPath.count else {
                throw DecodingError.dataCorrupted(context)
            }
            let text = "This is not one of \(words.joined(separator: ", "))."
            throw DecodingError.dataCorrupted(.init(codingPath: decoder.codingPath, debugDescription: text))
        }
    }

    /// The raw values of an enumeration; `nil` for any other type.
    private static var words: [String]? {
        func words<Word: CaseIterable & RawRepresentable>(_: Word.Type) -> [String] {
            Word.allCases.map { "\($0.rawValue)" }
        }
        return (Value.self as? any (CaseIterable & RawRepresentable).Type).map { words($0) }
    }
}

private struct WatchingDecoder: Decoder {
    let base: any Decoder
    let members: JSONMembers

    var codingPath: [any CodingKey] { base.codingPath }
    var userInfo: [CodingUserInfoKey: Any] { base.userInfo }

    func container<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        let names = try base.container(keyedBy: AnyKey.self).allKeys.map(\.stringValue)
        members.open(names, of: type, at: codingPath)
        return KeyedDecodingContainer(WatchingObject(base: try base.container(keyedBy: type), members: members))
    }

    func unkeyedContainer() throws -> any UnkeyedDecodingContainer {
        WatchingArray(base: try base.unkeyedContainer())
    }

    /// A single value has no members to watch.
    func singleValueContainer() throws -> any SingleValueDecodingContainer { try base.singleValueContainer() }
}

/// One generic `decode` implements all of the protocol's.
private struct WatchingObject<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let base: KeyedDecodingContainer<Key>
    let members: JSONMembers

    var codingPath: [any CodingKey] { base.codingPath }
    var allKeys: [Key] { base.allKeys }
    func contains(_ key: Key) -> Bool { base.contains(key) }

    func decodeNil(forKey key: Key) throws -> Bool {
        members.read(codingPath + [key])
        return try base.decodeNil(forKey: key)
    }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        members.read(codingPath + [key])
        return try base.decode(Watched<Value>.self, forKey: key).value
    }

    func nestedContainer<Other: CodingKey>(
        keyedBy type: Other.Type, forKey key: Key
    ) throws -> KeyedDecodingContainer<Other> { try superDecoder(forKey: key).container(keyedBy: type) }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer {
        try superDecoder(forKey: key).unkeyedContainer()
    }

    func superDecoder() throws -> any Decoder { WatchingDecoder(base: try base.superDecoder(), members: members) }

    func superDecoder(forKey key: Key) throws -> any Decoder {
        members.read(codingPath + [key])
        return WatchingDecoder(base: try base.superDecoder(forKey: key), members: members)
    }
}

private struct WatchingArray: UnkeyedDecodingContainer {
    var base: any UnkeyedDecodingContainer

    var codingPath: [any CodingKey] { base.codingPath }
    var count: Int? { base.count }
    var isAtEnd: Bool { base.isAtEnd }
    var currentIndex: Int { base.currentIndex }

    mutating func decodeNil() throws -> Bool { try base.decodeNil() }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        try base.decode(Watched<Value>.self).value
    }

    mutating func nestedContainer<Key: CodingKey>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> {
        try base.nestedContainer(keyedBy: type)
    }

    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { try base.nestedUnkeyedContainer() }
    mutating func superDecoder() throws -> any Decoder { try base.superDecoder() }
}
