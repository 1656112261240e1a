package import LatchkeyCore

/// A key that was handed to a packager, for the audit and for playlists.
package struct PackagedKey: Sendable {
    /// The content and the key's identifier.
    package let address: KeyAddress
    /// Key and IV, as the media is encrypted with them.
    package let content: ContentKey
    /// How the media is encrypted; `nil` if the document does not say.
    package let scheme: EncryptionScheme?
    /// The tracks that it encrypts, as the packager named and limited them.
    package let tracks: [EncryptionContract.Rule]
    /// The indexes of the crypto periods that it encrypts; empty without rotation.
    package let periods: [UInt32]

    /// The answer to a demand.
    package init(_ demand: KeyDemand, _ content: ContentKey) {
        address = demand.address
        self.content = content
        scheme = demand.scheme
        tracks = demand.tracks
        periods = demand.periods
    }
}
