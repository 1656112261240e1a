import Foundation
import LatchkeyCore

/// The number and hash of an entry that the audit once had. Kept elsewhere, it shows that the end of the audit is not missing.
///
/// Source: `Documentation/LicenseServer.md` §8.5.
package struct AuditAnchor: Sendable, Hashable {
    /// 1 for the first entry; 0 for an audit without entries.
    package let sequence: UInt64
    /// 32 bytes; zeros for an audit without entries.
    package let hash: [UInt8]

    /// The last entry of an audit; `nil` for an audit without entries.
    package init(_ entry: AuditEntry?) {
        (sequence, hash) = (entry?.sequence ?? 0, entry?.hash ?? AuditEntry.beginning)
    }

    /// - Parameter text: `NUMBER:HASH`, with 64 hexadecimal digits; `nil` for anything else.
    package init?(_ text: String) {
        let parts = text.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
        guard parts.count == 2, parts[0].utf8.allSatisfy({ UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 }),
            let sequence = UInt64(parts[0]), let hash = Data(hexString: String(parts[1])), hash.count == 32
        else { return nil }
        (self.sequence, self.hash) = (sequence, Array(hash))
    }

    /// `NUMBER:HASH`.
    package var text: String { "\(sequence):\(hash.hexString)" }
}
