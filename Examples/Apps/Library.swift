#if canImport(AVFoundation) && canImport(Observation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import LatchkeyAVFoundation
    import Observation

    /// A library of downloads with a token per title: renewal of keys, the remaining time of each title, proofs of removal.
    @available(iOS 17, macOS 14, visionOS 1, *)
    @Observable @MainActor final class Library {
        struct Row: Identifiable {
            let id: AssetID
            let name: String
            var share = 0.0
            var location: OfflineLocation?
            var problem: String?
            var isReady = false
            /// The time for which the title may still be played.
            var remaining: Duration?
        }

        private(set) var rows: [AssetID: Row] = [:]
        @ObservationIgnored let loader: ContentKeyLoader
        @ObservationIgnored private let keys: AVPlayerKeys
        @ObservationIgnored private let downloads: OfflineDownloads

        init(
            _ vendor: ConfiguredVendor, keysIn folder: URL, token: @escaping @Sendable (AssetID) async throws -> String
        ) {
            var configuration = LoaderConfiguration()
            configuration.keyStore = FileKeyStore(folder: folder)
            let credentials = Credentials.token { request in
                guard let title = request.asset else { throw CancellationError() }
                return try await token(title)
            }
            loader = ContentKeyLoader(vendor, credentials: credentials, configuration: configuration)
            keys = AVPlayerKeys(loader)
            downloads = OfflineDownloads(loader, identifier: "tv.example.library")
        }

        /// Follows the downloads from launch on.
        func followDownloads() async { for await event in downloads.events { take(event) } }

        /// Follows the keys while the library is shown.
        func followKeys() async {
            guard let offline = loader.offline else { return }
            for await assets in offline.changes() { take(assets) }
        }

        func download(_ title: AssetID, named name: String, _ stream: URL) async {
            rows[title] = Row(id: title, name: name)
            do {
                let keys = try await loader.keys(of: stream)
                try await downloads.begin(title, title: name, from: stream, keys: Set(keys))
            } catch {
                rows[title]?.problem = error.viewerMessage?.localized()
            }
        }

        /// Renews the due keys; call it when the network is available.
        func renew() async throws {
            for renewal in try await downloads.renewKeys() {
                let problem = renewal.failure?.viewerMessage?.localized()
                for title in renewal.assets { rows[title]?.problem = problem }
            }
        }

        /// Removes keys and media.
        /// - Returns: Proofs of the removal for the license service.
        func delete(_ title: AssetID) async throws -> [Data] {
            downloads.cancel(title)
            var proofs: [Data] = []
            for key in try await loader.offline?.delete(title) ?? [] {
                proofs.append(try await keys.proofOfRemoval(of: key))
            }
            let media = rows.removeValue(forKey: title)?.location?.url
            if let media { try FileManager.default.removeItem(at: media) }
            return proofs
        }

        private func take(_ event: OfflineDownloadEvent) {
            switch event {
            case .progressed(let title, let share): rows[title]?.share = share
            case .finished(let title, let location): rows[title]?.location = location
            case .cancelled(let title, _), .failed(let title, _, _): rows[title]?.share = 0
            }
        }

        private func take(_ assets: [OfflineAsset]) {
            for asset in assets {
                rows[asset.id]?.isReady = asset.isReady
                rows[asset.id]?.remaining = asset.remaining
            }
        }
    }
#endif
