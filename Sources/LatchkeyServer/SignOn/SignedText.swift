import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// Members that a browser keeps for the server, in a cookie that only the server's nodes can make: JSON and its HMAC-SHA-256.
struct SignedText: Sendable {
    private let secret: Secret
    /// The most bytes of a text: browsers keep cookies of 4,096 bytes with their names and attributes.
    static let longest = 3_800

    /// - Parameter secret: the same on all nodes.
    init(_ secret: Secret) { self.secret = secret }

    /// The purpose of a text, so that none can replace another.
    enum Purpose: String { case flow, session }

    /// - Returns: `nil` for members that are too long, and without memory.
    func text(_ members: [String: JSONValue], for purpose: Purpose, until end: Date) -> String? {
        let body = JSONValue.object(members.merging(["end": .number(end.timeIntervalSince1970)]) { $1 })
        let bytes = Array(body.canonicalText.utf8)
        guard let code = code(of: bytes, purpose) else { return nil }
        let text = "\(Base64URL.text(bytes)).\(Base64URL.text(code))"
        return text.utf8.count <= Self.longest ? text : nil
    }

    /// The members of a text, and its end; `nil` for anything that `text` did not make for the purpose, and from its end on.
    func members(of text: String, for purpose: Purpose, at date: Date) -> (members: JSONValue, end: Date)? {
        guard text.utf8.count <= Self.longest else { return nil }
        let parts = text.utf8.split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2, let bytes = Base64URL.bytes(of: parts[0]), let sent = Base64URL.bytes(of: parts[1]),
            let own = code(of: bytes, purpose),
            own.withUnsafeBytes({ own in sent.withUnsafeBytes { constantTimeEquals(own, $0) } }),
            let members = JSONValue(Data(bytes)), let end = members["end"]?.number
        else { return nil }
        let date = (now: date, end: Date(timeIntervalSince1970: end))
        return date.now < date.end ? (members, date.end) : nil
    }

    private func code(of bytes: [UInt8], _ purpose: Purpose) -> [UInt8]? {
        try? MessageDigest.hmac(.sha256, key: secret, Array("latchkey/operators/\(purpose.rawValue)/1.".utf8) + bytes)
    }
}
