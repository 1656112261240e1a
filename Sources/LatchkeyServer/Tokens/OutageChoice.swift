/// What happens to a license while something outside that should have a say does not answer.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 5.
package enum OutageChoice: String, Sendable, Hashable, Codable, CaseIterable {
    /// The license is decided without it.
    case allow
    /// No license.
    case refuse
}
