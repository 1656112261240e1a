#if canImport(AVFoundation) && !os(tvOS)
    import AVFoundation
    import LatchkeyAVFoundation

    /// Titles to play without a network.
    @MainActor
    final class Downloads {
        private let loader: ContentKeyLoader
        private let downloads: OfflineDownloads

        /// - Parameters:
        ///   - vendor: The license service.
        ///   - folder: Where the keys are stored; the app's own, in no backup.
        ///   - session: The background session of the downloads.
        init(
            _ vendor: ConfiguredVendor, credentials: Credentials, folder: URL, session: URLSessionConfiguration,
            onEvent: @escaping @Sendable (OfflineDownloadEvent) -> Void
        ) {
            var configuration = LoaderConfiguration()
            configuration.keyStore = FileKeyStore(folder: folder)
            loader = ContentKeyLoader(vendor, credentials: credentials, configuration: configuration)
            downloads = OfflineDownloads(loader, configuration: session, onEvent: onEvent)
        }

        func download(_ stream: URL, title: String) async throws {
            let keys = try await loader.keys(of: stream)
            try await downloads.begin("movie-1", title: title, from: stream, keys: Set(keys))
        }

        /// Renews the keys of stored titles; call it when the app has a network.
        func renew() async throws {
            try await downloads.renewKeys()
        }

        func delete() async throws {
            try await loader.offline?.delete("movie-1")
        }
    }
#endif
