package import LatchkeyForms

/// A signed message, as three texts in URL-safe base64 with dots between them: header, payload and signature. Read, not verified.
///
/// Source: RFC 7515 §3.1 and §7.1.
package struct CompactJWS: Sendable {
    /// The members of the header.
    package let header: [String: JSONValue]
    /// The payload; any bytes.
    package let payload: [UInt8]
    /// The signing input: the texts of header and payload with the dot between them.
    package let signed: [UInt8]
    /// The signature, at least a byte.
    package let signature: [UInt8]

    /// Reads a text strictly: one spelling of base64, a header that is a JSON object without a duplicate member.
    /// - Parameters:
    ///   - text: header, payload and signature.
    ///   - limit: the longest text in bytes. Defaults to any length.
    ///   - depth: the limit of arrays and objects within each other in the header. Defaults to 32.
    /// - Throws: a `TokenError` of the kind `form`.
    package init(_ text: String, limit: Int = .max, depth: Int = JSONReader.depth) throws(TokenError) {
        guard text.utf8.count <= limit else { throw .form("It has \(text.utf8.count) bytes, more than \(limit).") }
        let bytes = Array(text.utf8)
        let parts = bytes.split(separator: UInt8(ascii: "."), maxSplits: 5, omittingEmptySubsequences: false)
        guard parts.count != 5 else { throw .form("It has 5 parts, like an encrypted token.") }
        guard parts.count == 3 else { throw .form("It has \(min(parts.count, 5)) parts where a signed token has 3.") }
        guard let header = Base64URL.bytes(of: parts[0]), let payload = Base64URL.bytes(of: parts[1]),
            let signature = Base64URL.bytes(of: parts[2])
        else { throw .form("A part is not URL-safe base64 without padding.") }
        guard !signature.isEmpty else { throw .form("It has no signature.") }
        do {
            guard case .object(let members) = try JSONReader.value(of: header, depth: depth) else {
                throw TokenError.form("Its header is JSON but not an object.")
            }
            self.header = members
        } catch let error as JSONError {
            throw .form("Its header \(error.reason)")
        } catch let error as TokenError {
            throw error
        } catch {
            throw .form("Its header cannot be read.")
        }
        self.payload = payload
        self.signature = signature
        signed = Array(bytes[..<parts[1].endIndex])
    }

    /// The signing input: the texts of header and payload with a dot between them.
    package static func signed(header: some Collection<UInt8>, payload: some Collection<UInt8>) -> String {
        "\(Base64URL.text(header)).\(Base64URL.text(payload))"
    }
}
