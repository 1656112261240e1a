public import Foundation
import LatchkeyCore
import StandInEngine

/// Media.
open class AVAsset: NSObject {}

/// Media at a URL. Its keys come from the session that it is a recipient of, or from its resource loader.
// Sound: what changes is in `state`, behind a lock; StandInTests run under the thread sanitizer.
open class AVURLAsset: AVAsset, AVContentKeyRecipient, @unchecked Sendable {
    private struct WeakSession {
        weak var session: AVContentKeySession?
    }

    private struct State {
        var sessions: [WeakSession] = []
        var hasBegun = false
        var stage: StandInStage?
    }

    public let url: Foundation.URL
    public let resourceLoader: AVAssetResourceLoader
    public let httpSessionIdentifier = UUID()
    private let state = Locked(State())

    public init(url URL: Foundation.URL, options: [String: Any]? = nil) {
        url = URL
        let stage = StandInStage.current
        resourceLoader = AVAssetResourceLoader(on: stage ?? StandInStage())
        super.init()
        state.withLock { $0.stage = stage }
    }

    public convenience init(url: URL) { self.init(url: url, options: nil) }

    public var mayRequireContentKeysForMediaDataProcessing: Bool { true }

    public var assetCache: AVAssetCache? { url.isFileURL ? AVAssetCache() : nil }

    var stage: StandInStage { state.withLock { $0.stage } ?? resourceLoader.stage }

    /// The session that provides the asset's keys: the latest one that added it as a recipient.
    var session: AVContentKeySession? { state.withLock { $0.sessions.last { $0.session != nil }?.session } }

    /// Whether it was ever added as a recipient. If so, its keys come from a session or not at all.
    var isRecipient: Bool { state.withLock { !$0.sessions.isEmpty } }

    /// Records that a player has begun to use the asset.
    func begin() { state.withLock { $0.hasBegun = true } }

    /// Adds the asset as a recipient. From now on, asset and session share the stage.
    /// - Returns: the rule that forbids it.
    func join(_ session: AVContentKeySession) -> RuleViolation.Rule? {
        let sessionStage = session.stage
        let (rule, stage) = state.withLock { state in
            if state.sessions.contains(where: { $0.session === session }) {
                return (nil as RuleViolation.Rule?, state.stage)
            }
            if state.sessions.contains(where: { $0.session != nil }) { return (.recipientOfTwoSessions, state.stage) }
            if state.hasBegun { return (.recipientAddedLate, state.stage) }
            state.sessions.append(WeakSession(session: session))
            if state.stage == nil { state.stage = sessionStage }
            return (nil, state.stage)
        }
        if let stage, rule == nil { session.adopt(stage) }
        return rule
    }

    func leave(_ session: AVContentKeySession) {
        state.withLock { $0.sessions.removeAll { $0.session === session || $0.session == nil } }
    }
}

/// The parts of an asset that are stored on the device.
open class AVAssetCache: NSObject, @unchecked Sendable {
    public var isPlayableOffline: Bool { true }
}
