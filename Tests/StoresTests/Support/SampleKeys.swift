import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyVault

@testable import LatchkeyStores

/// Rows of keys that differ in everything; nothing in them opens.
enum SampleKeys {
    static func kid(_ number: Int) -> KeyID {
        var generator = SeededGenerator(seed: UInt64(number))
        let bytes = (0..<2).flatMap { _ in withUnsafeBytes(of: generator.next()) { Array($0) } }
        return KeyID(bytes: bytes) ?? SampleKeys.kid(number + 1)
    }

    static func content(_ number: Int) -> ContentName {
        ContentName("series-\(number % 97)/episode-\(number)") ?? content(0)
    }

    static func row(_ number: Int, tenant: String = "acme", dataKey: UInt32 = 1, secret: UInt8 = 7) -> KeyRow {
        KeyRow(
            kid: kid(number), sealed: sealed(number, tenant: tenant, dataKey: dataKey, secret: secret),
            content: content(number), track: TrackClass.allCases[number % TrackClass.allCases.count],
            created: Date(timeIntervalSince1970: 1_700_000_000))
    }

    /// A wrapped data key, under the wrapper `a`.
    static func dataKey(_ version: UInt32) -> WrappedDataKey {
        WrappedDataKey(
            tenant: "acme", version: version, wrapper: "a", nonce: [UInt8](repeating: 1, count: 12),
            wrapped: [UInt8](repeating: 2, count: 48))
    }

    static func sealed(_ number: Int, tenant: String = "acme", dataKey: UInt32 = 1, secret: UInt8 = 7) -> SealedKey {
        SealedKey(
            tenant: tenant, subject: .contentKey(kid(number)), dataKey: dataKey,
            nonce: [UInt8](repeating: secret, count: 12), sealed: [UInt8](repeating: secret, count: 48))
    }
}
