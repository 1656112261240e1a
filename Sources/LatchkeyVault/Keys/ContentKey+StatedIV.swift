package import LatchkeyCore

/// Whether an IV was stated.
///
/// Sixteen zeros count as no IV: tools write them when none was stated, and a FairPlay license that carries them garbles the picture.
///
/// Source: `Documentation/LicenseServer.md` §3.
extension Secret {
    /// Whether this is a stated IV: 16 bytes that are not all zeros.
    package var isStatedIV: Bool { count == 16 && withUnsafeBytes { bytes in bytes.contains { $0 != 0 } } }
}

extension ContentKey {
    /// Whether the key's IV was stated.
    package var hasStatedIV: Bool { iv.isStatedIV }
}
