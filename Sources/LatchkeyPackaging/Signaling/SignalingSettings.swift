/// A tenant's signaling besides the keys.
package struct SignalingSettings: Sendable {
    /// The key URIs of FairPlay, such as `skd://keys.example/{contentId}/{kid}`.
    package var fairPlay: KeyURITemplate
    /// The key URIs of Clear Key AES-128, which return 16 bytes; `nil` refuses Clear Key.
    package var clearKey: KeyURITemplate?
    /// The provider's name at Widevine; `nil` leaves it out.
    package var widevineProvider: String?
    /// The address of PlayReady licenses; `nil` leaves it out.
    package var playReadyURL: String?

    /// - Parameters:
    ///   - fairPlay: the key URIs of FairPlay.
    ///   - clearKey: the key URIs of Clear Key AES-128. Defaults to none: anyone who reads the playlist has the key.
    ///   - widevineProvider: the provider's name at Widevine.
    ///   - playReadyURL: the address of PlayReady licenses.
    package init(
        fairPlay: KeyURITemplate, clearKey: KeyURITemplate? = nil, widevineProvider: String? = nil,
        playReadyURL: String? = nil
    ) {
        self.fairPlay = fairPlay
        self.clearKey = clearKey
        self.widevineProvider = widevineProvider
        self.playReadyURL = playReadyURL
    }
}
