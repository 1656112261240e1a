public import Foundation
public import Latchkey
public import LatchkeyCore
import LatchkeyDevice
public import LatchkeyFairPlay
import LatchkeyHLS
public import LatchkeyPlayback
import LatchkeyVendors

/// A player without an Apple device: finds a stream's keys, gets them through a loader, opens the CKCs with a simulated device,
/// and has ffmpeg decode the media.
public struct SimulatedPlayer: Sendable {
    private let loader: ContentKeyLoader
    private let maker: SimulatedDeviceMaker
    private let resources: WebResources
    private let timekeeper: any Timekeeper

    /// - Parameters:
    ///   - loader: gets the keys.
    ///   - applicationSecret: the test ASk that belongs to the certificate of the service, 16 bytes.
    ///   - certificate: the certificate that the ASk belongs to, to say so where the service has another; unchecked unless given.
    ///   - resources: loads playlists and media.
    ///   - timekeeper: what the time to key is measured with.
    public init(
        loader: ContentKeyLoader, applicationSecret: Secret,
        certificate: LatchkeyFairPlay.ApplicationCertificate? = nil, resources: WebResources = WebResources(),
        timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        self.loader = loader
        maker = SimulatedDeviceMaker(
            applicationSecret: applicationSecret, certificate: certificate, timekeeper: timekeeper)
        self.resources = resources
        self.timekeeper = timekeeper
    }

    /// Gets all FairPlay keys of a stream, all at once.
    /// - Parameter address: an http or https address or a file.
    /// - Throws: where the stream's first playlist cannot be read; a key's failure is a value in the report.
    public func keys(of address: String) async throws -> StreamReport {
        let start = timekeeper.uptime
        let events = loader.events()
        let uris = try await KeyDiscovery(resources).keys(at: address).fairPlayURIs
        var report = StreamReport()
        await get(uris, events, into: &report)
        report.timeToKey = timekeeper.uptime - start
        return report
    }

    /// Gets keys, all at once, and notes the requests for them.
    private func get(_ uris: [KeyURI], _ events: AsyncStream<KeyEvent>, into report: inout StreamReport) async {
        async let requests = Self.requests(in: events, untilEndOf: uris.count)
        report.keys += await withTaskGroup(of: (Int, StreamReport.Key).self) { group in
            for (index, uri) in uris.enumerated() { group.addTask { (index, await key(uri)) } }
            return await group.reduce(into: []) { $0.append($1) }.sorted { $0.0 < $1.0 }.map(\.1)
        }
        report.requests += await requests
    }

    /// Plays a stream.
    /// - Parameters:
    ///   - address: an http or https address or a file.
    ///   - ffmpeg: the decoder.
    ///   - picture: where to write one picture as PNG.
    ///   - clearMedia: where to write the clear stream; its ending says the container.
    ///   - reference: the hashes of the clear stream, for a verdict that rests on them.
    public func play(
        _ address: String, with ffmpeg: FFmpeg, picture: URL? = nil, clearMedia: URL? = nil,
        reference: ReferenceHashes? = nil
    ) async throws -> StreamReport {
        var report = try await keys(of: address)
        guard report.failure == nil else { return report }
        let folder = FileManager.default.temporaryDirectory.appending(path: "latchkey-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let copy = try await StreamDownload(resources).copy(address, into: folder)
        // Session keys are a list to preload, neither complete nor binding: the media playlists say what is needed.
        let held = Set(report.keys.map(\.uri))
        await get(copy.keyURIs.filter { !held.contains($0) }, loader.events(), into: &report)
        guard report.failure == nil else { return report }
        let result = try await StreamPlayer(ffmpeg).play(
            copy, keys: report.contentKeys, picture: picture, clearMedia: clearMedia)
        report.playback = result
        report.verdict = result.verdict(against: reference)
        return report
    }

    private func key(_ uri: KeyURI) async -> StreamReport.Key {
        let handle = Locked<KeyRequestHandle?>(nil)
        let outcome = await withTaskCancellationHandler {
            await Result {
                try await withCheckedThrowingContinuation { continuation in
                    let request = DeviceKeyRequest(uri, purpose: .streaming, maker: maker, continuation: continuation)
                    let answer = loader.answer(request)
                    handle.withLock { $0 = answer }
                    if Task.isCancelled { answer.cancel() }
                }
            }
        } onCancel: {
            handle.withLock { $0 }?.cancel()
        }
        return StreamReport.Key(uri: uri, outcome: outcome)
    }

    /// The HTTP exchanges among the events, until so many keys have got their answer.
    private static func requests(
        in events: AsyncStream<KeyEvent>, untilEndOf keys: Int
    ) async -> [KeyEvent.HTTPSummary] {
        var requests: [KeyEvent.HTTPSummary] = []
        var left = keys
        guard left > 0 else { return [] }
        for await event in events {
            switch event.kind {
            case .exchanged(let summary), .unanswered(let summary, _): requests.append(summary)
            case .answered, .failed: left -= 1
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

extension Result where Failure == any Error, Success: Sendable {
    init(_ body: () async throws -> Success) async {
        do { self = .success(try await body()) } catch { self = .failure(error) }
    }
}
