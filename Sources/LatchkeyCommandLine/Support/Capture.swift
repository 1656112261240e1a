import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTerminal

/// Plays a stream once and makes a support bundle of it, whatever the outcome.
struct Capture: Sendable {
    let setting: PlaySetting
    /// Without a decoder, the keys say enough.
    var decoder: FFmpeg? = try? FFmpeg()

    /// The result of a capture.
    struct Outcome: Sendable {
        let bundle: Data
        /// The error; `nil` if the stream played.
        let failure: Failure?
        /// Whether all decoded media is right; `nil` if none was decoded.
        let isRight: Bool?
    }

    func outcome() async throws -> Outcome {
        var setting = setting
        setting.configuration.recording = .support
        let loader = setting.loader()
        defer { loader.cancel() }
        let transport = NotingTransport(setting.transport) { loader.record?.note(ofPlaylist: $0) }
        let player = setting.player(loader, resources: transport)
        let result: Result<StreamReport, any Error> = await Result {
            guard let decoder else { return try await player.keys(of: setting.address) }
            return try await player.play(setting.address, with: decoder, reference: setting.reference)
        }
        let report = try? result.get()
        let failure = report?.failure ?? result.failure
        let told = failure.map(Failure.init)
        // An error without a stage comes from a playlist or from media, which no loader requests.
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

extension LoaderRecord {
    /// Takes the key lines of a playlist, and the request for another.
    fileprivate func note(ofPlaylist exchange: RecordedExchange) {
        var exchange = exchange
        (exchange.stage, exchange.number) = (ContentKeyError.Stage.playlist.rawValue, 0)
        guard let reply = exchange.reply else { return note(exchange, hiding: []) }
        let isPlaylist = reply.body.starts(with: Data("#EXTM3U".utf8))
        if isPlaylist { note(playlist: reply.body, at: exchange.request?.url ?? "") }
        if reply.status >= 300 || !isPlaylist && exchange.isForPlaylist { note(exchange, hiding: []) }
    }
}
