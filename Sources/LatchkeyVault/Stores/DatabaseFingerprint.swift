import Foundation
import LatchkeyCore

/// Identifies a database independently of its address: 16 random bytes that are created with its tables.
///
/// A restored copy has the same fingerprint. It is not secret.
///
/// Source: `Documentation/LicenseServer.md` §7.4.
public struct DatabaseFingerprint: Sendable, Hashable, CustomStringConvertible {
    /// 16 bytes.
    public let bytes: [UInt8]

    /// - Parameter bytes: the stored bytes.
    /// - Returns: `nil` unless there are 16 bytes.
    public init?(bytes: some Sequence<UInt8>) {
        self.bytes = Array(bytes)
        guard self.bytes.count == 16 else { return nil }
    }

    /// - Parameter text: 32 hexadecimal digits.
    public init?(_ text: String) {
        guard let bytes = Data(hexString: text) else { return nil }
        self.init(bytes: bytes)
    }

    /// A new one.
    public static func random(using generator: inout some RandomNumberGenerator) -> DatabaseFingerprint {
        var bytes: [UInt8] = []
        for _ in 0..<2 { withUnsafeBytes(of: generator.next() as UInt64) { bytes.append(contentsOf: $0) } }
        return DatabaseFingerprint(sixteen: bytes)
    }

    private init(sixteen bytes: [UInt8]) { self.bytes = bytes }

    /// 32 hexadecimal digits.
    public var description: String { bytes.hexString }
}
