package import LatchkeyCore

/// A key that was handed to a packager, with what a license server has to know of it later.
///
/// Store what derivation does not give: the tracks, and an IV that the encryptor chose.
package struct PackagedKey: Sendable {
    /// The content and the key's identifier.
    package let address: KeyAddress
    /// Key and IV, as the media is encrypted with them.
    package let content: ContentKey
    /// Whether the encryptor chose the IV, so that the source of keys does not know it.
    package let hasForeignIV: Bool
    /// How the media is encrypted; `nil` where the document does not say.
    package let scheme: EncryptionScheme?
    /// The tracks that it encrypts, as the packager named and limited them.
    package let tracks: [EncryptionContract.Rule]
    /// The indexes of the crypto periods that it encrypts; empty without rotation.
    package let periods: [UInt32]
}
