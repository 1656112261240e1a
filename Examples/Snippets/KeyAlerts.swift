#if canImport(AVFoundation)
    import Foundation
    import LatchkeyAVFoundation

    /// The interface of an app, which shows why a title does not play.
    @MainActor
    protocol KeyAlerts {
        func signIn()
        func offerSubscription()
        func manageStreams()
        func alert(_ text: String)
    }

    extension KeyAlerts {
        func show(_ failure: KeyFailure) {
            guard let error = failure.loaderError else {
                return alert(failure.explanation?.description ?? failure.error.localizedDescription)
            }
            switch error.kind {
            case .unauthenticated: signIn()
            case .forbidden, .regionDenied: offerSubscription()
            case .concurrencyLimit: manageStreams()
            default: if let message = error.viewerMessage { alert(message.localized()) }
            }
        }
    }

    extension KeyAlerts {
        /// The shortest form: one kind, and words for all others.
        func react(to error: ContentKeyError) {
            if error.kind == .unauthenticated { signIn() } else { show(error.viewerMessage) }
        }

        private func show(_ message: ViewerMessage?) { if let message { alert(message.localized()) } }
    }
#endif
