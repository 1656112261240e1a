import Foundation
import LatchkeyCore
import LatchkeyFairPlay

/// Seals persistable keys for one device.
///
///      offset  0           8         12        20      36                 116        148
///             +-----------+---------+---------+-------+------------------+----------+
///             | `latchkey`| version | device  | IV    | record, AES-CBC  | HMAC-    |
///             |           | 1       | ID hash |       | without padding  | SHA-256  |
///             | 8         | 4       | 8       | 16    | 80               | 32       |
///             +-----------+---------+---------+-------+------------------+----------+
///
/// The HMAC covers all bytes before it. All keys are derived from the device's identifier, so the seal detects mistakes but
/// protects nothing.
struct DeviceSeal: Sendable {
    private static let mark = Array("latchkey".utf8)
    private static let version: UInt32 = 1
    private static let count = 36 + PersistableKeyRecord.count + 32

    let identifier: Secret

    func sealed(_ record: PersistableKeyRecord) throws(OpenSSLError) -> Data {
        var generator = CryptographicGenerator()
        let iv = generator.bytes(16)
        var payload = record.bytes
        try apply(.encrypt, to: &payload, iv: iv[...])
        var bytes = Self.mark + Self.version.bigEndianBytes
        bytes += try device()
        bytes += iv
        bytes += payload
        return Data(bytes + (try integrity(of: bytes)))
    }

    func opened(_ bytes: [UInt8]) throws(DeviceError) -> PersistableKeyRecord {
        guard (try? CKCContainer(bytes)) == nil else { throw .isACKC }
        guard bytes.starts(with: Self.mark), bytes.count >= 12 else { throw .damaged("it does not begin as one") }
        let version = UInt32(bigEndian: bytes[8..<12])
        guard version == Self.version else { throw .oldFormat(version) }
        guard bytes.count == Self.count else { throw .damaged("it has \(bytes.count) bytes, not \(Self.count)") }
        guard bytes[12..<20].elementsEqual(try rejecting(device)) else { throw .foreign }
        var payload = Array(bytes[36..<36 + PersistableKeyRecord.count])
        defer { erase(&payload) }
        let integrity = try rejecting { () throws(OpenSSLError) in try self.integrity(of: Array(bytes.dropLast(32))) }
        guard Secret(bytes.suffix(32)) == Secret(integrity) else { throw .damaged("its integrity bytes do not fit") }
        do throws(OpenSSLError) { try apply(.decrypt, to: &payload, iv: bytes[20..<36]) } catch {
            throw DeviceError(error, .openingStoredKey)
        }
        guard let record = PersistableKeyRecord(payload) else { throw .damaged("its record makes no sense") }
        return record
    }

    private func rejecting<Value>(
        _ body: () throws(OpenSSLError) -> Value
    ) throws(DeviceError) -> Value {
        do throws(OpenSSLError) { return try body() } catch { throw DeviceError(error, .openingStoredKey) }
    }

    private func apply(
        _ direction: AESCBC.Direction, to payload: inout [UInt8], iv: ArraySlice<UInt8>
    ) throws(OpenSSLError) {
        let key = Secret(try digest(Array("persistable key".utf8)).prefix(16))
        try key.withUnsafeBytes { key throws(OpenSSLError) in
            try AESCBC().apply(direction, to: &payload, key: key, iv: AESBlock(iv))
        }
    }

    private func device() throws(OpenSSLError) -> ArraySlice<UInt8> { try digest(Array("device".utf8)).prefix(8) }

    private func integrity(of bytes: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try digest(Array("integrity".utf8) + bytes)
    }

    private func digest(_ message: [UInt8]) throws(OpenSSLError) -> [UInt8] {
        try identifier.withUnsafeBytes { key throws(OpenSSLError) in
            try MessageDigest.hmacSHA256(key: key, message)
        }
    }
}
