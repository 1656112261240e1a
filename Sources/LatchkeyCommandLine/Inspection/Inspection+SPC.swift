import Foundation
import LatchkeyFairPlay

extension Inspection {
    init(_ report: SPCReport) {
        self.init(kind: .spc, facts: report.outside + report.inside, problems: report.problems, report: report)
    }
}

extension SPCReport {
    fileprivate var outside: [Inspection.Fact] {
        // The first bytes of anything but an SPC are not a version.
        let version = payloadLength == nil ? nil : version
        let certificate = certificateSHA1.map { "SHA-1 \($0)" + (certificateSubject.map { ", \($0)" } ?? "") }
        return [("SPC", "\(byteCount) bytes" + (version.map { ", version \($0)" } ?? ""))]
            + [certificate.map { ("Certificate", $0) }].compactMap { $0 }
    }

    fileprivate var inside: [Inspection.Fact] {
        let blocks = blocks.map { [("Blocks", $0.map(\.text).joined(separator: "\n"))] }
        if let facts { return facts.lines + (blocks ?? []) }
        let payload = payloadLength.map { [("Payload", "\($0) bytes, encrypted; --credentials DIR opens it")] }
        return blocks ?? payload ?? []
    }
}

extension SPCReport.Facts {
    fileprivate var lines: [Inspection.Fact] {
        let playback = playbackState.map { "\($0), session \(playbackSession ?? "–")" }
        return [
            ("Asset ID", "\(assetID) (\(assetIDHex))"), ("Transaction", transactionID), ("Device", deviceIdentifier),
            ("Protocol", "version \(protocolVersion) of \(list(supportedProtocolVersions))"),
            ("Playback", playback ?? "not stated"), ("Made", created?.formatted(.iso8601) ?? "not stated"),
            ("Shown on", destination.rawValue),
            ("Capabilities", capabilities.isEmpty ? "none" : list(capabilities)),
            ("Wants back", requestedTags.isEmpty ? "nothing" : requestedTags.joined(separator: "\n")),
        ]
    }

    private func list(_ items: [some CustomStringConvertible]) -> String {
        items.map(\.description).joined(separator: ", ")
    }
}

extension BlockSummary {
    fileprivate var text: String { "\(tag)  \(valueLength) of \(blockLength) bytes  \(name ?? "unknown")" }
}
