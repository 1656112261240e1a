import LatchkeyCore

/// How media is encrypted, by the four-character code of ISO/IEC 23001-7 or, for `cbc1`, of SPEKE.
///
/// Source: `Documentation/LicenseServer.md` §2.2.
package enum EncryptionScheme: String, Sendable, Hashable, CaseIterable {
    /// AES-CTR.
    case cenc
    /// AES-CTR on patterns.
    case cens
    /// AES-CBC, and whole segments of HLS.
    case cbc1
    /// AES-CBC on patterns, with a constant IV.
    case cbcs

    /// The scheme of an attribute's value; `nil` for others.
    /// - Parameters:
    ///   - value: as written.
    ///   - version: 2.1 also takes the method names of HLS.
    init?(_ value: String, in version: SPEKEVersion) {
        switch (value, version) {
        case ("SAMPLE-AES", .version2_1): self = .cbcs
        case ("SAMPLE-AES-CTR", .version2_1): self = .cenc
        case ("AES-128", .version2_1): self = .cbc1
        default: self.init(rawValue: value)
        }
    }

    /// The code as a number, the first character most significant.
    var fourCC: UInt32 { rawValue.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}
