public import Foundation
import LatchkeyCore
import StandInEngine
import StandInPlayers

/// The configuration of a player. Empty here.
public final class THEOplayerConfiguration: NSObject {
    public override init() { super.init() }
}

/// Plays streams with keys from integrations.
public final class THEOplayer {
    // Sound: a source never changes.
    private struct State: @unchecked Sendable {
        var source: SourceDescription?
        var playback: SourcePlayback?
        var hooks: IntegrationHooks?
    }

    let stage = StandInStage.current ?? StandInStage()
    private let queue = DispatchQueue(label: "com.theoplayer.drm")
    private let state = Locked(State())

    /// Registers a factory for the streams that name its integration. Replaces an earlier one (inferred).
    public static func registerContentProtectionIntegration(
        integrationId: String, keySystem: KeySystemId, integrationFactory: any ContentProtectionIntegrationFactory
    ) {
        guard keySystem == .FAIRPLAY else { return }
        StandInStage.only { Factories() }.register(integrationFactory, integrationId)
    }

    public init(configuration: THEOplayerConfiguration? = nil) {}

    deinit { destroy() }

    /// The source to play. Setting it ends the previous playback and loads the new source.
    public var source: SourceDescription? {
        get { state.withLock { $0 }.source }
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

    /// The player's error; `nil` without one.
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
        Task { [state, stateError] in
            do { _ = try await playback.finished() } catch {
                guard let error = error as? any THEOError, state.withLock({ $0.playback === playback }) else { return }
                stateError.withLock { $0 = error }
            }
        }
        return (hooks, playback)
    }
}

/// The factories of a process, by integration.
// Sound: the mutable state is behind a lock, and the real SDK calls factories on any thread, too.
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
