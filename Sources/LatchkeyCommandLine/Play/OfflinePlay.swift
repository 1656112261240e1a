import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Downloads a stream, stores its keys, and plays it as a relaunched app does without a network.
struct OfflinePlay: Sendable {
    let setting: PlaySetting
    let ffmpeg: FFmpeg
    private let folder: WorkingFolder
    private let store: FileKeyStore
    private let vault = KeyVault()

    /// - Throws: `CancellationError` while the process ends.
    init(_ setting: PlaySetting, _ ffmpeg: FFmpeg) throws {
        self.setting = setting
        self.ffmpeg = ffmpeg
        folder = try WorkingFolder()
        store = FileKeyStore(folder: folder.url)
    }

    /// Downloads the stream and stores its keys.
    func download() async throws -> (stream: DownloadedStream, report: StreamReport) {
        let loader = setting.loader(storing: store)
        defer { loader.cancel() }
        let player = setting.player(loader, vault: vault)
        let stream = try await player.download(setting.address)
        try await loader.offline?.register(Self.asset, keys: Set(stream.keyURIs))
        let report = await player.keys(of: stream, purpose: .persistable)
        try await keepUpdates(report, loader)
        return (stream, report)
    }

    /// Plays with the stored keys only; every request fails.
    func play(_ stream: DownloadedStream, picture: URL?, clearMedia: URL?) async throws -> StreamReport {
        var setting = setting
        setting.configuration.certificateFetch = .withFirstKey
        let loader = setting.loader(over: NoNetwork(), storing: store)
        defer { loader.cancel() }
        let report = try await setting.player(loader, vault: vault).play(
            stream, with: ffmpeg, purpose: .persistable, picture: picture, clearMedia: clearMedia,
            reference: setting.reference)
        try await keepUpdates(report, loader)
        return report
    }

    private static let asset: AssetID = "movie"

    /// Stores the keys with which the device replaced the keys it began to play with.
    private func keepUpdates(_ report: StreamReport, _ loader: ContentKeyLoader) async throws {
        for key in report.keys {
            if let replacement = key.replacement { loader.offline?.updated(key.uri, to: Secret(replacement)) }
        }
        // The store works in order: the updates are complete when a later call is.
        _ = try await loader.offline?.assets()
    }
}

/// A missing network: every request fails.
private struct NoNetwork: Transport {
    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        throw TransportError(.cannotConnect, "There is no network.")
    }
}
