import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A reply, read once for comparison with all profiles, most of which read it in the same few ways. Not for several threads.
final class ReplyShape {
    let reply: HTTPReply
    let json: JSONReply?
    let isTagged: Bool
    /// Whether the body may hold a CKC, or a certificate, for any decoder.
    private let mayHoldCKC, mayHoldCertificate: Bool
    /// Whether it is a part of a stream or of a page, which license services never send: its exchange does not identify a vendor.
    let isForeign: Bool
    private let found: Recognition
    private let fields: [String: String]
    private var ckcs: [CKCDecoder: Bool] = [:]
    private var certificates: [CertificateDecoder: Bool] = [:]

    /// - Parameter found: the body's contents.
    init(_ reply: HTTPReply, _ found: Recognition) {
        (self.reply, self.found) = (reply, found)
        json = JSONReply(reply.body)
        let isShort = reply.body.count <= 1 << 16
        let isJSON = if case .json = found { isShort } else { false }
        switch found.core {
        case .ckc, .laterVersion: (mayHoldCKC, mayHoldCertificate) = (true, isJSON)
        case .certificate, .bundle, .pem: (mayHoldCKC, mayHoldCertificate) = (isJSON, true)
        case .unknown: (mayHoldCKC, mayHoldCertificate) = (isJSON, isShort)
        default: (mayHoldCKC, mayHoldCertificate) = (isJSON, isJSON)
        }
        switch found.core {
        case .playlist, .media: isForeign = true
        case .webPage, .text, .unknown: isForeign = reply.status == 200 && reply.body.count > 8_192
        default: isForeign = false
        }
        isTagged = reply.body.drop { " \t\r\n".utf8.contains($0) }.starts(with: "<ckc>".utf8)
        fields = Dictionary(reply.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
    }

    /// The first value of a header field.
    /// - Parameter name: the field, in lowercase.
    func header(_ name: String) -> String? { fields[name] }

    /// Whether a decoder finds a CKC.
    func holdsCKC(for decoder: CKCDecoder) -> Bool {
        let paths = decoder.paths + CKCDecoder.usualPaths
        guard mayHoldCKC, json.map({ json in paths.contains { json.text(at: $0) != nil } }) != false else {
            return false
        }
        if let known = ckcs[decoder] { return known }
        let isThere = (try? decoder.contentKeyContext(from: reply.body)) != nil
        ckcs[decoder] = isThere
        return isThere
    }

    /// Whether a decoder finds a certificate.
    func isCertificate(for decoder: CertificateDecoder) -> Bool {
        guard mayHoldCertificate else { return false }
        if let known = certificates[decoder] { return known }
        let isThere = (try? decoder.certificate(from: reply.body, found)) != nil
        certificates[decoder] = isThere
        return isThere
    }
}

extension ErrorRules {
    /// The vendor's codes and header fields in a reply.
    func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] {
        let own = message.compactMap { place -> String? in
            if case .header(let name) = place, seen.header(name.lowercased()) != nil { name } else { nil }
        }
        let headers = own.map {
            VendorMatch.Evidence(weight: 50, sentence: "The reply has the header field \($0).")
        }
        guard let code = code(of: seen.reply, seen.json) else { return headers }
        let isKnown = codes[code] != nil
        // A number that many services use is weaker evidence than one that only this vendor lists.
        let weight = isKnown && code.utf8.count >= 4 ? 45 : isKnown ? 20 : 5
        guard isKnown || !successes.contains(seen.reply.status) else { return headers }
        let words =
            isKnown ? "The vendor lists the code that the reply has." : "The reply has a code where the vendor has one."
        return headers + [.init(weight: weight, sentence: words)]
    }
}

extension CKCDecoder {
    /// The evidence for the vendor in a reply that this decoder reads.
    func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] {
        switch self {
        case .json(let paths), .jsonOr(let paths, _):
            let found = paths.first { seen.json?.text(at: $0) != nil }
            guard let found else { return [.init(weight: 5, sentence: "The reply is the CKC itself.")] }
            return [.init(weight: found == "ckc" ? 8 : 45, sentence: "The CKC is at \(found) of a JSON reply.")]
        case .tagged where seen.isTagged:
            return [.init(weight: 15, sentence: "The CKC is between <ckc> and </ckc>.")]
        case .tagged: return [.init(weight: 6, sentence: "The reply is a CKC in base64.")]
        case .base64Text: return [.init(weight: 8, sentence: "The reply is a CKC in base64.")]
        case .raw: return [.init(weight: 6, sentence: "The reply is the CKC itself.")]
        case .preferring(let decoder):
            let isStated = seen.holdsCKC(for: decoder)
            return isStated ? decoder.evidence(in: seen) : [.init(weight: 3, sentence: "The reply holds a CKC.")]
        case .tolerant: return [.init(weight: 3, sentence: "The reply holds a CKC.")]
        }
    }
}
