package import Foundation
import LatchkeyCore

/// The keys that verify tokens, each with a name and an algorithm of its own. Never changes; a new set replaces it as a whole.
///
/// Source: RFC 7517 §5; `Documentation/LicenseServer.md` §5.2.
package struct KeySet: Sendable {
    /// The longest document in bytes: 64 KiB.
    package static let limit = 64 * 1_024

    /// The keys in the order of the documents.
    package let keys: [TokenKey]
    /// Why other keys of the documents are not among them.
    package let refused: [TokenKeyError]

    /// A set without keys, with which every token is refused.
    package static let empty = KeySet()

    private init() { (keys, refused) = ([], []) }

    /// A set of these keys.
    /// - Throws: `KeySetError` for no keys, and for two of one name.
    package init(_ keys: [TokenKey]) throws(KeySetError) {
        try self.init(read: keys.map { .success($0) })
        if let first = refused.first { throw .unusable("\(first.reason)") }
    }

    /// Reads a JSON web key set.
    ///
    /// A key that cannot be used does not keep the others out; `refused` has it. Of two keys of one name, the first counts.
    /// - Parameters:
    ///   - document: the document, at most 64 KiB.
    ///   - keys: keys beside it, such as those from PEM files. Defaults to none.
    /// - Throws: `KeySetError` for what is no key set, and for one without a key that can be used.
    package init(jwks document: Data, beside keys: [TokenKey] = []) throws(KeySetError) {
        guard document.count <= Self.limit else { throw .tooLong(document.count) }
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.value(of: document, depth: 8) } catch {
            throw .unusable("The document \(error.reason)")
        }
        guard case .array(let elements)? = value["keys"] else {
            throw .unusable("The document has no list “keys”.")
        }
        let read = elements.map { element in Result { () throws(TokenKeyError) in try TokenKey(jwk: element) } }
        try self.init(read: keys.map { .success($0) } + read)
    }

    private init(read: [Result<TokenKey, TokenKeyError>]) throws(KeySetError) {
        var keys: [TokenKey] = []
        var refused: [TokenKeyError] = []
        for result in read {
            switch result {
            case .success(let key) where key.id != nil && keys.contains { $0.id == key.id }:
                refused.append(TokenKeyError(key.id, "another key has its name"))
            case .success(let key): keys.append(key)
            case .failure(let error): refused.append(error)
            }
        }
        guard !keys.isEmpty else {
            throw .unusable(
                (["It has no key that can be used."] + refused.prefix(3).map(\.reason)).joined(separator: " "))
        }
        self.keys = keys
        self.refused = refused
    }

    /// The key that a token means: the one of its `kid`, or without one the only key for its algorithm.
    /// - Throws: `TokenError` of the kind `form` or `key`.
    func key(for name: JSONValue?, _ algorithm: TokenAlgorithm) throws(TokenError) -> TokenKey {
        guard let name else { return try key(for: algorithm) }
        guard case .text(let text) = name, let id = TokenKeyID(text) else {
            throw .form("Its header's “kid” is no text of 1 to \(TokenKeyID.limit) bytes.")
        }
        guard let key = keys.first(where: { $0.id == id }) else {
            throw TokenError(
                .key, "The key set has no key “\(id)”.", remedy: "Publish the key before signing with it.",
                unknownKey: id)
        }
        return key
    }

    private func key(for algorithm: TokenAlgorithm) throws(TokenError) -> TokenKey {
        let candidates = keys.filter { $0.algorithm == algorithm }
        guard let key = candidates.first, candidates.count == 1 else {
            throw TokenError(
                .key, "The token names no key, and the key set has \(candidates.count) for \(algorithm.rawValue).",
                remedy: "Put the key's name into the header's “kid”.")
        }
        return key
    }
}

/// Why a key set was not taken. Shows no key.
package struct KeySetError: DiagnosableError, Equatable {
    package let code: String
    package let reason: String
    package let remedy: String

    static func tooLong(_ count: Int) -> Self {
        Self(
            code: "keySetTooLong", reason: "The key set has \(count) bytes, more than \(KeySet.limit).",
            remedy: "Publish the keys in use alone, without certificates.")
    }

    static func unusable(_ problem: String) -> Self {
        Self(
            code: "keySetUnusable", reason: "The key set cannot be used. \(problem)",
            remedy: "Publish a JSON web key set with an “alg” for each key.")
    }

    static func unreachable(_ problem: String) -> Self {
        Self(
            code: "keySetUnreachable", reason: "The key set cannot be fetched. \(problem)",
            remedy: "Check the key set's file or address.")
    }
}
