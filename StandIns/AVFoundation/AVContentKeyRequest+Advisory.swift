public import Foundation
import LatchkeyCore
import StandInEngine

// Advisory keys: a service delivered them in advance and the system keeps them. A request for one needs no license.
//
// Source: Apple's pages on `supportsAdvisoryKeys` and `makeOptionalStreamingContentKeyRequestData`, iOS and tvOS 27, read 22
// November 2026. It is inferred that the session then holds the key.

@available(iOS 27.0, tvOS 27.0, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension AVContentKeySession {
    /// Whether the system may answer requests with keys that it already has. Starts as `false`; after it is set to `true`, it
    /// stays `true`.
    public var supportsAdvisoryKeys: Bool {
        get { state.withLock { $0.supportsAdvisoryKeys } }
        set {
            if !newValue, supportsAdvisoryKeys { stage.log.note(.advisoryKeysTurnedOff, "supportsAdvisoryKeys") }
            state.withLock { $0.supportsAdvisoryKeys = $0.supportsAdvisoryKeys || newValue }
        }
    }
}

@available(iOS 27.0, tvOS 27.0, *)
@available(macOS, unavailable)
@available(watchOS, unavailable)
@available(visionOS, unavailable)
extension AVContentKeyRequest {
    /// Whether the system has the key. Valid after the completion handler of the SPC call received neither data nor an error.
    public var canBeFulfilledWithAdvisoryKey: Bool { state.withLock { $0.isFulfilled } }

    /// Makes an SPC, or finds that none is needed. In that case the completion handler receives neither data nor an error, and
    /// the request is not answered.
    public func makeOptionalStreamingContentKeyRequestData(
        forApp appIdentifier: Data, contentIdentifier: Data?, options: [String: Any]? = nil,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        guard let session = state.withLock({ $0.session }), session.supportsAdvisoryKeys,
            let key = stage.advisoryKey(of: wish.text), fulfill()
        else {
            return makeSPC(appIdentifier, contentIdentifier, options, for: handler)
        }
        DispatchQueue.global().async { [self] in
            handler(nil, nil)
            session.hold(key, for: self)
        }
    }

    /// Marks the request as answered, so that it gets no other answer.
    private func fulfill() -> Bool {
        guard purpose == .streaming, wish.destination == .device else { return false }
        return state.withLock { state in
            guard state.phase == .open else { return false }
            state.phase = .answered
            state.isFulfilled = true
            return true
        }
    }
}
