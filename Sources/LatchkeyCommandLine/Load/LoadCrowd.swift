import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay

/// The viewers of a load: their devices, sessions and tokens.
///
/// SPCs are made ahead, a pair for each of a limited number of playbacks, and sent repeatedly: a server cannot tell, and the generator
/// leaves the processor to it.
struct LoadCrowd: Sendable {
    /// One playback of a viewer.
    struct Playback: Sendable {
        /// The account, such as `viewer-12`.
        let account: String
        /// The token's session, such as `viewer-12-0`.
        let session: String
        let way: Way
    }

    /// How a playback gets its licenses.
    enum Way: Sendable {
        /// With SPCs, from the pair of a number.
        case licenses(start: KeyExchange, renewal: KeyExchange, pair: Int)
        /// With slots for the licenses of another system; the body of the requests.
        case slots(Data)
    }

    private let pairs: [(start: KeyExchange, renewal: KeyExchange)]
    private let slotPart: Double
    private let viewers: Int
    private let sessions: Int
    private let seed: UInt64
    private let opened: Locked<Set<Int>>

    /// - Parameters:
    ///   - certificate: a test certificate.
    ///   - secret: the ASk that belongs to it.
    ///   - contents: content identifiers; a pair of SPCs asks for one of them.
    ///   - viewers: the number of accounts.
    ///   - sessions: the number of sessions per account. Each playback is in one of them.
    ///   - pairs: the maximum number of pairs of SPCs to make.
    ///   - slotPart: the share of playbacks that take slots, 0 to 1. Defaults to none.
    ///   - seed: draws devices, sessions and the SPCs' randomness.
    init(
        _ certificate: FairPlayCertificate, _ secret: Secret, contents: [ContentIdentifier], viewers: Int,
        sessions: Int = 1,
        pairs most: Int = 200, slotPart: Double = 0, seed: UInt64 = 1
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
        self.init(pairs, viewers, sessions, slotPart, seed)
    }

    /// A crowd that takes only slots.
    init(slotsOf viewers: Int, sessions: Int = 1, seed: UInt64 = 1) { self.init([], viewers, sessions, 1, seed) }

    private init(
        _ pairs: [(start: KeyExchange, renewal: KeyExchange)], _ viewers: Int, _ sessions: Int, _ slotPart: Double,
        _ seed: UInt64
    ) {
        (self.pairs, self.viewers, self.sessions) = (pairs, max(1, viewers), max(1, sessions))
        (self.slotPart, self.seed) = (slotPart, seed)
        opened = Locked([])
    }

    /// The playback with a number. The same number gives the same playback.
    func playback(_ number: Int) -> Playback? {
        var generator = SeededGenerator(seed: seed &+ UInt64(truncatingIfNeeded: number) &* 0x9e37_79b9_7f4a_7c15)
        let viewer = Int.random(in: 0..<viewers, using: &generator)
        let session = Int.random(in: 0..<sessions, using: &generator)
        let account = "viewer-\(viewer)"
        let name = "\(account)-\(session)"
        if slotPart > 0, Double.random(in: 0..<1, using: &generator) < slotPart {
            let request = #"{"drm":"widevine","asset":"load","session":"\#(name)","device":"\#(name)"}"#
            return Playback(account: account, session: name, way: .slots(Data(request.utf8)))
        }
        guard !pairs.isEmpty else { return nil }
        let pair = (viewer &* sessions &+ session) % pairs.count
        return Playback(
            account: account, session: name,
            way: .licenses(start: pairs[pair].start, renewal: pairs[pair].renewal, pair: pair))
    }

    /// Opens a license as the device does, if it is the first one for this SPC.
    /// - Returns: whether the device has a key; `nil` if another license was opened before.
    func opens(_ license: Data, for pair: Int, _ exchange: KeyExchange) -> Bool? {
        guard opened.withLock({ $0.insert(pair).inserted }) else { return nil }
        return (try? exchange.open(license)) != nil
    }
}
