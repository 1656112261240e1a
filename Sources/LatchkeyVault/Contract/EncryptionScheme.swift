import LatchkeyCore

/// How media is encrypted, by the four-character code of ISO/IEC 23001-7 or, for `cbc1`, of SPEKE.
///
/// Source: `Documentation/LicenseServer.md` §2.2.
public enum EncryptionScheme: String, Sendable, Hashable, CaseIterable {
    /// AES-CTR.
    case cenc
    /// AES-CTR on patterns.
    case cens
    /// AES-CBC, and whole segments of HLS.
    case cbc1
    /// AES-CBC on patterns, with a constant IV.
    case cbcs

    /// The code as a number, the first character most significant.
    public var fourCC: UInt32 { rawValue.utf8.reduce(0) { $0 << 8 | UInt32($1) } }
}
