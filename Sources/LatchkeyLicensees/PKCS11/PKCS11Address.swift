import Foundation
import LatchkeyCore

/// The place of a private key: a `pkcs11:` URI with token, object or id, and the module's path. It holds no PIN.
///
/// Example: `pkcs11:token=latchkey;object=fairplay;type=private?module-path=/usr/lib/softhsm/libsofthsm2.so`.
///
/// Source: RFC 7512 §2.3; `Documentation/Licensees.md` §3.
package struct PKCS11Address: Sendable, Hashable {
    /// The token's label.
    package let token: String
    /// The token's serial number, if several have the label; `nil` for any.
    package let serial: String?
    /// The key's label; `nil` for any.
    package let object: String?
    /// The key's identifier; `nil` for any.
    package let id: [UInt8]?
    /// The module's file, a shared library.
    package let module: String

    /// Whether a text is intended as such an address, and not as a file's path.
    package static func isMeant(by text: String) -> Bool { text.hasPrefix("pkcs11:") }

    /// - Throws: `pkcs11AddressInvalid`. The reason names attributes, never values.
    package init(_ text: String) throws(LicenseeError) {
        guard Self.isMeant(by: text) else { throw .address("It does not begin with pkcs11:.") }
        let parts = text.dropFirst("pkcs11:".count).split(
            separator: "?", maxSplits: 1, omittingEmptySubsequences: false)
        var path = try Self.attributes(parts.first ?? "", separator: ";")
        var query = try Self.attributes(parts.dropFirst().first ?? "", separator: "&")
        if query["pin-value"] != nil || query["pin-source"] != nil {
            throw .address(
                "It contains a PIN.", remedy: "Remove the PIN from the address, and set pinFile to its file.")
        }
        guard try Self.text("type", path.removeValue(forKey: "type")) ?? "private" == "private" else {
            throw .address("Its type is not private.")
        }
        guard let token = try Self.text("token", path.removeValue(forKey: "token")) else {
            throw .address("It does not name a token.")
        }
        guard let module = try Self.text("module-path", query.removeValue(forKey: "module-path")) else {
            throw .address(
                "It does not name a module.", remedy: "Add ?module-path= and the path of the token's PKCS#11 library.")
        }
        self.token = token
        self.module = module
        serial = try Self.text("serial", path.removeValue(forKey: "serial"))
        object = try Self.text("object", path.removeValue(forKey: "object"))
        id = path.removeValue(forKey: "id")
        guard object != nil || id?.isEmpty == false else { throw .address("It has neither object nor id.") }
        if let unknown = (path.keys.sorted() + query.keys.sorted()).first {
            throw .address("Its attribute \(unknown.prefix(40).description.onOneLine) is not supported.")
        }
    }

    private static func attributes(_ text: Substring, separator: Character) throws(LicenseeError) -> [String: [UInt8]] {
        var attributes: [String: [UInt8]] = [:]
        for part in text.split(separator: separator) {
            let pair = part.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            guard let name = pair.first.map(String.init), pair.count == 2, let value = pair.last.flatMap(decoded) else {
                throw .address("It has an attribute that is not NAME=VALUE with percent encoding.")
            }
            guard attributes.updateValue(value, forKey: name) == nil else {
                throw .address("Its attribute \(name.prefix(40).description.onOneLine) is repeated.")
            }
        }
        return attributes
    }

    private static func text(_ name: String, _ bytes: [UInt8]?) throws(LicenseeError) -> String? {
        guard let bytes else { return nil }
        guard let text = String(validating: bytes, as: UTF8.self), !text.isEmpty, !bytes.contains(0) else {
            throw .address("Its \(name) is not text.")
        }
        return text
    }

    /// The bytes of a percent-encoded value; `nil` for a percent sign without two digits.
    private static func decoded(_ text: Substring) -> [UInt8]? {
        var bytes: [UInt8] = []
        var rest = Array(text.utf8)[...]
        while let byte = rest.popFirst() {
            guard byte == UInt8(ascii: "%") else {
                bytes.append(byte)
                continue
            }
            guard rest.count >= 2, let value = Data(hexString: String(decoding: rest.prefix(2), as: UTF8.self)) else {
                return nil
            }
            bytes += value
            rest = rest.dropFirst(2)
        }
        return bytes
    }
}

/// The token and the key, in an operator's terms; not the module.
extension PKCS11Address: CustomStringConvertible {
    package var description: String {
        let key = object.map { "key “\($0.onOneLine)”" } ?? "key \((id ?? []).hexString)"
        return "\(key) of token “\(token.onOneLine)”"
    }
}

extension LicenseeError {
    fileprivate static func address(
        _ what: String, remedy: String = "Write pkcs11:token=NAME;object=NAME?module-path=FILE."
    ) -> Self {
        Self(.addressInvalid, "The address of a key in a token is unusable. \(what)", remedy: remedy)
    }
}
