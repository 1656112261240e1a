#if canImport(AVFoundation)
    import Foundation
    import LatchkeyAVFoundation

    #if canImport(FoundationNetworking)
        import FoundationNetworking
    #endif

    /// Keeps keys for replays; live titles are streamed, because their keys rotate.
    func keepKeysForReplays(_ configuration: inout LoaderConfiguration, below caches: URL) {
        configuration.licenseCache = LicenseCachePolicy(
            store: FileKeyStore(folder: caches.appending(path: "licenses")),
            includes: { _, asset in asset != "live" })
    }

    /// A viewer's session with the app's own servers.
    struct ViewerSession {
        let loader: ContentKeyLoader

        /// Leaves nothing of this viewer on the disk.
        func forgetViewer() async throws {
            try await loader.licenseCache?.removeAll()
        }

        static func configure(_ configuration: inout LoaderConfiguration, _ session: URLSession) {
            /// Loads playlists with the cookies of the app's session.
            configuration.playlist = { try await session.data(from: $0) }
        }
    }
#endif
