extension Diagnosis.Kind {
    /// Errors of a player that lacks an ability or information: 500 to 599.
    static let player: [Self] = [
        .playerUnsupported, .keyUnnamed, .keyNotStorable, .downloadFailed, .threadMustNotWait, .unfitForPlayer,
    ]

    /// The player does not exist here: a simulator has no FairPlay.
    ///
    /// - Status: none; nothing was sent.
    /// - App: says that this device cannot play the title.
    public static let playerUnsupported = Self(
        500, "playerUnsupported", "The player is not available on this platform.",
        "Run the app on a device.")
    /// The player requested a key without a name, so there is no key to request from the service.
    ///
    /// - Status: none; nothing was sent.
    /// - App: states the key's URI in the playlist, or provides `keyNamed` for keys that have only initialization data.
    public static let keyUnnamed = Self(
        501, "keyUnnamed", "The player requested a key without naming it.",
        "State the key's URI in the playlist's EXT-X-KEY tag.")
    /// The player cannot store the key now, for instance because the picture is on another display.
    ///
    /// - Status: none; nothing was sent.
    /// - App: stores keys while the picture is on the device, and streams until then.
    public static let keyNotStorable = Self(
        502, "keyNotStorable", "The player cannot store the key now.",
        "Store keys while the picture is on the device, on tvOS 17 or later.")
    /// The media, or its keys, did not arrive.
    ///
    /// - Status: any or none: `underlying` is the player's.
    /// - App: asks the viewer to download the title again.
    public static let downloadFailed = Self(
        503, "downloadFailed", "The player did not download the media.",
        "Download it again.")
    /// The player asked for an immediate answer on the main thread, or on one of Swift's tasks, which must not wait.
    ///
    /// - Status: none; nothing was sent.
    /// - App: makes the player, or the code around the adapter, ask on a separate thread.
    @_spi(Adapters) public static let threadMustNotWait = Self(
        510, "threadMustNotWait", "The player requested a synchronous answer on a thread that must not block.",
        "Make the player, or the code around the adapter, ask on a separate thread.")
    /// The vendor's service needs something that the player cannot do, such as cookies or a second request.
    ///
    /// - Status: none; nothing was sent.
    /// - App: uses a profile or an account without this requirement, or a player that leaves the exchange to the app.
    public static let unfitForPlayer = Self(
        511, "unfitForPlayer", "The player does not support a requirement of the vendor's service.",
        "Use a profile or an account without this requirement, or a player that leaves the exchange to the app.")
}
