package import LatchkeyCore

/// Whether somebody stated an IV.
///
/// Sixteen zeros count as none: tools write them where nobody stated one, and a FairPlay license that carries them garbles the picture.
///
/// Source: `Documentation/LicenseServer.md` §3.
extension Secret {
    /// Whether this is an IV that somebody stated: 16 bytes that are not all zeros.
    package var isStatedIV: Bool { count == 16 && withUnsafeBytes { bytes in bytes.contains { $0 != 0 } } }
}

extension ContentKey {
    /// Whether somebody stated the key's IV.
    package var hasStatedIV: Bool { iv.isStatedIV }
}
