package import LatchkeyCore
package import LatchkeyVault

/// Key URIs as FairPlay's content identifiers, which have a maximum length.
///
/// Source: `Documentation/FairPlay.md` §4 and §13.
extension KeyURITemplate {
    /// The maximum length of a content identifier, in bytes.
    package static let identifierLimit = 200

    /// The length in bytes of a content's key URI, which an app passes the player as content identifier. Kid and IV do not change it.
    package func identifierCount(of content: ContentName) -> Int {
        let zeros = [UInt8](repeating: 0, count: 16)
        guard let kid = KeyID(bytes: zeros) else { return 0 }
        return uri(content: content, kid: kid, iv: Secret(zeros)).raw.utf8.count
    }

    /// Explains why no player can request a content's keys; `nil` if it can.
    package func objection(to content: ContentName) -> Diagnosis? {
        let count = identifierCount(of: content)
        guard count > Self.identifierLimit else { return nil }
        return Diagnosis(
            code: "contentNameTooLong",
            reason:
                "The FairPlay key URI of content “\(content.description.prefix(80))” has \(count) bytes, and a content "
                + "identifier ends at \(Self.identifierLimit)",
            remedy:
                "Give the content a shorter name (characters other than letters, digits, -, ., _ and ~ count three bytes each), "
                + "or the tenant a shorter keyURI.")
    }
}
