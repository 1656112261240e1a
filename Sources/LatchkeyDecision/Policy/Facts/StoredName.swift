import Foundation
import LatchkeyCore
import LatchkeyFairPlay

extension String {
    /// The text as records hold it, so that no token makes a record large: a text longer than the limit, or with control characters, which
    /// not every engine takes, is replaced by its SHA-256.
    /// - Parameter limit: the most bytes. Defaults to 128.
    package func storedName(limit: Int = 128) -> String {
        guard utf8.count > limit || utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else { return self }
        return digestName
    }

    /// An account's name as records hold it: its SHA-256 beyond 512 bytes, or with control characters.
    package var storedAccount: String { storedName(limit: 512) }

    /// The name of a token's record: its SHA-256, so that no store holds a token's identifier.
    ///
    /// Fails only without memory. Then it is empty, so that a token counts as used rather than as new.
    package var digestName: String { ((try? MessageDigest.sha256(Array(utf8))) ?? []).hexString }

    /// A label for people as records hold it: cut to 60 characters and 128 bytes.
    var storedLabel: String {
        var label = String(prefix(60))
        while label.utf8.count > 128 { label.removeLast() }
        return label
    }
}
