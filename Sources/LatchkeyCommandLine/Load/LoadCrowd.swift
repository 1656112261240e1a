import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay

/// The viewers of a load: their devices, sessions and tokens.
///
/// SPCs are made ahead, a pair for each of at most so many playbacks, and sent again and again: a server cannot tell, and the generator
/// leaves the processor to it.
struct LoadCrowd: Sendable {
    /// One playback of a viewer.
    struct Playback: Sendable {
        /// The account, such as `viewer-12`.
        let account: String
        /// The token's session, such as `viewer-12-0`.
        let session: String
        let start, renewal: KeyExchange
        fileprivate let pair: Int
    }

    private let pairs: [(start: KeyExchange, renewal: KeyExchange)]
    private let viewers: Int
    private let sessions: Int
    private let seed: UInt64
    private let opened: Locked<Set<Int>>

    /// - Parameters:
    ///   - certificate: a test certificate.
    ///   - secret: the ASk that belongs to it.
    ///   - contents: content identifiers; a pair of SPCs asks for one of them.
    ///   - viewers: how many accounts there are.
    ///   - sessions: how many sessions an account has. Its playbacks are each in one of them.
    ///   - pairs: how many pairs of SPCs are made at most.
    ///   - seed: draws devices, sessions and the SPCs' randomness.
    init(
        _ certificate: FairPlayCertificate, _ secret: Secret, contents: [ContentIdentifier], viewers: Int,
        sessions: Int = 1,
        pairs most: Int = 200, seed: UInt64 = 1
    ) throws {
        var generator = SeededGenerator(seed: seed)
        var pairs: [(start: KeyExchange, renewal: KeyExchange)] = []
        for number in 0..<max(1, min(most, viewers * sessions)) where !contents.isEmpty {
            let device = try SimulatedDevice(
                certificate: certificate, applicationSecret: secret,
                identifier: Secret(generator.bytes(20)))
            let session = PlaybackSessionID(rawValue: generator.next())
            var options = SPCOptions()
            options.playbackSession = session
            let content = contents[number % contents.count]
            pairs.append(
                (
                    try device.exchange(for: content, options: options, using: &generator),
                    try device.exchange(for: content, options: .renewing(in: session), using: &generator)
                ))
        }
        self.pairs = pairs
        self.viewers = max(1, viewers)
        self.sessions = max(1, sessions)
        self.seed = seed
        opened = Locked([])
    }

    /// The playback of a number. The same number is the same playback.
    func playback(_ number: Int) -> Playback? {
        var generator = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15)
        let viewer = Int.random(in: 0..<viewers, using: &generator)
        let session = Int.random(in: 0..<sessions, using: &generator)
        guard !pairs.isEmpty else { return nil }
        let pair = (viewer &* sessions &+ session) % pairs.count
        return Playback(
            account: "viewer-\(viewer)", session: "viewer-\(viewer)-\(session)", start: pairs[pair].start,
            renewal: pairs[pair].renewal, pair: pair)
    }

    /// Opens a license as the device does, if it is the first one for this SPC.
    /// - Returns: whether the device has a key; `nil` if another license was opened before.
    func opens(_ license: Data, for playback: Playback, _ exchange: KeyExchange) -> Bool? {
        guard opened.withLock({ $0.insert(playback.pair).inserted }) else { return nil }
        return (try? exchange.open(license)) != nil
    }
}
