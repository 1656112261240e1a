public import Foundation
public import Latchkey
public import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

extension LoaderConfiguration.Recording {
    /// Records the latest 500 events, and 64 requests with their replies, without secrets and in up to 64 KiB each, for
    /// `ContentKeyLoader.supportBundle(of:playlists:)`.
    public static let support = Self { SupportRecord($0, seed: $1) }
}

extension ContentKeyLoader {
    /// The data that support needs, as the bytes of one ZIP file that a person may open: configuration, profile, events, requests and
    /// replies, playlists' key lines, a trace as page, and versions. `latchkey replay` reproduces the error.
    ///
    ///     let loader = ContentKeyLoader(vendor, configuration: LoaderConfiguration(recording: .support))
    ///     …
    ///     try loader.supportBundle(of: stream).write(to: file)
    ///
    /// It holds no secrets. It holds the latest 500 events and 64 exchanges of this loader, and the playlists that it preloaded.
    /// - Parameters:
    ///   - stream: the address of the stream that was played.
    ///   - playlists: the app's playlists, by their addresses; their lines about keys are included.
    /// - Throws: a `Diagnosis` with `recordingOff` if the loader's configuration records nothing.
    public func supportBundle(of stream: URL? = nil, playlists: [URL: Data] = [:]) throws(Diagnosis) -> Data {
        try supportBundle(of: stream, playlists: playlists, failure: nil)
    }

    /// - Parameter failure: the code and stage of an error that is unknown to the loader.
    package func supportBundle(
        of stream: URL?, playlists: [URL: Data] = [:], failure: (code: String, stage: String?)?
    ) throws(Diagnosis) -> Data {
        guard let record = record as? SupportRecord else { throw .recordingOff }
        let sanitizer = record.sanitizer
        var contents = record.contents
        contents.playlists += playlists.sorted { $0.key.absoluteString < $1.key.absoluteString }.map {
            SupportPlaylist($0.value, at: $0.key.absoluteString, sanitizer.pseudonyms)
        }
        contents.events = contents.events.compactMap(sanitizer.event)
        let failed = failure.map { SupportManifest.Failure(code: $0.code, stage: $0.stage) }
        let manifest = SupportManifest(
            latchkey: LatchkeyVersion.text, system: ProcessInfo.processInfo.operatingSystemVersionString,
            date: TraceFormat.date(timekeeper.date), vendor: integration.identifier,
            stream: stream.map { sanitizer.pseudonyms.url($0.absoluteString) }, configuration: .init(configuration),
            keys: contents.keys, credentials: contents.credentials, failure: failed ?? Self.failure(in: contents.events)
        )
        let profile = (integration as? ConfiguredVendor).map { sanitizer.profile($0.profile) }
        return SupportBundle.files(manifest, profile, contents).data
    }

    private static func failure(in events: [KeyEvent]) -> SupportManifest.Failure? {
        events.lazy.compactMap { TraceProblem($0.kind, about: "") }.first.map {
            .init(code: $0.code, stage: $0.stage == "start" ? nil : $0.stage)
        }
    }
}

extension Diagnosis {
    static let recordingOff = Self(
        code: "recordingOff", reason: "The loader remembers nothing, as its configuration does not ask for it.",
        remedy: "Make the loader with `LoaderConfiguration(recording: .support)`.")
}

extension Sanitizer {
    /// An event whose texts hold no random word; `nil` if it cannot be read again.
    func event(_ event: KeyEvent) -> KeyEvent? {
        guard let json = try? JSONSerialization.jsonObject(with: JSONEncoder().encode(event)),
            let masked = try? JSONSerialization.data(withJSONObject: shown(json, named: ""))
        else { return nil }
        return try? JSONDecoder().decode(KeyEvent.self, from: masked)
    }

    /// Text already without the app's secrets, but possibly quoting a service, whose codes and IDs may be arbitrary.
    private func shown(_ json: Any, named name: String) -> Any {
        switch json {
        case let text as String:
            let isOpen = ["date", "traceID", "spanID", "event", "stage"].contains(name)
            return isOpen
                ? text : ["key", "url"].contains(name) ? pseudonyms.url(text) : pseudonyms.words(text, keeping: kept)
        case let list as [Any]: return list.map { shown($0, named: name) }
        case let object as [String: Any]:
            return Dictionary(uniqueKeysWithValues: object.map { ($0.key, shown($0.value, named: $0.key)) })
        default: return json
        }
    }

    /// A profile whose settings hold no secret.
    func profile(_ profile: VendorProfile) -> VendorProfile {
        var profile = profile
        profile.settings = Dictionary(
            uniqueKeysWithValues: profile.settings.map { ($0.key, setting($0.value, named: $0.key)) })
        return profile
    }

    private func setting(_ text: String, named name: String) -> String {
        if redaction.isSecret(field: name) { return credential(text) }
        let shown = String(decoding: body(Data(text.utf8)), as: UTF8.self)
        return text.contains("://") ? pseudonyms.url(text) : shown
    }
}
