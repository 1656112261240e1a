import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

/// What `latchkey play --json` prints.
struct PlayReport: Encodable {
    /// `nil` for a stream in clear.
    let vendor: String?
    /// Which playback this was, if the stream was played several times.
    var part: String?
    /// Whether every key came and everything that was decoded is right.
    var right: Bool
    let keys: [Key]
    let requests: [Request]
    /// From opening the stream to having its last key.
    let timeToKeyMilliseconds: Double
    /// Decoded pictures.
    let frames: Int
    let tracks: [Track]
    let picture: String?
    let error: Failure?
    /// What is wrong or odd with playlists, key tags and their delivery.
    var checks: [Checkup]?
    /// What was not played, in words.
    var notLookedAt: String?

    struct Key: Encodable {
        let uri: String
        let terms: TermsSummary?
        /// Hexadecimal; only if `--reveal-test-keys` asks for them.
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
