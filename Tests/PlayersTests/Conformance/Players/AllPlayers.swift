extension PlayerUnderTest {
    /// Every adapter. A new player is one line here.
    static let all: [PlayerUnderTest] = [
        .contentKeySession, .resourceLoader, .jwPlayer, .jwPlayerV3, .theoPlayer, .openTVDelegate, .openTVCallback,
        .tvSDK, .bitmovin, .reactNativeVideo,
    ]

    /// The players that declare a capability.
    static func all(that can: Capability) -> [PlayerUnderTest] { all.filter { $0.can(can) } }
}
