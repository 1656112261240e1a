import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyServer

/// An ExpressPlay token of the emulator's own making: base64url that nobody but the service reads.
///
/// 16 bytes of key identifier, 8 of expiry in seconds since 1970, 4 of rental seconds (0 for none), then 16 of HMAC-SHA-256.
///
/// Source: `vendors.md` §8, token.
struct ExpressPlayToken: Sendable {
    let keyID: KeyID
    let expiry: UInt64
    /// Seconds within which playback may start; 0 without such a limit.
    let rental: UInt32

    init(keyID: KeyID, expiry: UInt64, rental: UInt32) {
        self.keyID = keyID
        self.expiry = expiry
        self.rental = rental
    }

    /// Reads a token that was sealed with the same key; nil comes back for any other text.
    init?(_ text: String, key: Secret) {
        guard let bytes = Data(lenientBase64: text), bytes.count == 44,
            Secret(Self.seal(of: bytes.prefix(28), key)) == Secret(bytes.suffix(16)),
            let id = KeyID(bytes: bytes.prefix(16))
        else { return nil }
        let number = { (part: Data) in part.reduce(0 as UInt64) { $0 << 8 | UInt64($1) } }
        self.init(
            keyID: id, expiry: number(bytes.dropFirst(16).prefix(8)),
            rental: UInt32(number(bytes.dropFirst(24).prefix(4))))
    }

    /// The token as it stands in an URL, 59 characters.
    func text(key: Secret) -> String {
        var bytes = keyID.bytes
        withUnsafeBytes(of: expiry.bigEndian) { bytes.append(contentsOf: $0) }
        withUnsafeBytes(of: rental.bigEndian) { bytes.append(contentsOf: $0) }
        return JSONWebToken.base64URL(bytes + Self.seal(of: bytes, key))
    }

    private static func seal(of bytes: Data, _ key: Secret) -> Data {
        key.withUnsafeBytes { key in
            (try? Data(MessageDigest.hmacSHA256(key: key, Array(bytes)).prefix(16))) ?? Data()
        }
    }
}
