/// The evidence for a profile, so that an integrator knows how far to trust it.
///
/// It does not say that the profile works: no profile was tried against a vendor's production service.
package struct ProfileEvidence: Sendable, Hashable, Encodable {
    /// How strong the evidence is, the weakest first.
    package enum Level: String, Sendable, Hashable, Encodable, CaseIterable {
        /// A client's code: a sample, a player's connector or a vendor's SDK.
        case sampleRead
        /// A page of the vendor, or a document for the vendor's customers.
        case documented
        /// Recorded requests of another client, which are the same as the profile's.
        case requestsAgree
    }

    /// How strong the evidence is.
    package var level: Level
    /// The day when the source was read, such as `2026-11-22`.
    package var read: String
    /// The page, document or code.
    package var source: String

    /// Makes a statement.
    package init(_ level: Level, read: String, _ source: String) {
        self.level = level
        self.read = read
        self.source = source
    }
}
