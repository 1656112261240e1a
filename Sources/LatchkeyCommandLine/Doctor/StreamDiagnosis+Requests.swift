import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
@_spi(Integrations) import LatchkeyVendors

// Why a request failed: the error, and evidence from the traffic.
extension StreamDiagnosis {
    /// A failed request: its error, and evidence from its traffic.
    /// - Parameter sha1: the certificate that the SPC was made for; `nil` if that is unknown.
    func explained(
        _ check: Checkup, _ error: any Error, _ notes: TrafficWatch.Notes, spcFor sha1: String?
    ) -> Checkup {
        if let (status, target) = notes.redirect {
            return check.adding("The service redirects with \(status) to \(target).")
        }
        guard let reply = notes.lastReply else { return waiting(check, error) }
        if check.step == .certificate, Recognition(reply.body).holdsPrivateKey {
            return Checkup(.certificate, .privateKeyPublished(Recognition(reply.body)))
        }
        if case .preceded = Recognition(reply.body), check.code.map({ $0.hasSuffix("Malformed") }) == true {
            return check.adding(nil, remedy: Recognition(reply.body).unwrapping)
        }
        let refusal = refusal(reply, error, at: check.step)
        guard reply.status >= 400 else {
            var check = check.adding(refusal.partUnknown)
            check.open = refusal.open
            return check
        }
        let quote = check.reason.contains("\"") ? nil : serviceWords(reply).map { "It said: “\($0)”." }
        var told = refusal.explained(waiting(check, error), (error as? any CataloguedError)?.kind)
        guard !error.isDocumented else { return told }
        if told.code == check.code, told.step == .license {
            if reply.status == 415 {
                told = told.adding(
                    nil,
                    remedy:
                        "Compare Content-Type and body with the vendor's (latchkey wire request); the profile's variant may not fit."
                )
            } else if [400, 422, 500].contains(reply.status), refusal.open.contains(.body) {
                told = refusedSPC(told, saying: refusal.words ?? check.reason, sha1)
            }
        }
        return told.adding(quote)
    }

    func refusal(_ reply: HTTPReply, _ error: any Error, at step: Checkup.Step) -> Refusal {
        let said = [error.service?.code, error.service?.message].compactMap(\.self).joined(separator: " ")
        let stage: VendorProfile.RefusalStage = step == .lookup ? .lookup : step == .session ? .session : .license
        let coded = error.isDocumented && error.service?.code != nil ? error.service : nil
        return Refusal(
            step: step, reply: reply,
            words: (said.isEmpty ? serviceWords(reply) : said).flatMap { $0.contains(where: \.isLetter) ? $0 : nil },
            documented: coded.flatMap { profile.errors(at: stage)?.documented($0) })
    }

    /// The check, with the service's time for the next attempt.
    private func waiting(_ check: Checkup, _ error: any Error) -> Checkup {
        guard let seconds = error.service?.retryAfter else { return check }
        return check.adding(
            "It asks to come back in \(Int(min(max(seconds, 0), 1e9))) s.",
            remedy: error.isDocumented
                ? nil
                : "Wait as long as it asks, then try again; if it lasts, report it to the vendor, with the request id if the service gave one."
        )
    }

    /// A refusal of an SPC that seems sound here: the service may have another certificate.
    private func refusedSPC(_ check: Checkup, saying words: String, _ sha1: String?) -> Checkup {
        guard let sha1 else { return check }
        let words = words.lowercased()
        guard
            words.contains("unknowncertificate") || words.contains("42605")
                || words.contains("certificate") && words.contains("spc")
        else {
            return check.adding(
                nil,
                remedy:
                    "Compare the request with the vendor's (latchkey wire request), and ask whether the service holds the private key of the certificate with SHA-1 \(sha1)."
            )
        }
        return .error(
            .license, "serviceHasOtherCertificate",
            "The license service does not hold the certificate that the SPC was made for, SHA-1 \(sha1), though certificateURL gives it.",
            "Set certificateURL to the certificate of this license service.")
    }

    /// The certificate that this diagnosis' SPC is made for.
    var spcCertificate: String? {
        switch player {
        case .device(let certificate, _): certificate.fingerprint.hexString
        case .recorded: recordedCertificateSHA1
        case .none: nil
        }
    }

    /// The service's message, in one line without secrets; `nil` if the reply is a page or empty.
    func serviceWords(_ reply: HTTPReply) -> String? {
        guard reply.body.count <= 4_096, let text = String(data: reply.body, encoding: .utf8), !text.hasPrefix("<")
        else {
            return nil
        }
        let secrets = credentials.values.values.map(\.revealedText).filter { $0.utf8.count >= 4 }
        let shown = secrets.reduce(text) { $0.replacing($1, with: "‹token›") }
        let words = shown.split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 } }
            .map { $0.count > 64 ? "‹\($0.count) characters›" : String($0) }
        var line = words.joined(separator: " ").prefix(200)
        while line.last == "." { line.removeLast() }
        return line.isEmpty ? nil : String(line)
    }
}

extension Error {
    fileprivate var service: ServiceReply? {
        (self as? ContentKeyError)?.service ?? (self as? IntegrationError)?.service
    }

    /// Whether the vendor documents the service's code, which is more specific than a status.
    fileprivate var isDocumented: Bool {
        (self as? ContentKeyError)?.isDocumented ?? ((self as? IntegrationError)?.documented != nil)
    }
}
