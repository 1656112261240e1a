#if canImport(AVFoundation) && canImport(Observation)
    import AVFoundation
    import LatchkeyAVFoundation

    /// A title in the app's catalog.
    struct Title: Sendable {
        let id: AssetID
        let stream: URL
    }

    /// Plays one title after the other, for a vendor with a token per title.
    @available(iOS 17, tvOS 17, macOS 14, visionOS 1, *)
    @MainActor
    final class TitlePlayback {
        enum Prompt: Equatable {
            case signIn, subscribe, tooManyStreams, tryAgain(String), text(String)
        }

        let loader: ContentKeyLoader
        let playback: ProtectedPlayback

        /// - Parameters:
        ///   - vendor: Such as `.axinom(certificate: certificate, license: license)`.
        ///   - token: Requests the token of a title from the app's own server.
        init(_ vendor: ConfiguredVendor, token: @escaping @Sendable (AssetID) async throws -> String) {
            let credentials = Credentials.token { request in
                guard let title = request.asset else { throw CancellationError() }
                return try await token(title)
            }
            loader = ContentKeyLoader(vendor, credentials: credentials)
            playback = ProtectedPlayback(loader)
        }

        func play(_ title: Title) { playback.play(title.stream, as: title.id) }

        /// Gets the keys of the title that is likely to come next.
        func prepare(_ title: Title) async {
            _ = await loader.preload(title.stream, into: playback.keys, as: title.id)
        }

        /// After a purchase or a sign-in, requests the refused keys again.
        func viewerBought() { playback.tryAgain() }

        /// The question for the viewer; a view that reads it follows its changes.
        var prompt: Prompt? {
            guard let problem = playback.problem, let message = problem.viewerMessage else { return nil }
            switch message {
            case .signIn: return .signIn
            case .notIncluded, .notInRegion: return .subscribe
            case .tooManyStreams: return .tooManyStreams
            default:
                let mayRetry = problem.loaderError?.isRetryable == true
                return mayRetry ? .tryAgain(message.localized()) : .text(message.localized())
            }
        }
    }
#endif
