import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyForms
import LatchkeySupport
import LatchkeySystem
import LatchkeyTerminal
@_spi(Adapters) import LatchkeyVendors

/// An app's input to its player: the stream and its key settings.
///
/// JSON of THEOplayer (`SourceDescription`), JW Player (web and native), Bitmovin, Shaka Player and react-native-video, and a playback URL of
/// Mux. All of them say the same under other names, so that one table of names reads them. Sources: `Documentation/Vendors/README.md` §24.
struct PlayerSource: Sendable {
    private enum Place: Sendable {
        case license, certificate, integration
    }

    private var texts: [Place: String] = [:]
    /// Header fields of the license request, some of which are secret.
    private(set) var headers: [String: String] = [:]
    /// The integration's parameters, some of which are secret.
    private(set) var parameters: [String: String] = [:]

    /// - Parameter bytes: JSON with a source that is protected by FairPlay; otherwise, or above a mebibyte, the result is `nil`.
    init?(_ bytes: Data) {
        // A capture is JSON, too.
        guard bytes.count <= VendorProfile.fileLimit, let json = JSONValue(bytes), json["log"] == nil else {
            return nil
        }
        read(json)
        guard case .object = json, !texts.isEmpty else { return nil }
    }

    /// - Parameter address: a URL on Mux's host for streams; otherwise the result is `nil`.
    init?(address: String) {
        guard let url = URLComponents(string: address), url.host == "stream.mux.com", url.path.hasSuffix(".m3u8") else {
            return nil
        }
        texts[.integration] = "mux"
        parameters["playbackId"] = String(url.path.dropFirst().dropLast(5))
        parameters["token"] = url.queryItems?.first { $0.name == "drm_token" }?.value
    }

    private static let places: [String: Place] = [
        "licenseacquisitionurl": .license, "licenseurl": .license, "licenseserver": .license, "processspcurl": .license,
        "la_url": .license, "licenseserverurl": .license, "certificateurl": .certificate,
        "servercertificateuri": .certificate, "certificateuri": .certificate, "fairplaycertificateurl": .certificate,
        "integration": .integration,
    ]
    private static let otherSystems: Set = [
        "widevine", "playready", "clearkey", "com.widevine.alpha", "com.microsoft.playready",
    ]

    /// Takes the first value of each name, and ignores the members for other DRMs.
    private mutating func read(_ json: JSONValue) {
        if case .array(let values) = json { return values.forEach { read($0) } }
        guard case .object(let members) = json else { return }
        for (name, value) in members.sorted(by: { $0.key < $1.key }) {
            let small = name.lowercased()
            guard !Self.otherSystems.contains(small) else { continue }
            if let text = value.text {
                // Shaka's servers are named by their key systems.
                if small.hasPrefix("com.apple.fps") { texts[.license] = texts[.license] ?? text }
                if let place = Self.places[small] { texts[place] = texts[place] ?? text }
            } else if small.hasSuffix("headers") {
                readHeaders(value)
            } else if case .object(let given) = value, small == "integrationparameters" {
                parameters.merge(given.compactMapValues(Self.words)) { first, _ in first }
            } else {
                read(value)
            }
        }
    }

    private mutating func readHeaders(_ value: JSONValue) {
        switch value {
        case .object(let fields): headers.merge(fields.compactMapValues(\.text)) { first, _ in first }
        case .array(let fields):
            for field in fields {
                guard let name = field["name"]?.text, let text = field["value"]?.text else {
                    readHeaders(field); continue
                }
                headers[name] = headers[name] ?? text
            }
        default: break
        }
    }

    private static func words(_ value: JSONValue) -> String? {
        switch value {
        case .text(let text): text
        case .flag(let flag): "\(flag)"
        case .number(let number): number == number.rounded() && abs(number) < 1e15 ? "\(Int(number))" : "\(number)"
        case .null, .array, .object: nil
        }
    }
}

extension PlayerSource {
    /// The source in a file or at `-`.
    static func read(_ path: String, _ console: Console) throws -> PlayerSource {
        if let source = PlayerSource(address: path) { return source }
        if let source = PlayerSource(try InputFile.read(path, limit: VendorProfile.fileLimit, console)) {
            return source
        }
        throw UsageError(
            "\(path) is not a player's source with FairPlay.",
            hint:
                "It is JSON as THEOplayer, JW Player, Bitmovin, Shaka Player or react-native-video take it, or a playback URL of Mux."
        )
    }

    /// The profile that matches it best.
    func profile() throws -> VendorProfile {
        let best = matches(VendorIdentification()).first { $0.profile != nil && $0.confidence >= .likely }
        if let profile = best?.profile.flatMap(VendorProfile.named) { return profile }
        throw UsageError("Nothing in the source names a vendor.", hint: "Give --vendor, too.")
    }

    /// The profiles that match it.
    func matches(_ identification: VendorIdentification) -> [VendorMatch] {
        let fields = headers.sorted { $0.key < $1.key }.map { (name: $0.key, value: $0.value) }
        let requests: [RecordedRequest?] =
            [texts[.license].map { RecordedRequest(method: "POST", url: $0, headers: fields) }]
            + [texts[.certificate].map { RecordedRequest(method: "GET", url: $0) }]
        let named = texts[.integration].map { identification.identify(integration: $0) }
        return VendorIdentification.combined(
            requests.compactMap { $0.map { identification.identify($0) } } + [named].compactMap(\.self))
    }

    /// Its values for a profile's parameters, credentials included, under the profile's names.
    func values(for profile: VendorProfile) -> [String: String] {
        let known = Set(profile.parameterNames)
        var values = profile.renamed(parameters)
        // ExpressPlay's license URL is a token.
        let license = known.contains(SettingName.licenseURL) ? SettingName.licenseURL : "tokenURL"
        let addresses = [license: texts[.license], SettingName.certificateURL: texts[.certificate]]
        values.merge(addresses.compactMapValues(\.self)) { first, _ in first }
        for field in profile.license.headers {
            let given = headers.first { $0.key.lowercased() == field.name.lowercased() }?.value
            guard let given, let (name, start) = field.value.parameter, given.hasPrefix(start) else { continue }
            values[name] = values[name] ?? String(given.dropFirst(start.count))
        }
        return values.filter { known.contains($0.key) }
    }

    /// The names of parameters and header fields that a profile does not know.
    func unknown(to profile: VendorProfile) -> [String] {
        let fields = Set(profile.license.headers.map { $0.name.lowercased() })
        let names = Set(profile.parameterNames + profile.sampleNames)
        return parameters.keys.filter { !names.contains($0) }.sorted()
            + headers.keys.filter { !fields.contains($0.lowercased()) && $0.lowercased() != "content-type" }.sorted()
    }
}

extension TextRule {
    /// The parameter that a header field holds, and the text before it; `nil` for any other rule.
    fileprivate var parameter: (name: String, start: String)? {
        switch self {
        case .credential(let name), .setting(let name): (name, "")
        case .all(let rules):
            if rules.count == 2, case .fixed(let start) = rules[0], case .credential(let name) = rules[1] {
                (name, start)
            } else {
                nil
            }
        default: nil
        }
    }
}
