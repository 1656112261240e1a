import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeySystem
import LatchkeyVault

/// The token of a player's heartbeats, which identifies its own slot. Only the server's nodes can make one.
///
/// Opaque to players: base64url of fields and their HMAC-SHA-256.
///
/// Source: `Documentation/LicenseServer.md` §7.1.
struct HeartbeatToken: Sendable, Hashable {
    private static let version: UInt8 = 1
    private static let codeLength = 32
    /// The most characters of a token that are read.
    static let longest = 4_096

    var tenant: String
    /// The name of the account's record.
    var account: String
    var session: String
    var fence: Int
    /// The classes of the keys that the session had when the token was made.
    var tracks: Set<TrackClass>
    /// By how much a heartbeat extends the slot; zero if the slot lives by leases.
    var life: Duration

    /// - Throws: `OpenSSLError` without memory.
    func text(_ secret: Secret) throws(OpenSSLError) -> String {
        var writer = RecordWriter(version: Self.version)
        for text in [tenant, account, session] { writer.write(text) }
        for number in [UInt64(clamping: fence), tracks.flags, UInt64(saturating: life.clamped.inSeconds)] {
            writer.write(number)
        }
        return Base64URL.text(writer.bytes + (try Self.code(of: writer.bytes, secret)))
    }

    private static func code(of bytes: [UInt8], _ secret: Secret) throws(OpenSSLError) -> [UInt8] {
        try MessageDigest.hmac(.sha256, key: secret, Array("latchkey/heartbeat/1".utf8) + bytes)
    }
}

extension HeartbeatToken {
    /// - Parameters:
    ///   - text: the token. The result is `nil` for anything that no `text(_:)` made with one of the secrets.
    ///   - secrets: the server's secrets.
    init?(_ text: String, _ secrets: [Secret]) {
        guard text.utf8.count <= Self.longest, let all = Base64URL.bytes(of: text.utf8), all.count > Self.codeLength
        else {
            return nil
        }
        let (bytes, code) = (Array(all.dropLast(Self.codeLength)), Array(all.suffix(Self.codeLength)))
        let isOurs = secrets.contains { secret in
            guard let own = try? Self.code(of: bytes, secret) else { return false }
            return own.withUnsafeBytes { own in code.withUnsafeBytes { constantTimeEquals(own, $0) } }
        }
        var reader = RecordReader(bytes)
        guard isOurs, (try? reader.byte()) == Self.version, let token = try? Self(&reader), reader.isAtEnd else {
            return nil
        }
        self = token
    }

    private init(_ reader: inout RecordReader) throws(StoreError) {
        tenant = try reader.text()
        account = try reader.text()
        session = try reader.text()
        fence = Int(clamping: try reader.number())
        tracks = Set(flags: try reader.number())
        life = Duration(clampingSeconds: try reader.number())
    }

    var accountKey: RecordKey { RecordKey(.account, tenant: tenant, name: account) }
}
