import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

/// The output of `latchkey play --json`.
struct PlayReport: Encodable {
    /// `nil` for a clear stream.
    let vendor: String?
    /// Which playback this was, if the stream was played several times.
    var part: String?
    /// Whether every key came and all decoded media is right.
    var right: Bool
    let keys: [Key]
    let requests: [Request]
    /// The time from opening the stream to its last key.
    let timeToKeyMilliseconds: Double
    /// Decoded video frames.
    let frames: Int
    let tracks: [Track]
    let picture: String?
    let error: Failure?
    /// Errors and oddities of playlists, key tags and their delivery.
    var checks: [Checkup]?
    /// The parts that were not played, in words.
    var notLookedAt: String?

    struct Key: Encodable {
        let uri: String
        let terms: TermsSummary?
        /// Hexadecimal; only with `--reveal-test-keys`.
        let contentKey, contentIV: String?
        let error: Failure?
    }

    struct Request: Encodable {
        let stage, method, url: String
        let status: Int?
        let ms: Double
    }

    struct Track: Encodable {
        let media, container, codec: String
        let samples, frames, complaints: Int
        let right: Bool
    }

    /// - Parameter revealsKeys: whether content keys are shown; they are test keys, as the device takes no others.
    init(_ report: StreamReport, vendor: String?, revealsKeys: Bool) {
        self.vendor = vendor
        right = report.isRight
        keys = report.keys.map { Key($0, reveal: revealsKeys) }
        requests = report.requests.map(Request.init)
        timeToKeyMilliseconds = report.timeToKey.inMilliseconds.rounded(toPlaces: 1)
        frames = report.frameCount
        tracks = zip(report.playback?.tracks ?? [], report.verdict?.tracks ?? []).map(Track.init)
        picture = report.playback?.picture?.path
        error = report.failure.map(Failure.init)
    }
}

extension PlayReport.Key {
    init(_ key: StreamReport.Key, reveal: Bool) {
        uri = Redaction.standard.redacted(urlText: key.uri.raw)
        switch key.outcome {
        case .success(let opened):
            terms = TermsSummary(opened.terms)
            contentKey = reveal ? opened.contentKey.key.revealed.hexString : nil
            contentIV = reveal ? opened.contentKey.iv.revealed.hexString : nil
            error = nil
        case .failure(let failure):
            (terms, contentKey, contentIV) = (nil, nil, nil)
            error = Failure(failure)
        }
    }
}

extension PlayReport.Request {
    init(_ summary: KeyEvent.HTTPSummary) {
        stage = summary.stage.rawValue
        method = summary.method
        url = summary.url
        status = summary.status
        ms = summary.milliseconds.rounded(toPlaces: 1)
    }
}

extension PlayReport.Track {
    init(_ track: PlayedTrack, _ verdict: TrackVerdict) {
        media = track.media.rawValue
        container = track.container.rawValue
        codec = track.codec
        samples = track.samples.count
        frames = track.frames.count
        complaints = track.complaintCount
        right = verdict.isRight
    }
}

extension Double {
    func rounded(toPlaces places: Int) -> Double {
        let factor = pow(10, Double(places))
        return (self * factor).rounded() / factor
    }
}
