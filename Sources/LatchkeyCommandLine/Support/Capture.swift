import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Plays a stream once and makes a support bundle of it, whatever comes of it.
struct Capture: Sendable {
    let setting: PlaySetting
    /// Without one, the keys say enough.
    var decoder: FFmpeg? = try? FFmpeg()

    /// What came of it.
    struct Outcome: Sendable {
        let bundle: Data
        /// The error; `nil` if the stream played.
        let failure: Failure?
        /// Whether everything that was decoded is right; `nil` if nothing was decoded.
        let isRight: Bool?
    }

    func outcome() async throws -> Outcome {
        var setting = setting
        setting.configuration.recording = .support
        let loader = setting.loader()
        defer { loader.cancel() }
        let transport = NotingTransport(base: setting.transport, loader: loader)
        let player = setting.player(loader, resources: transport)
        let result: Result<StreamReport, any Error> = await Result {
            guard let decoder else { return try await player.keys(of: setting.address) }
            return try await player.play(setting.address, with: decoder, reference: setting.reference)
        }
        let report = try? result.get()
        let failure = report?.failure ?? result.failure
        let told = failure.map(Failure.init)
        // An error that names no stage happened to a playlist or to media, which no loader asks for.
        let stage = told?.stage ?? (report == nil ? ContentKeyError.Stage.playlist.rawValue : nil)
        return Outcome(
            bundle: try loader.supportBundle(
                of: URL(string: setting.address), failure: told.map { (code: $0.code, stage: stage) }),
            failure: told, isRight: report?.verdict?.isRight)
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}

/// Tells a loader's record of playlists: how they were asked for, and their key lines.
private struct NotingTransport: Transport {
    let base: any Transport
    let loader: ContentKeyLoader
    private let timekeeper = SystemTimekeeper()

    init(base: any Transport, loader: ContentKeyLoader) { (self.base, self.loader) = (base, loader) }

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        let (date, start) = (timekeeper.date, timekeeper.uptime)
        func note(_ outcome: RecordedExchange.Outcome) {
            loader.record?.note(
                RecordedExchange(
                    .playlist, of: 0, request, outcome, at: date, took: timekeeper.uptime - start), hiding: [])
        }
        do {
            let reply = try await base.send(request, bodyLimit: bodyLimit)
            let isPlaylist = reply.body.starts(with: Data("#EXTM3U".utf8))
            if isPlaylist { loader.record?.note(playlist: reply.body, at: request.url?.absoluteString ?? "") }
            if reply.status >= 300 || !isPlaylist && Self.namesPlaylist(request) { note(.reply(reply)) }
            return reply
        } catch {
            note(.noReply(code: LatchkeyTerminal.Failure(error).code))
            throw error
        }
    }

    func warm(_ origin: URL) async throws -> Bool { try await base.warm(origin) }

    private static func namesPlaylist(_ request: URLRequest) -> Bool {
        request.url?.pathExtension.lowercased().hasPrefix("m3u") == true
    }
}
