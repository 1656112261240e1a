public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// How a player is set up. Empty here.
public final class THEOplayerConfiguration: NSObject {
    public override init() { super.init() }
}

/// Plays streams with keys from integrations.
// Sound: what changes is in `state`, behind a lock; StandInTests run under the thread sanitizer.
public final class THEOplayer: @unchecked Sendable {
    private struct State {
        var source: SourceDescription?
        var playback: SourcePlayback?
        var hooks: IntegrationHooks?
    }

    let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.theoplayer.drm")
    private let state = Locked(State())

    /// Registers a factory for the streams that name its integration. One registered before makes way (inferred).
    public static func registerContentProtectionIntegration(
        integrationId: String, keySystem: KeySystemId, integrationFactory: any ContentProtectionIntegrationFactory
    ) {
        guard keySystem == .FAIRPLAY else { return }
        StandInStage.only { Factories() }.register(integrationFactory, integrationId)
    }

    public init(configuration: THEOplayerConfiguration? = nil) {}

    deinit { destroy() }

    /// What the player plays. Setting it ends what it played before and loads what is new.
    public var source: SourceDescription? {
        get { state.withLock { $0.source } }
        set {
            let (hooks, playback) = begin(newValue?.sources.first)
            let previous = state.withLock { state in
                defer { state = State(source: newValue, playback: playback, hooks: hooks) }
                return state.playback
            }
            previous?.end()
            playback?.load()
        }
    }

    public func play() { playback?.play() }

    public func stop() { source = nil }

    public func destroy() { source = nil }

    /// What the player reports; nil while all is well.
    public var errorObject: (any THEOError)? { stateError.withLock { $0 } }

    let stateError = Locked<(any THEOError)?>(nil)
    var playback: SourcePlayback? { state.withLock { $0.playback } }
    var hooks: IntegrationHooks? { state.withLock { $0.hooks } }

    private func begin(_ source: TypedSource?) -> (IntegrationHooks?, SourcePlayback?) {
        guard let source else { return (nil, nil) }
        let factories = stage.only { Factories() }
        let integration = source.drm.flatMap { configuration in
            configuration.customIntegrationId.flatMap { factories.factory($0) }?.build(configuration: configuration)
        }
        let hooks = IntegrationHooks(integration, source.drm?.fairPlaySystem, on: queue, stage)
        let playback = SourcePlayback(of: source.src.absoluteString, on: stage, hooks: hooks)
        Task { [weak self] in
            do { _ = try await playback.finished() } catch {
                guard let self, let error = error as? any THEOError, self.playback === playback else { return }
                stateError.withLock { $0 = error }
            }
        }
        return (hooks, playback)
    }
}

/// The factories of a process, by integration.
// Sound: what changes is behind a lock; factories are called from any thread in the real SDK as well.
private final class Factories: @unchecked Sendable {
    private var factories: [String: any ContentProtectionIntegrationFactory] = [:]
    private let lock = NSLock()

    func register(_ factory: any ContentProtectionIntegrationFactory, _ id: String) {
        lock.withLock { factories[id] = factory }
    }

    func factory(_ id: String) -> (any ContentProtectionIntegrationFactory)? { lock.withLock { factories[id] } }
}

extension DRMConfiguration {
    fileprivate var fairPlaySystem: KeySystemConfiguration? {
        switch self {
        case let configuration as any FairPlayDRMConfigurationProtocol: configuration.fairplay
        case let configuration as MultiplatformDRMConfiguration: configuration.keySystemConfigurations.fairplay
        default: nil
        }
    }
}
