import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A client's messages for one key, and the player's name for the key; a missing part is not sent.
struct Conversation: Sendable {
    enum Part: String, Sendable, CaseIterable, Comparable {
        /// The identifier that the SPC is made for.
        case identifier
        case certificateURL, certificateHeaders
        case licenseURL, licenseHeaders
        /// The type of the license request's body.
        case contentType
        case body

        static func < (left: Part, right: Part) -> Bool { left.rawValue < right.rawValue }
    }

    private var parts: [Part: String] = [:]

    init() {}

    subscript(_ part: Part) -> String? {
        get { parts[part] }
        set { parts[part] = newValue }
    }

    /// The parts in which two conversations differ.
    func differences(from other: Conversation) -> Set<Part> { Set(Part.allCases.filter { self[$0] != other[$0] }) }

    /// The parts in words, for a failure.
    func text(of parts: Set<Part>) -> String {
        parts.sorted().map { "\($0): \(self[$0] ?? "–")" }.joined(separator: "\n")
    }
}

extension Conversation {
    /// Notes a certificate request as a client makes it.
    mutating func askForCertificate(_ url: String, _ headers: [String: String] = [:]) {
        self[.certificateURL] = String(url.prefix { $0 != "#" })
        self[.certificateHeaders] = Self.text(headers)
    }

    /// Notes a license request as a client makes it; the type of a form or of JSON is a header like any other.
    mutating func askForLicense(_ url: String, _ headers: [String: String] = [:], body: Data) {
        // A fragment never travels.
        self[.licenseURL] = String(url.prefix { $0 != "#" })
        let names = headers.map { ($0.key.lowercased(), $0.value) }
        self[.contentType] = names.first { $0.0 == "content-type" }?.1
        self[.licenseHeaders] = Self.text(Dictionary(names) { $1 }.filter { $0.key != "content-type" })
        self[.body] = Self.text(body)
    }

    private static func text(_ headers: [String: String]) -> String {
        headers.map { "\($0.key.lowercased()): \($0.value)" }.sorted().joined(separator: "\n")
    }

    /// A JSON object with its members in order, a form with its values decoded, other bytes in hexadecimal digits.
    private static func text(_ body: Data) -> String {
        guard let text = String(data: body, encoding: .utf8) else { return body.hexString }
        if let json = try? JSONSerialization.jsonObject(with: body),
            let sorted = try? JSONSerialization.data(
                withJSONObject: json, options: [.sortedKeys, .withoutEscapingSlashes])
        {
            return String(decoding: sorted, as: UTF8.self)
        }
        // Samples leave base64 unescaped, which services accept: the decoded form counts.
        let fields = text.split(separator: "&").map { $0.removingPercentEncoding ?? String($0) }
        return fields.joined(separator: "\n")
    }
}

extension Conversation {
    /// Latchkey's messages; nothing about the license if it refuses to name the key or to make the request.
    init(_ wire: ProfileWire) async {
        if let sent = try? await wire.certificateRequest() {
            let (url, headers, _) = Self.cut(sent)
            askForCertificate(url, headers)
        }
        guard let identifier = try? wire.contentIdentifier(), let sent = try? await wire.licenseRequest() else {
            return
        }
        self[.identifier] = identifier
        let (url, headers, body) = Self.cut(sent)
        askForLicense(url, headers, body: Data(hexString: body) ?? Data(body.utf8))
    }

    private static func cut(_ sent: String) -> (url: String, headers: [String: String], body: String) {
        let parts = sent.split(separator: "\n\n", maxSplits: 1, omittingEmptySubsequences: false)
        let lines = (parts.first ?? "").split(separator: "\n")
        let headers = lines.dropFirst().map { $0.split(separator: ": ", maxSplits: 1).map(String.init) }
        return (
            String(lines.first?.split(separator: " ", maxSplits: 1).last ?? ""),
            Dictionary(headers.map { ($0.first ?? "", $0.count > 1 ? $0[1] : "") }) { $1 },
            parts.count > 1 ? String(parts[1]) : ""
        )
    }
}
