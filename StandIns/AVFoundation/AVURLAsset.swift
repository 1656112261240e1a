public import Foundation
import LatchkeyCore
import StandInEngine

/// Media.
open class AVAsset: NSObject {}

/// Media at a URL. Its keys come from the session that it is a recipient of, or from its resource loader.
// Sound: all mutable state is in `state`, behind a lock; StandInTests run under the thread sanitizer.
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
    /// The asset whose interstitial the app made this asset for.
    private let primarySession: UUID?
    private let state = Locked(State())

    public init(url URL: Foundation.URL, options: [String: Any]? = nil) {
        url = URL
        primarySession = options?[AVURLAssetPrimarySessionIdentifierKey] as? UUID
        let stage = StandInStage.current
        resourceLoader = AVAssetResourceLoader(on: stage ?? StandInStage())
        super.init()
        state.withLock { $0.stage = stage }
    }

    public convenience init(url: URL) { self.init(url: url, options: nil) }

    /// Requests the keys of the stream, of the session or of the resource loader.
    func provide(_ uris: [KeyURI]) async throws {
        if let session {
            try await session.provide(uris, for: self)
        } else if isRecipient {
            throw AVError.because(.contentIsNotAuthorized, "The asset's key session is gone.")
        } else if !resourceLoader.holds(uris) {
            try await resourceLoader.provide(uris)
        }
    }

    /// The asset that plays for an interstitial's template item: this asset if the app made it for the primary asset, or else
    /// an equivalent one that only has the same URL: no key session, and no delegate of the resource loader.
    func interstitial(of primary: AVURLAsset) -> AVURLAsset {
        guard primarySession != primary.httpSessionIdentifier else { return self }
        let equivalent = AVURLAsset(url: url)
        equivalent.state.withLock { $0.stage = stage }
        return equivalent
    }

    public var mayRequireContentKeysForMediaDataProcessing: Bool { true }

    public var assetCache: AVAssetCache? { url.isFileURL ? AVAssetCache() : nil }

    var stage: StandInStage { state.withLock { $0.stage } ?? resourceLoader.stage }

    /// The session that provides the asset's keys: the latest one that added it as a recipient.
    var session: AVContentKeySession? { state.withLock { $0.sessions.last { $0.session != nil }?.session } }

    /// Whether it was ever added as a recipient. If so, its keys come from sessions only.
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

/// An asset of an interstitial gets the `httpSessionIdentifier` of the primary asset under this key, as a `UUID`.
@available(iOS 16.0, macOS 13.0, tvOS 16.0, watchOS 9.0, visionOS 1.0, *)
public let AVURLAssetPrimarySessionIdentifierKey = "AVURLAssetPrimarySessionIdentifierKey"

/// The parts of an asset that are stored on the device.
open class AVAssetCache: NSObject, @unchecked Sendable {
    public var isPlayableOffline: Bool { true }
}
