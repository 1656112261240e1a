#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import LatchkeyAVFoundation

    /// The one loader of the app. Playback and downloads take their keys from its store.
    func makeLoader(
        _ vendor: ConfiguredVendor, credentials: Credentials, keysIn folder: URL
    ) -> ContentKeyLoader {
        var configuration = LoaderConfiguration()
        configuration.keyStore = FileKeyStore(folder: folder)
        return ContentKeyLoader(vendor, credentials: credentials, configuration: configuration)
    }

    /// Titles to play without a network.
    @MainActor
    final class Downloads {
        private let loader: ContentKeyLoader
        private let downloads: OfflineDownloads

        /// - Parameters:
        ///   - loader: The loader that the app plays with; it has a key store.
        ///   - onEvent: Keeps the locations, and shows the progress.
        init(_ loader: ContentKeyLoader, onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void) {
            self.loader = loader
            downloads = OfflineDownloads(loader, identifier: "tv.example.downloads", onEvent: onEvent)
        }

        func download(_ movie: AssetID, _ stream: URL, title: String) async throws {
            let keys = try await loader.keys(of: stream)
            try await downloads.begin(movie, title: title, from: stream, keys: Set(keys))
        }

        /// Renews the keys of stored titles; call it when the app has a network.
        func renew() async throws {
            for renewal in try await downloads.renewKeys() {
                guard let failure = renewal.failure else { continue }
                print("\(renewal.assets) cannot be renewed: \(failure.error.localizedDescription)")
            }
        }

        func delete(_ movie: AssetID, at location: OfflineLocation) async throws {
            downloads.cancel(movie)
            try await loader.offline?.delete(movie)
            try FileManager.default.removeItem(at: location.url)
        }
    }

    // MARK: - While it downloads

    extension Downloads {
        func pause(_ movie: AssetID) { downloads.pause(movie) }

        func resume(_ movie: AssetID) { downloads.resume(movie) }

        /// The titles that are downloading, also since an earlier launch.
        func show() async throws {
            for download in try await downloads.running() {
                let percent = Int(download.fractionCompleted * 100)
                print("\(download.asset): \(percent) %\(download.isPaused ? ", paused" : "")")
            }
        }
    }

    // MARK: - Playing meanwhile

    extension Downloads {
        /// Downloads a title, with an asset that may play meanwhile.
        /// - Parameter keys: The player's keys. Release the asset when it no longer plays.
        func downloadAndPlay(
            _ movie: AssetID, _ stream: URL, title: String, in player: AVPlayer, with keys: AVPlayerKeys
        ) async throws {
            let asset = AVURLAsset(url: stream)
            let all = try await loader.keys(of: stream)
            try await downloads.begin(movie, title: title, from: asset, keys: Set(all), protectedBy: keys)
            player.replaceCurrentItem(with: AVPlayerItem(asset: asset))
            player.play()
        }
    }

    // MARK: - Renditions and requests

    extension Downloads {
        /// Downloads at most 720p, in two languages, over no cellular network.
        func downloadForTheTrain(_ movie: AssetID, _ stream: URL, title: String, cookies: [HTTPCookie]) async throws {
            let asset = AVURLAsset(
                url: stream,
                options: [AVURLAssetHTTPCookiesKey: cookies, AVURLAssetAllowsCellularAccessKey: false])
            let audio = try await asset.loadMediaSelectionGroup(for: .audible)
            let preferred = try await asset.load(.preferredMediaSelection)
            var selections: [AVMediaSelection] = []
            for language in ["en", "fr"] {
                let option = audio?.options.first { $0.extendedLanguageTag == language }
                guard let audio, let option, let selection = preferred.mutableCopy() as? AVMutableMediaSelection
                else { continue }
                selection.select(option, in: audio)
                selections.append(selection)
            }
            let keys = try await loader.keys(of: stream)
            try await downloads.begin(movie, title: title, from: asset, keys: Set(keys)) { configuration in
                let upTo720p = AVAssetVariantQualifier.predicate(
                    forPresentationHeight: 720, operatorType: .lessThanOrEqualTo)
                let content = configuration.primaryContentConfiguration
                content.variantQualifiers = [AVAssetVariantQualifier(predicate: upTo720p)]
                content.mediaSelections = selections
                configuration.auxiliaryContentConfigurations = []
            }
        }
    }

    // MARK: - In the background

    extension Downloads {
        func handleEvents(forBackgroundURLSession identifier: String, completionHandler: @escaping () -> Void) {
            let isOurs = downloads.handleEvents(
                forBackgroundURLSession: identifier, completionHandler: completionHandler)
            if !isOurs { completionHandler() }
        }
    }

    /// Replaces UIKit's class, which is missing on Linux.
    @MainActor final class UIApplication {}

    /// An app delegate's part in downloads.
    @MainActor
    final class DownloadingApp {
        private let downloads: Downloads

        init(_ downloads: Downloads) { self.downloads = downloads }

        func application(
            _ application: UIApplication, handleEventsForBackgroundURLSession identifier: String,
            completionHandler: @escaping () -> Void
        ) {
            downloads.handleEvents(forBackgroundURLSession: identifier, completionHandler: completionHandler)
        }
    }
#endif
