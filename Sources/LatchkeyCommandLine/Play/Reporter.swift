import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyPlayback
import LatchkeySimulation
import LatchkeyTerminal

/// One playback of a stream, or one fetch of its keys.
struct PlayPart {
    /// The unusual condition of this part; `nil` for a stream that simply plays.
    let title: String?
    let report: StreamReport
    /// Whether video should be decoded.
    let decodes: Bool

    init(_ title: String?, _ report: StreamReport, decodes: Bool = true) {
        (self.title, self.report, self.decodes) = (title, report, decodes)
    }

    var isRight: Bool { decodes ? report.isRight : report.failure == nil }
}

/// Prints the results of playing.
struct Reporter {
    let console: Console
    let json: Bool
    /// Whether to print problems only.
    let quiet: Bool
    /// Whether content keys are shown.
    let reveals: Bool

    func show(_ summary: LiveSummary) throws {
        if json { return try console.printJSON(summary) }
        if !quiet || !summary.right { console.print(summary.text) }
    }

    /// For one part, prints its report; for several, the report of each by its title.
    /// - Parameter remarks: additional remarks; `nil` for a stream of this process.
    func show(_ parts: [PlayPart], vendor: String?, _ remarks: PlayRemarks? = nil) throws {
        var reports = parts.map { part in
            var report = PlayReport(part.report, vendor: vendor, revealsKeys: reveals)
            report.part = part.title
            report.right = part.isRight
            return report
        }
        if let remarks, let last = reports.indices.last {
            (reports[last].checks, reports[last].notLookedAt) = (remarks.checks, remarks.notLookedAt)
        }
        if json, let report = reports.first, reports.count == 1 { return try console.printJSON(report) }
        if json { return try console.printJSON(["parts": reports]) }
        for (part, report) in zip(parts, reports) where !quiet || !part.isRight { show(part, report) }
        for check in remarks?.checks ?? [] { console.print(check.line) }
        if !quiet, let words = remarks?.notLookedAt { console.print("Not looked at: \(words).") }
    }

    private func show(_ part: PlayPart, _ facts: PlayReport) {
        if let title = part.title { console.print("\(title.prefix(1).uppercased() + title.dropFirst()):") }
        for request in facts.requests {
            let status = request.status.map(String.init) ?? "no reply"
            console.print("\(request.method) \(request.url.visible)  \(status)  \(request.ms) ms")
        }
        for key in facts.keys {
            console.print("key \(key.uri.visible)  \(key.terms?.description ?? key.error?.text ?? "")")
            if let contentKey = key.contentKey, let iv = key.contentIV { console.print("    \(contentKey) iv \(iv)") }
        }
        guard part.report.failure == nil else { return }
        if facts.vendor == nil {
            console.print("The stream is in clear, and needs no key.")
        } else if facts.keys.isEmpty {
            console.note("The playlist names no FairPlay key.")
        }
        for (track, played) in zip(facts.tracks, part.report.playback?.tracks ?? []) { show(track, played) }
        guard facts.vendor != nil else { return }
        let (keys, requests) = (facts.keys.count.counted("key"), facts.requests.count.counted("request"))
        console.print("\(keys) in \(requests), \(facts.timeToKeyMilliseconds) ms")
    }

    private func show(_ track: PlayReport.Track, _ played: PlayedTrack) {
        let verdict = track.right ? "right" : "WRONG"
        console.print(
            "\(track.media) \(track.container) \(track.codec.visible)  \(track.frames) frames decoded  \(verdict)")
        if !track.right, let complaint = played.complaints.first { console.note("ffmpeg: \(complaint.visible)") }
    }
}
