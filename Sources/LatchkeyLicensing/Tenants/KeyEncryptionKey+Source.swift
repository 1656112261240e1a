import Foundation
import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyLicensees
package import LatchkeyVault

/// Where a key encryption key comes from: a file, the environment, or a file that a key in a PKCS#11 token opens.
///
/// Source: `Documentation/LicenseServer.md` §8.2, `Documentation/Licensees.md` §4.
extension KeyEncryptionKey {
    /// Reads a key. Blocks where a token opens it.
    ///
    /// Its 32 bytes are in the file or the variable, raw, in base64, or in hexadecimal digits. For a token the file has them
    /// encrypted by RSA-OAEP with SHA-1, as `openssl pkeyutl -encrypt -pkeyopt rsa_padding_mode:oaep` makes it.
    /// - Parameters:
    ///   - source: the configured source. A key without a name gets one derived from the key by a hash.
    ///   - places: where files and variables are.
    /// - Throws: `keyEncryptionKeyUnusable`, `LicenseeError`.
    package init(_ source: ServerSettings.KeySource, in places: SecretPlaces) throws {
        let key: Secret
        if let wrapper = source.wrapper {
            key = try Self.opened(source, by: wrapper, in: places)
        } else if let file = source.file {
            key = try Self.key(places.secret(file), at: "The file \(places.path(file).onOneLine)")
        } else {
            let name = source.variable ?? ""
            let place = "The environment variable \(name.onOneLine)"
            guard let written = places.variable(name) else { throw VaultError.unusable("\(place) is not set.") }
            key = try Self.key(written, at: place)
        }
        try self.init(id: source.id ?? Self.name(of: key), key: key)
    }

    /// The key that a private key in a token opens.
    private static func opened(
        _ source: ServerSettings.KeySource, by wrapper: String, in places: SecretPlaces
    ) throws -> Secret {
        let file = source.file ?? ""
        // Its content is of use to the token only: its mode does not matter.
        let wrapped = try places.contents(file)
        let pin = try places.pin(file: source.pinFile, variable: source.pinVariable)
        guard let key = try PKCS11Key(PKCS11Address(wrapper), pin: pin).decryptOAEP([UInt8](wrapped)[...]) else {
            throw VaultError.unusable(
                "The file \(places.path(file).onOneLine) cannot be decrypted with the token's key.",
                "Encrypt the 32 bytes again with that key's public half, using RSA-OAEP with SHA-1.")
        }
        return key
    }

    private static func key(_ written: Secret, at place: String) throws(VaultError) -> Secret {
        if written.count == AESGCM.keyCount {
            // 32 random bytes are never text, but for one case in 10^19.
            guard written.withUnsafeBytes({ bytes in !bytes.allSatisfy(\.isOfCutText) }) else {
                throw .unusable(
                    "\(place) is 32 characters of text: a truncated key in hexadecimal digits or base64.",
                    "Restore the whole key: 64 hexadecimal digits, or 44 characters of base64.")
            }
            return written
        }
        let text = written.revealedText.trimmingCharacters(in: .whitespacesAndNewlines)
        guard let key = Data(hexString: text) ?? Data(base64Encoded: text), key.count == AESGCM.keyCount else {
            throw .unusable("\(place) is neither 32 bytes, nor their base64, nor their hexadecimal digits.")
        }
        return Secret(key)
    }

    /// A name that distinguishes keys and reveals nothing about their bytes: the key is random.
    private static func name(of key: Secret) throws(VaultError) -> String {
        do {
            let hash = try key.withUnsafeBytes { key throws(OpenSSLError) in
                try MessageDigest.hmacSHA256(key: key, Array("latchkey/kek/1".utf8))
            }
            return "kek-\(hash.prefix(8).hexString)"
        } catch { throw VaultError(error) }
    }
}

extension UInt8 {
    /// Whether it occurs in hexadecimal digits, in base64, or between lines.
    fileprivate var isOfCutText: Bool {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
            UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "+"), UInt8(ascii: "/"), UInt8(ascii: "="),
            UInt8(ascii: " "), UInt8(ascii: "\n"), UInt8(ascii: "\r"):
            true
        default: false
        }
    }
}

extension VaultError {
    fileprivate static func unusable(
        _ reason: String, _ remedy: String = "Use 32 random bytes, for example from openssl rand -base64 32."
    ) -> Self {
        .protection(.keyEncryptionKeyUnusable, reason: reason, remedy: remedy)
    }
}
