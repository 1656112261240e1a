public import Foundation
@_spi(Adapters) public import Latchkey
public import LatchkeyCore
public import LatchkeyDevice
public import LatchkeyFairPlay
import LatchkeyHLS
public import LatchkeyPlayback
public import LatchkeyVendors

/// A player without an Apple device: finds a stream's keys, gets them through a loader, opens the CKCs with a simulated
/// device, and decodes the media with ffmpeg.
public struct SimulatedPlayer: Sendable {
    private let loader: ContentKeyLoader
    private var maker: SimulatedDeviceMaker
    private let vault: KeyVault
    private let resources: WebResources
    private let timekeeper: any Timekeeper
    var preloaded = PreloadedKeys()

    /// - Parameters:
    ///   - loader: gets the keys.
    ///   - applicationSecret: the test ASk that belongs to the certificate of the service, 16 bytes.
    ///   - certificate: the certificate that the ASk belongs to, compared with the service's. Not compared by default.
    ///   - deviceIdentifier: the device's identifier, 20 bytes. Defaults to `SimulatedDevice.standardIdentifier`.
    ///   - vault: makes and opens persistable keys. Defaults to a new one of this device.
    ///   - resources: loads playlists and media.
    ///   - timekeeper: measures the time to key.
    public init(
        loader: ContentKeyLoader, applicationSecret: Secret,
        certificate: FairPlayCertificate? = nil,
        deviceIdentifier: Secret = SimulatedDevice.standardIdentifier, vault: KeyVault? = nil,
        resources: WebResources = WebResources(), timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.loader = loader
        maker = SimulatedDeviceMaker(
            applicationSecret: applicationSecret, certificate: certificate, identifier: deviceIdentifier,
            timekeeper: timekeeper)
        self.vault = vault ?? KeyVault(identifier: deviceIdentifier, timekeeper: timekeeper)
        self.resources = resources
        self.timekeeper = timekeeper
    }

    /// The same player after its picture moved elsewhere: it holds no keys, requests each again, states the destination of the
    /// picture, and cannot play stored keys.
    /// - Parameter destination: an AirPlay receiver or a cable.
    public func joining(_ destination: StreamingDestination) -> SimulatedPlayer {
        var player = self
        player.maker.destination = destination
        player.preloaded = PreloadedKeys()
        return player
    }

    /// Gets all FairPlay keys of a stream in parallel.
    /// - Parameters:
    ///   - address: an http or https address or a file.
    ///   - purpose: `persistable` for keys that the loader stores.
    /// - Throws: if the stream's first playlist cannot be read; a key's failure is a value in the report.
    public func keys(of address: String, purpose: KeyPurpose = .streaming) async throws -> StreamReport {
        let start = timekeeper.uptime
        let events = loader.events()
        let uris = try await KeyDiscovery(resources, scope: .sessionKeysSuffice).keys(at: address).fairPlayURIs
        var report = StreamReport()
        await get(uris, purpose, events, into: &report)
        report.timeToKey = timekeeper.uptime - start
        return report
    }

    /// Gets keys that were not preloaded, in parallel, and records the requests for them.
    private func get(
        _ uris: [KeyURI], _ purpose: KeyPurpose, _ events: AsyncStream<KeyEvent>, into report: inout StreamReport
    ) async {
        let ready = purpose == .streaming ? await preloaded.keys(of: uris) : [:]
        async let requests = Self.requests(in: events, untilEndOf: uris.count { ready[$0] == nil })
        report.keys += await withTaskGroup(of: (Int, StreamReport.Key).self) { group in
            for (index, uri) in uris.enumerated() {
                group.addTask {
                    if let key = ready[uri] { return (index, key) }
                    return (index, await key(uri, purpose: purpose))
                }
            }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        report.requests += await requests
    }

    /// Plays a stream.
    /// - Parameters:
    ///   - address: an http or https address or a file.
    ///   - ffmpeg: the decoder.
    ///   - purpose: `persistable` for keys that the loader stores.
    ///   - picture: the file for one picture in PNG format.
    ///   - clearMedia: the file for the clear stream. Its extension determines the container.
    ///   - reference: the hashes of the clear stream, as the basis of the verdict.
    public func play(
        _ address: String, with ffmpeg: FFmpeg, purpose: KeyPurpose = .streaming, picture: URL? = nil,
        clearMedia: URL? = nil, reference: ReferenceHashes? = nil
    ) async throws -> StreamReport {
        var report = try await keys(of: address, purpose: purpose)
        guard report.failure == nil else { return report }
        let stream = try await download(address)
        // Session keys are a list to preload, neither complete nor binding: the media playlists state the needed keys.
        let held = Set(report.keys.map(\.uri))
        await get(stream.copy.keyURIs.filter { !held.contains($0) }, purpose, loader.events(), into: &report)
        try await decode(stream, with: ffmpeg, picture, clearMedia, reference, into: &report)
        return report
    }

    /// Downloads a stream, still encrypted.
    /// - Parameter address: an http or https address or a file.
    public func download(_ address: String) async throws -> DownloadedStream {
        let folder = try WorkingFolder()
        return DownloadedStream(
            copy: try await StreamDownload(resources).copy(address, into: folder.url), folder: folder)
    }

    /// Gets all keys of a downloaded stream in parallel.
    /// - Parameter purpose: `persistable` for keys that the loader stores, or has stored.
    public func keys(of stream: DownloadedStream, purpose: KeyPurpose = .streaming) async -> StreamReport {
        let start = timekeeper.uptime
        var report = StreamReport()
        await get(stream.copy.keyURIs, purpose, loader.events(), into: &report)
        report.timeToKey = timekeeper.uptime - start
        return report
    }

    /// Plays a downloaded stream. Only its keys may need the network.
    /// - Parameters:
    ///   - stream: the stream.
    ///   - ffmpeg: the decoder.
    ///   - purpose: `persistable` for keys that the loader stores, or has stored.
    ///   - picture: the file for one picture in PNG format.
    ///   - clearMedia: the file for the clear stream. Its extension determines the container.
    ///   - reference: the hashes of the clear stream, as the basis of the verdict.
    public func play(
        _ stream: DownloadedStream, with ffmpeg: FFmpeg, purpose: KeyPurpose = .streaming, picture: URL? = nil,
        clearMedia: URL? = nil, reference: ReferenceHashes? = nil
    ) async throws -> StreamReport {
        var report = await keys(of: stream, purpose: purpose)
        try await decode(stream, with: ffmpeg, picture, clearMedia, reference, into: &report)
        return report
    }

    private func decode(
        _ stream: DownloadedStream, with ffmpeg: FFmpeg, _ picture: URL?, _ clearMedia: URL?,
        _ reference: ReferenceHashes?, into report: inout StreamReport
    ) async throws {
        guard report.failure == nil else { return }
        let (date, start) = (timekeeper.date, timekeeper.uptime)
        report.playback = try await StreamPlayer(ffmpeg).play(
            stream.copy, keys: report.contentKeys, picture: picture, clearMedia: clearMedia)
        report.decoding = (date, timekeeper.uptime - start)
        report.playlistCount = stream.copy.tracks.count
        report.verdict = report.playback?.verdict(against: reference)
    }

    /// Plays a stream with keys that the app stored, without the loader.
    /// - Parameters:
    ///   - address: an http or https address or a file.
    ///   - persistableKeys: the app's stored keys, by key URI.
    ///   - ffmpeg: the decoder.
    ///   - reference: the hashes of the clear stream, as the basis of the verdict.
    public func play(
        _ address: String, persistableKeys: [KeyURI: Data], with ffmpeg: FFmpeg, reference: ReferenceHashes? = nil
    ) async throws -> StreamReport {
        var report = StreamReport()
        let stream = try await download(address)
        report.keys = stream.keyURIs.map { uri in
            StreamReport.Key(uri: uri, Result { try vault.start(persistableKeys[uri] ?? Data()) })
        }
        try await decode(stream, with: ffmpeg, nil, nil, reference, into: &report)
        return report
    }

    /// Gets one key through the loader; playback starts with it.
    /// - Parameter purpose: `persistable` for a key that the loader stores.
    public func key(_ uri: KeyURI, purpose: KeyPurpose = .streaming) async -> StreamReport.Key {
        let handle = Locked<KeyRequest?>(nil)
        let outcome = await withTaskCancellationHandler {
            await Result {
                try await withCheckedThrowingContinuation { continuation in
                    let answer = ask(for: uri, purpose, continuation)
                    handle.withLock { $0 = answer }
                    if Task.isCancelled { answer.cancel() }
                }
            }
        } onCancel: {
            handle.withLock { $0 }?.cancel()
        }
        return StreamReport.Key(uri: uri, outcome)
    }

    private func ask(
        for uri: KeyURI, _ purpose: KeyPurpose, _ continuation: CheckedContinuation<StartedKey, any Error>
    ) -> KeyRequest {
        guard purpose == .persistable, maker.destination == .device else {
            let purpose = purpose == .persistable ? .streaming : purpose
            return loader.answer(DeviceKeyRequest(uri, purpose: purpose, maker: maker, continuation: continuation))
        }
        return loader.answer(
            PersistableDeviceKeyRequest(uri, vault: vault, maker: maker, continuation: continuation))
    }

    /// The HTTP exchanges among the events, until a number of keys has been answered.
    private static func requests(
        in events: AsyncStream<KeyEvent>, untilEndOf keys: Int
    ) async -> [KeyEvent.HTTPSummary] {
        var requests: [KeyEvent.HTTPSummary] = []
        var left = keys
        guard left > 0 else { return [] }
        for await event in events {
            switch event.kind {
            case .exchanged(let summary), .unanswered(let summary, _): requests.append(summary)
            case .answered, .failed, .heldBySystem: left -= 1
            default: break
            }
            if left == 0 { break }
        }
        return requests
    }
}

extension StreamReport {
    /// The content keys by URI.
    var contentKeys: [KeyURI: ContentKey] {
        let opened = keys.compactMap { key in
            (try? key.outcome.get()).map { (key.uri, $0.contentKey) }
        }
        return Dictionary(opened) { $1 }
    }
}
