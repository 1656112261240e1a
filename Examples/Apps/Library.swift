#if canImport(AVFoundation) && !os(tvOS) && !os(watchOS)
    import AVFoundation
    import LatchkeyAVFoundation

    /// A library of downloads with a token per title: keys that are renewed, media that can be paused, proofs of removal.
    @MainActor
    final class Library {
        private let loader: ContentKeyLoader
        private let keys: AVPlayerKeys
        private var downloads: OfflineDownloads?
        private(set) var locations: [AssetID: OfflineLocation] = [:]
        private(set) var progress: [AssetID: Double] = [:]

        init(
            _ vendor: ConfiguredVendor, keysIn folder: URL, token: @escaping @Sendable (AssetID) async throws -> String,
            show: @escaping @Sendable (KeyFailure) -> Void
        ) {
            var configuration = LoaderConfiguration()
            configuration.keyStore = FileKeyStore(folder: folder)
            loader = ContentKeyLoader(
                vendor,
                credentials: .token { request in
                    guard let title = request.asset else { throw CancellationError() }
                    return try await token(title)
                },
                configuration: configuration)
            keys = AVPlayerKeys(loader, onFailure: show)
            downloads = OfflineDownloads(loader, identifier: "tv.example.library") { [weak self] event in
                Task { @MainActor [weak self] in self?.note(event) }
            }
        }

        func download(_ title: AssetID, named name: String, _ stream: URL) async throws {
            let keys = try await loader.keys(of: stream)
            try await downloads?.begin(title, title: name, from: stream, keys: Set(keys))
        }

        func pause(_ title: AssetID) { downloads?.pause(title) }
        func resume(_ title: AssetID) { downloads?.resume(title) }
        func cancel(_ title: AssetID) { downloads?.cancel(title) }

        /// Renews what is due; call it when there is a network.
        /// - Returns: The titles whose keys could not be renewed.
        func renew() async throws -> Set<AssetID> {
            let renewals = try await downloads?.renewKeys() ?? []
            return Set(renewals.filter { $0.failure != nil }.flatMap(\.assets))
        }

        func remaining(_ title: AssetID) async throws -> Duration? { try await loader.offline?.asset(title)?.remaining }

        /// An asset to play; the title's keys come from the store.
        func asset(_ title: AssetID) -> AVURLAsset? {
            guard let location = locations[title] else { return nil }
            let asset = AVURLAsset(url: location.url)
            keys.protect(asset, as: title)
            return asset
        }

        /// Removes keys and media.
        /// - Returns: Proofs of the removal for the license service.
        func delete(_ title: AssetID) async throws -> [Data] {
            downloads?.cancel(title)
            var proofs: [Data] = []
            for key in try await loader.offline?.delete(title) ?? [] {
                proofs.append(try await keys.proofOfRemoval(of: key))
            }
            if let location = locations.removeValue(forKey: title) {
                try FileManager.default.removeItem(at: location.url)
            }
            return proofs
        }

        private func note(_ event: OfflineDownloadEvent) {
            switch event {
            case .progressed(let title, let share): progress[title] = share
            case .finished(let title, let location): (locations[title], progress[title]) = (location, nil)
            case .cancelled(let title, _), .failed(let title, _, _): progress[title] = nil
            }
        }
    }
#endif
