import Foundation
import LatchkeyCore

/// A reply, read once for the comparison with all profiles.
struct ReplyShape {
    let reply: HTTPReply
    let json: JSONReply?
    let isTagged: Bool

    init(_ reply: HTTPReply) {
        self.reply = reply
        json = JSONReply(reply.body)
        let text = String(data: reply.body.prefix(64), encoding: .utf8) ?? ""
        isTagged = text.trimmingCharacters(in: .whitespacesAndNewlines).hasPrefix("<ckc>")
    }
}

extension VendorProfile {
    /// What a reply says about the profile: the place of the CKC, further values, the vendor's codes and header fields.
    func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] {
        let found =
            sideValueEvidence(seen) + errorEvidence(errors, seen) + (lookup.map { lookupEvidence($0, seen) } ?? [])
        return (licenseEvidence(seen) + certificateEvidence(seen)).prefix(1) + found
    }

    private func licenseEvidence(_ seen: ReplyShape) -> [VendorMatch.Evidence] {
        guard errors.successes.contains(seen.reply.status),
            (try? decoder.contentKeyContext(from: seen.reply.body)) != nil
        else { return [] }
        return decoder.evidence(in: seen)
    }

    private func certificateEvidence(_ seen: ReplyShape) -> [VendorMatch.Evidence] {
        guard certificate.request != nil, seen.reply.status == 200,
            (try? certificate.decoder.certificate(from: seen.reply.body)) != nil
        else { return [] }
        return [.init(weight: 2, sentence: "The reply is an application certificate.")]
    }

    private func sideValueEvidence(_ seen: ReplyShape) -> [VendorMatch.Evidence] {
        let terms = [terms?.lease, terms?.rental, terms?.storage, terms?.playback].compactMap { $0 }
            .flatMap(\.tree).compactMap { if case .reply(let path) = $0 { path } else { nil } }
        return Set(sideValues.values).union(terms).sorted().filter { seen.json?.text(at: $0) != nil }
            .map { .init(weight: 30, sentence: "The JSON reply has \($0), which the profile reads.") }
    }

    private func lookupEvidence(_ lookup: LookupRule, _ seen: ReplyShape) -> [VendorMatch.Evidence] {
        let paths = Set(lookup.values.values).union(lookup.allowedBy).sorted()
        return paths.filter { seen.json?.text(at: $0) != nil }
            .map { .init(weight: 30, sentence: "The JSON reply has \($0), which the profile looks up.") }
            + errorEvidence(lookup.errors, seen)
    }

    private func errorEvidence(_ errors: ErrorRules, _ seen: ReplyShape) -> [VendorMatch.Evidence] {
        let own = errors.message.compactMap { place -> String? in
            if case .header(let name) = place, seen.reply.header(name) != nil { name } else { nil }
        }
        let headers = own.map {
            VendorMatch.Evidence(weight: 50, sentence: "The reply has the header field \($0).")
        }
        guard let code = errors.summary(of: seen.reply).code else { return headers }
        let isKnown = errors.kinds[code] != nil
        // A number that many services use says less than one that this vendor alone lists.
        let weight = isKnown && code.utf8.count >= 4 ? 45 : isKnown ? 20 : 5
        guard isKnown || !errors.successes.contains(seen.reply.status) else { return headers }
        let words =
            isKnown ? "The vendor lists the code that the reply has." : "The reply has a code where the vendor has one."
        return headers + [.init(weight: weight, sentence: words)]
    }
}

extension CKCDecoder {
    /// What the form of a reply that this decoder reads says about the vendor.
    fileprivate func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] {
        switch self {
        case .json(let paths), .jsonOr(let paths, _):
            let found = paths.first { seen.json?.text(at: $0) != nil }
            guard let found else { return [.init(weight: 5, sentence: "The reply is the CKC itself.")] }
            return [.init(weight: found == "ckc" ? 8 : 45, sentence: "The CKC stands at \(found) of a JSON reply.")]
        case .tagged where seen.isTagged:
            return [.init(weight: 15, sentence: "The CKC stands between <ckc> and </ckc>.")]
        case .tagged: return [.init(weight: 6, sentence: "The reply is a CKC in base64.")]
        case .base64Text: return [.init(weight: 8, sentence: "The reply is a CKC in base64.")]
        case .raw: return [.init(weight: 6, sentence: "The reply is the CKC itself.")]
        case .preferring(let decoder):
            let isStated = (try? decoder.contentKeyContext(from: seen.reply.body)) != nil
            return isStated ? decoder.evidence(in: seen) : [.init(weight: 3, sentence: "The reply holds a CKC.")]
        case .tolerant: return [.init(weight: 3, sentence: "The reply holds a CKC.")]
        }
    }
}
