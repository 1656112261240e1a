import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms

/// An ExpressPlay token in the emulator's own format: base64url that only the service can read.
///
/// 16 bytes of key identifier, 8 of expiry in seconds since 1970, 4 of rental seconds (0 for none); unless it is time-based, 1 of the
/// kind of token and 32 of the viewer or the device; then 16 of HMAC-SHA-256.
///
/// Source: `Documentation/Vendors/ExpressPlay.md`, token.
struct ExpressPlayToken: Sendable {
    let keyID: KeyID
    let expiry: UInt64
    /// Seconds within which playback may start; 0 without such a limit.
    let rental: UInt32
    let binding: ExpressPlayBinding

    init(keyID: KeyID, expiry: UInt64, rental: UInt32, binding: ExpressPlayBinding = .timeBased) {
        self.keyID = keyID
        self.expiry = expiry
        self.rental = rental
        self.binding = binding
    }

    /// Reads a token that was sealed with the same key. The result is `nil` for any other text.
    init?(_ text: String, key: Secret) {
        guard let bytes = Data(lenientBase64: text), [44, 77].contains(bytes.count),
            Secret(Self.seal(of: bytes.dropLast(16), key)) == Secret(bytes.suffix(16)),
            let id = KeyID(bytes: bytes.prefix(16)),
            let binding = ExpressPlayBinding(bytes.dropFirst(28).dropLast(16))
        else { return nil }
        let number = { (part: Data) in part.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
        self.init(
            keyID: id, expiry: number(bytes.dropFirst(16).prefix(8)),
            rental: UInt32(number(bytes.dropFirst(24).prefix(4))), binding: binding)
    }

    /// The token in a URL: 59 characters, or 103 with a viewer or a device.
    func text(key: Secret) -> String {
        var bytes = keyID.bytes
        withUnsafeBytes(of: expiry.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: rental.bigEndian) { bytes.append(contentsOf: $0) }
        bytes.append(binding.bytes)
        return Base64URL.text(bytes + Self.seal(of: bytes, key))
    }

    private static func seal(of bytes: Data, _ key: Secret) -> Data {
        key.withUnsafeBytes { key in
            (try? Data(MessageDigest.hmacSHA256(key: key, Array(bytes)).prefix(16))) ?? Data()
        }
    }
}
