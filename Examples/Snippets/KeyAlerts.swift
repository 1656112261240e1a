#if canImport(AVFoundation)
    import Foundation
    import LatchkeyAVFoundation

    /// The interface of an app that shows the reason that a title does not play.
    @MainActor
    protocol KeyAlerts {
        func signIn()
        func offerSubscription()
        func manageStreams()
        func alert(_ text: String)
    }

    extension KeyAlerts {
        func show(_ failure: KeyFailure) {
            switch failure.viewerMessage {
            case .signIn: signIn()
            case .notIncluded, .notInRegion: offerSubscription()
            case .tooManyStreams: manageStreams()
            case let message?: alert(message.localized())
            case nil: break
            }
        }
    }

    extension KeyAlerts {
        /// The shortest form: one kind of error, and a text for all others.
        func react(to error: ContentKeyError) {
            if error.kind == .unauthenticated { signIn() } else { show(error.viewerMessage) }
        }

        private func show(_ message: ViewerMessage?) { if let message { alert(message.localized()) } }
    }
#endif
