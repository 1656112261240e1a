import Foundation
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The output of `latchkey wire request`: the request that would be sent.
struct WireRequestReport: Encodable, Sendable {
    let vendor: String
    let stage: WireStage
    let method, url: String
    let headers: [String: String]
    /// `nil` if the request has no body.
    let bodyBase64: String?
    /// The key's name in the SPC, as text, else in hexadecimal.
    let contentIdentifier: String?
    /// The key's name in the request.
    let requestContentID: String?
    /// A notice if secrets were replaced.
    let note: String?

    /// - Parameter redaction: removes secrets; `nil` to reveal them.
    init(
        _ request: URLRequest, of profile: VendorProfile, stage: WireStage, key: KeyURI?, redaction: WireRedaction?
    ) {
        vendor = profile.identifier
        self.stage = stage
        method = request.httpMethod ?? "GET"
        let url = request.url?.absoluteString ?? ""
        self.url = redaction?.url(url) ?? url
        let headers = request.allHTTPHeaderFields ?? [:]
        // Foundation changes the spelling of names, and people compare them with a vendor's page.
        let names = profile.placedRequests.flatMap { $0.request.headers.map(\.name) }
        self.headers = Dictionary(
            headers.map { name, value in
                (names.first { $0.lowercased() == name.lowercased() } ?? name, redaction?.header(name, value) ?? value)
            }, uniquingKeysWith: { $1 })
        let type = headers.first { $0.key.lowercased() == "content-type" }?.value ?? ""
        bodyBase64 = request.httpBody.map { body in
            (redaction.map { Data($0.body(body, contentType: type).utf8) } ?? body).base64EncodedString()
        }
        let identifier = key.flatMap { try? profile.contentIdentifier(for: $0) }
        let shown = identifier.map { $0.text ?? $0.bytes.hexString }
        contentIdentifier = shown.map { redaction?.url($0) ?? $0 }
        requestContentID = key.flatMap { profile.requestContentID(for: $0) }.map { redaction?.url($0) ?? $0 }
        note =
            redaction == nil
            ? nil : "Secrets are replaced by ‹length:digest›; --reveal shows the bytes as they are sent."
    }

    /// For people: in HTTP's form, followed by the key's names.
    var text: String {
        var lines = ["\(method) \(url)"] + headers.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
        lines = lines.map(\.visible)
        if let body = bodyBase64.flatMap({ Data(base64Encoded: $0) }) {
            lines += ["", String(data: body, encoding: .utf8) ?? "\(body.count) bytes: \(body.hexString)"]
        }
        let names = [("Content identifier", contentIdentifier), ("Content id of the request", requestContentID)]
        lines += [""] + names.compactMap { name, value in value.map { "\(name)  \($0.visible)" } }
        return (lines + [note].compactMap { $0 }).joined(separator: "\n")
    }
}
