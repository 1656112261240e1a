extension Diagnosis.Kind {
    /// What a player cannot do, or does not say: 500 to 599.
    static let player: [Self] = [
        .playerUnsupported, .keyUnnamed, .keyNotStorable, .downloadFailed, .threadMustNotWait, .unfitForPlayer,
    ]

    /// The simulator has no FairPlay.
    public static let playerUnsupported = Self(
        500, "playerUnsupported", "The player does not exist here.",
        "Run the app on a device.")
    /// Without a name there is nothing to ask the service for.
    public static let keyUnnamed = Self(
        501, "keyUnnamed", "The player asked for a key and did not say which.",
        "State the key's URI in the playlist's EXT-X-KEY tag.")
    /// As while the picture is on another display.
    public static let keyNotStorable = Self(
        502, "keyNotStorable", "The player cannot store the key now.",
        "Store keys while the picture is on the device, on tvOS 17 or later.")
    /// The media, or the keys of it, did not arrive.
    public static let downloadFailed = Self(
        503, "downloadFailed", "The player did not download the media.",
        "Download it again.")
    /// The main thread, and those of Swift's tasks.
    public static let threadMustNotWait = Self(
        510, "threadMustNotWait", "The player asked for an answer at once on a thread that must not wait for one.",
        "Have the player, or the code around the adapter, ask on a thread of its own.")
    /// Such as cookies, or a second request that the player cannot make.
    public static let unfitForPlayer = Self(
        511, "unfitForPlayer", "The player cannot do what the vendor's service needs.",
        "Use a profile or an account that does without, or a player that leaves the exchange to the app.")
}
