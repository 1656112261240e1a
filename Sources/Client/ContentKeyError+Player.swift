/// What a player cannot do, or did not say.
extension ContentKeyError {
    package static let unsupported = ContentKeyError(
        .playerUnsupported, "The simulator has no FairPlay.", remedy: "Run the app on a device.")

    package static let keyUnnamed = ContentKeyError(
        .keyUnnamed, "The player asked for a key without naming it.",
        remedy: "State the key's URI in the playlist's EXT-X-KEY tag.")

    package static let notPersistable = ContentKeyError(
        .keyNotStorable, stage: .spc, "The system cannot store the key now.",
        remedy: "Store keys while the picture is on the device, on tvOS 17 or later.")

    package static let notStored = ContentKeyError(
        .downloadFailed, stage: .answer, "The keys came, and were not stored.",
        remedy: "Look at the loader's events for storeFailed.")

    package static let nowhere = ContentKeyError(
        .downloadFailed, "The download ended without telling where the media is.", remedy: "Download it again.")
}
