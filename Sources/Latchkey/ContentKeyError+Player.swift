/// What a player cannot do, or did not say.
extension ContentKeyError {
    package static let unsupported = ContentKeyError(
        .playerUnsupported, "The simulator has no FairPlay.")

    package static let keyUnnamed = ContentKeyError(
        .keyUnnamed, "The player asked for a key without naming it.")

    package static let notPersistable = ContentKeyError(
        .keyNotStorable, stage: .spc, "The system cannot store the key now.")

    package static let notStored = ContentKeyError(
        .downloadFailed, stage: .answer, "The keys came, and were not stored.",
        remedy: "Look at the loader's events for storeFailed.")

    package static let nowhere = ContentKeyError(
        .downloadFailed, "The download ended without telling where the media is.")
}
