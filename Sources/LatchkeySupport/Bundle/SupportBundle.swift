package import Foundation
import Latchkey
package import LatchkeyCore
import LatchkeyVendors

/// All the data to reproduce an error, in one file: README, facts, profile, events, exchanges, playlists' key lines, and a trace.
package struct SupportBundle: Sendable {
    let manifest: SupportManifest
    /// `nil` for an integration in code.
    let profile: VendorProfile?
    let exchanges: [RecordedExchange]
    let events: [KeyEvent]

    /// Names of the files in a bundle.
    enum File {
        static let (readme, manifest, profile) = ("README.txt", "manifest.json", "profile.json")
        static let (events, exchanges) = ("events.jsonl", "exchanges.har")
        static let (page, spans) = ("trace.html", "trace.json")
    }

    /// The failure that ended the captured playback: code and stage, or `nil`.
    package var failure: (code: String, stage: String?)? { manifest.failure.map { ($0.code, $0.stage) } }

    /// The number of requested keys.
    package var keyCount: Int { manifest.keys.count }

    /// The profile's identifier, or the integration's.
    package var vendor: String { manifest.vendor.onOneLine }

    /// The time of the first event.
    package var start: Date {
        events.first?.date ?? (try? Date(manifest.date, strategy: KeyEvent.dates))
            ?? Date(timeIntervalSince1970: 0)
    }
}

// MARK: - Writing

extension SupportBundle {
    /// The files of a bundle.
    static func files(_ manifest: SupportManifest, _ profile: VendorProfile?, _ contents: SupportContents) -> ZipArchive
    {
        var trace = KeyTrace(seed: 1)
        for event in contents.events { trace.add(event) }
        var entries = [
            ZipArchive.Entry(File.readme, Data(readme(manifest).utf8)),
            ZipArchive.Entry(File.manifest, TraceJSON.data(manifest)),
        ]
        if let profile { entries.append(.init(File.profile, TraceJSON.data(profile))) }
        entries += [
            .init(File.events, lines(of: contents.events)), .init(File.exchanges, HTTPArchive.data(contents.exchanges)),
            .init(File.page, trace.data(as: .html)), .init(File.spans, trace.data(as: .openTelemetry)),
        ]
        entries += contents.playlists.enumerated().map {
            .init("playlists/\($0.offset + 1).m3u8", Data($0.element.text.utf8))
        }
        return ZipArchive(entries)
    }

    private static func lines(of events: [KeyEvent]) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return events.reduce(into: Data()) { lines, event in
            lines += ((try? encoder.encode(event)) ?? Data("{}".utf8)) + Data("\n".utf8)
        }
    }

    private static func readme(_ manifest: SupportManifest) -> String {
        let outcome = manifest.failure.map { "\($0.code) at \($0.stage ?? "no stage")" } ?? "no error"
        return """
            A support bundle of Latchkey \(manifest.latchkey): \(manifest.vendor), \(outcome), \(manifest.date).

            Open trace.html in a browser: what went wrong, what to do, and where the time went.
            Run `latchkey replay FILE` to see the same error again, without a network.

            manifest.json    versions, configuration, the keys that were asked for
            profile.json     how the vendor's service is asked; settings without secrets
            events.jsonl     each step of the keys
            exchanges.har    requests and replies; for a browser's network panel
            playlists        the lines about keys
            trace.html, trace.json    the same as a page, and for OpenTelemetry

            Nothing secret is in it. Tokens, cookies, SPCs and whatever else looks random were replaced by texts
            that look alike, equal ones by equal ones; of CKCs only the lengths were kept. Certificates are public
            and complete. Host names, key ids and the words of error messages are as they were; so are codes and
            request ids of the service that are short or plain words, while others were replaced.

            """
    }
}

// MARK: - Reading

extension SupportBundle {
    /// Whether a bundle keeps a service's text unchanged; otherwise it has a pseudonym in its place.
    package static func keeps(_ text: String) -> Bool { text.isPlain }

    /// Reads an untrusted bundle.
    /// - Throws: a `Diagnosis`: those of `ZipArchive`, `bundleMalformed`, or `bundleTooNew`.
    package init(_ data: Data) throws(Diagnosis) {
        let archive = try ZipArchive(reading: data)
        let format = try Self.read(Format.self, File.manifest, of: archive)
        guard format.format <= SupportManifest.newestFormat else { throw .bundleTooNew }
        manifest = try Self.read(SupportManifest.self, File.manifest, of: archive)
        exchanges = try Self.read(HTTPArchive.self, File.exchanges, of: archive).exchanges
        if let file = archive[File.profile] {
            do { profile = try VendorProfile(jsonWithAnySettings: file) } catch {
                throw .bundleMalformed(File.profile, "it is not a vendor's profile")
            }
        } else {
            profile = nil
        }
        events = (archive[File.events] ?? Data()).split(separator: UInt8(ascii: "\n")).prefix(10_000).compactMap {
            try? JSONDecoder().decode(KeyEvent.self, from: Data($0))
        }
        guard exchanges.count <= Self.countLimit, manifest.keys.count <= Self.countLimit else {
            throw .bundleMalformed(File.manifest, "it has more keys or exchanges than a bundle may")
        }
    }

    private static let countLimit = 1_000

    private struct Format: Decodable { let format: Int }

    private static func read<Value: Decodable>(
        _ type: Value.Type, _ name: String, of archive: ZipArchive
    ) throws(Diagnosis) -> Value {
        guard let file = archive[name] else { throw .bundleMalformed(name, "it is missing") }
        do { return try JSONDecoder().decode(type, from: file) } catch {
            let place = DecodingFailure.describe(error).path.jsonPlace.onOneLine.prefix(100)
            throw .bundleMalformed(name, "it is not what Latchkey writes at \(place)")
        }
    }
}

extension Diagnosis {
    static func bundleMalformed(_ file: String, _ reason: String) -> Self {
        Self(
            code: "bundleMalformed", reason: "The support bundle's \(file) cannot be used: \(reason).",
            remedy: "Give the file as `latchkey capture` or `supportBundle()` wrote it.")
    }

    fileprivate static let bundleTooNew = Self(
        code: "bundleTooNew", reason: "A newer version of Latchkey wrote the support bundle.",
        remedy: "Update Latchkey.")

    static let bundleWithoutProfile = Self(
        code: "bundleWithoutProfile",
        reason: "The support bundle is of an integration in code, which is not in it, so nothing can be replayed.",
        remedy: "Open its trace.html, and run the app that has the integration.")
}
