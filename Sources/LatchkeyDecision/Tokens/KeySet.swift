package import Foundation
import LatchkeyCore
import LatchkeyForms

/// The keys that verify tokens, each with its own name and algorithm. Never changes; a new set replaces it as a whole.
///
/// Source: RFC 7517 §5; `Documentation/LicenseServer.md` §5.2.
package struct KeySet: Sendable {
    /// The longest document in bytes: 64 KiB.
    package static let limit = 64 * 1_024

    /// The keys in the order of the documents.
    package let keys: [TokenKey]
    /// Why other keys of the documents are not among them.
    package let refused: [KeySetError]

    /// A set without keys, with which every token is refused.
    package static let empty = KeySet()

    private init() { (keys, refused) = ([], []) }

    /// A set of these keys.
    /// - Throws: `KeySetError` for no keys, and for two of one name.
    package init(_ keys: [TokenKey]) throws(KeySetError) {
        try self.init(read: keys.map { (nil, .success($0)) })
        if let first = refused.first { throw .unusable(first.reason, remedy: first.remedy) }
    }

    /// Reads a JSON web key set, or public keys in PEM.
    ///
    /// A key that cannot be used does not keep the others out; `refused` has it. Of two keys of one name, the first counts. Keys in PEM have
    /// no name.
    /// - Parameters:
    ///   - document: the document, at most 64 KiB.
    ///   - keys: further keys, such as those from PEM files. Defaults to none.
    ///   - algorithms: the accepted algorithms; empty means all. They also apply to a key of RSA that states none.
    /// - Throws: `KeySetError` for an invalid key set, and for one without a usable key.
    package init(
        jwks document: Data, beside keys: [TokenKey] = [], algorithms: [TokenAlgorithm] = []
    ) throws(KeySetError) {
        guard document.count <= Self.limit else { throw .tooLong(document.count) }
        let read =
            document.starts(with: Array("-----BEGIN".utf8))
            ? Self.keys(inPEM: String(decoding: document, as: UTF8.self), algorithms)
            : try Self.keys(inJSON: document, algorithms)
        try self.init(read: keys.map { (nil, .success($0)) } + read)
    }

    private static func keys(
        inJSON document: Data, _ algorithms: [TokenAlgorithm]
    ) throws(KeySetError) -> [Read] {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.value(of: document, depth: 8) } catch {
            throw .unusable(
                "The document \(error.reason)", remedy: "Publish a JSON web key set, or public keys in PEM.")
        }
        guard case .array(let elements)? = value["keys"] else {
            throw value["kty"] == nil
                ? .unusable("The document has no “keys” list.", remedy: "Publish a JSON web key set: {\"keys\":[…]}.")
                : .unusable(
                    "The document is a single key, not a set.", remedy: "Put the key into a list: {\"keys\":[…]}.")
        }
        return elements.enumerated().map { index, element in
            ("keys[\(index)]", Result { () throws(KeySetError) in try TokenKey(jwk: element, of: algorithms) })
        }
    }

    private static func keys(
        inPEM text: String, _ algorithms: [TokenAlgorithm]
    ) -> [Read] {
        // The start of a block ends the one before; at most 64 KiB, so at most some hundred blocks.
        text.split(separator: "-----BEGIN").enumerated().map { index, block in
            (
                "block \(index + 1)",
                Result { () throws(KeySetError) in
                    try TokenKey(pem: Array("-----BEGIN\(block)".utf8), of: algorithms)
                }
            )
        }
    }

    /// The result for one key, and its place in its document; `nil` for a key without a document.
    private typealias Read = (place: String?, result: Result<TokenKey, KeySetError>)

    private init(read: [Read]) throws(KeySetError) {
        var keys: [TokenKey] = []
        var refused: [KeySetError] = []
        for (place, result) in read {
            switch result {
            case .success(let key) where key.id != nil && keys.contains { $0.id == key.id }:
                let error = KeySetError(
                    key.id, "another key has the same name", remedy: "Give each key a unique “kid”.")
                refused.append(error.at(place))
            case .success(let key): keys.append(key)
            case .failure(let error): refused.append(error.at(place))
            }
        }
        guard !keys.isEmpty else { throw .unusable(refused) }
        self.keys = keys
        self.refused = refused
    }

    /// The most keys that a token without `kid` is tried with: verifying a signature on a curve takes a part of a license's time.
    package static let candidateLimit = 4

    /// The keys that a token may mean: the one of its `kid`, or without one those for its algorithm, at least one.
    /// - Throws: `TokenError` of the kind `form`, `key` or `algorithm`.
    func candidates(for name: JSONValue?, _ algorithm: TokenAlgorithm) throws(TokenError) -> [TokenKey] {
        guard let name else { return try candidates(for: algorithm) }
        guard case .text(let text) = name, let id = TokenKeyID(text) else {
            throw .form("Its header's “kid” is not text of 1 to \(TokenKeyID.limit) bytes.")
        }
        guard let key = keys.first(where: { $0.id == id }) else {
            throw TokenError(
                .key, "The key set has no key “\(id)”.", remedy: "Publish the key before signing with it.",
                unknownKey: id)
        }
        guard key.algorithms.contains(algorithm) else {
            let names = key.algorithms.map(\.rawValue).joined(separator: " or ")
            throw .algorithm("The token states \(algorithm.rawValue), but its key is for \(names).")
        }
        return [key]
    }

    private func candidates(for algorithm: TokenAlgorithm) throws(TokenError) -> [TokenKey] {
        let candidates = keys.filter { $0.algorithms.contains(algorithm) }
        guard (1...Self.candidateLimit).contains(candidates.count) else {
            throw TokenError(
                .key,
                "The token does not name a key, and the key set has \(candidates.count) for \(algorithm.rawValue).",
                remedy: candidates.isEmpty
                    ? "Sign with a key of the key set." : "Put the key's name into the header's “kid”.")
        }
        return candidates
    }
}

/// Why a key cannot verify tokens, or a key set was not taken. Names a key and its place, and shows nothing else of it.
package struct KeySetError: DiagnosableError, Equatable {
    package let code: String
    package let remedy: String
    private let problem: String
    /// The name of the key that is refused; `nil` if it has none, and for a whole set.
    package private(set) var id: TokenKeyID?
    /// The key's place in its document, such as `keys[2]`; `nil` for a key without a document, and for a whole set.
    package private(set) var place: String?

    /// A key that is refused.
    /// - Parameters:
    ///   - id: the key's name; `nil` if it has none.
    ///   - problem: the fault, in small letters and without a full stop.
    ///   - remedy: what to do, one imperative sentence. Defaults to a correction.
    init(_ id: TokenKeyID?, _ problem: String, remedy: String = "Correct the key in the key set.") {
        self.init("tokenKeyRefused", problem, remedy: remedy)
        self.id = id
    }

    private init(_ code: String, _ problem: String, remedy: String) {
        (self.code, self.problem, self.remedy) = (code, problem, remedy)
    }

    package var reason: String {
        guard code == "tokenKeyRefused" else { return problem }
        let name = id.map { "“\($0)”" } ?? "without a name"
        return "The key \(name)\(place.map { " at \($0)" } ?? "") is refused: \(problem)."
    }

    fileprivate func at(_ place: String?) -> Self {
        var error = self
        error.place = place
        return error
    }

    static func tooLong(_ count: Int) -> Self {
        Self(
            "keySetTooLong", "The key set has \(count) bytes, more than \(KeySet.limit).",
            remedy: "Publish only the keys in use, without certificates.")
    }

    static func unusable(
        _ problem: String, remedy: String = "Publish a JSON web key set with the keys that sign."
    ) -> Self {
        Self("keySetUnusable", "The key set cannot be used. \(problem)", remedy: remedy)
    }

    /// A set without a usable key.
    fileprivate static func unusable(_ refused: [KeySetError]) -> Self {
        unusable(
            (["It has no usable key."] + refused.prefix(3).map(\.reason)).joined(separator: " "),
            remedy: refused.first?.remedy ?? "Publish the keys that sign.")
    }

    static func unreachable(_ problem: String, remedy: String = "Check the key set's file or address.") -> Self {
        Self("keySetUnreachable", "The key set cannot be fetched. \(problem)", remedy: remedy)
    }

    /// An address that answered, but not with a set.
    /// - Parameter status: the HTTP status.
    package static func status(_ status: Int) -> Self {
        let hint = (300...399).contains(status) ? ", which is not followed" : ""
        return .unreachable(
            "Its address responds with \(status)\(hint).",
            remedy: "Use the address that responds with 200 and the key set.")
    }
}
