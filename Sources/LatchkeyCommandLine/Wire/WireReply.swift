import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

/// A client's reading of a reply.
enum WireReply: Sendable {
    case certificate(Data)
    case license(License)
    case lookup([String: Secret])
    case session(SessionReply)
    case refused(any Error)

    /// The bytes that a player would get.
    var payload: Data? {
        switch self {
        case .certificate(let der): der
        case .license(let license): license.ckc.revealed
        case .lookup, .session, .refused: nil
        }
    }
}

/// The output of `latchkey wire response`.
struct WireReplyReport: Encodable, Sendable {
    let vendor: String
    let stage: WireStage
    /// A description of the reply.
    let found: String
    /// The values that the player would get.
    private(set) var certificate, ckc: Payload?
    /// Further values of the reply; secret unless revealed.
    private(set) var sideValues: [String: String]?
    private(set) var terms: TermsSummary?
    /// Oddities of a license that the client accepts anyway.
    private(set) var warnings: [ReplyWarning]?
    /// The interval at which a secure session must be kept alive.
    private(set) var periodSeconds: Double?
    private(set) var error: Failure?

    /// Bytes by length and digest.
    struct Payload: Encodable, Sendable {
        let bytes: Int
        let digest: String

        init(_ secret: Secret) { (bytes, digest) = (secret.count, secret.digest) }
    }

    /// - Parameters:
    ///   - body: the reply's body.
    ///   - redaction: removes secrets from the service's words; `nil` to show them and the side values.
    init(_ reply: WireReply, vendor: String, stage: WireStage, body: Data, redaction: WireRedaction?) {
        (self.vendor, self.stage) = (vendor, stage)
        found = Recognition(body).noun
        let show = { (values: [String: Secret]) in values.mapValues { redaction == nil ? $0.revealedText : "\($0)" } }
        switch reply {
        case .certificate(let der):
            certificate = Payload(Secret(der))
        case .license(let license):
            ckc = Payload(license.ckc)
            terms = license.terms.map(TermsSummary.init)
            warnings = license.warnings.isEmpty ? nil : license.warnings
            sideValues = show(license.sideValues)
        case .lookup(let values): sideValues = show(values)
        case .session(let session):
            sideValues = show(session.values)
            periodSeconds = session.period?.inSeconds
        case .refused(let error):
            let failure = Failure(error)
            self.error = redaction.map { failure.redacted($0.words, identifier: $0.text) } ?? failure
        }
        let whole = Recognition(body)
        if stage == .certificate, whole.holdsPrivateKey { error = Failure(.privateKeyPublished(whole)) }
    }

    /// For people.
    var text: String {
        if let error { return Self.text(error) }
        var facts: [(String, String)] = []
        if let certificate { facts.append(("Certificate", "\(certificate.bytes) bytes, \(certificate.digest)")) }
        if let ckc { facts.append(("CKC", "\(ckc.bytes) bytes, \(ckc.digest)")) }
        if certificate != nil || ckc != nil, !["a certificate", "a CKC"].contains(found) {
            facts.append(("Came as", found))
        }
        if stage == .license || stage == .renewal {
            facts.append(("Terms", terms?.description ?? "none stated outside the CKC"))
        }
        if let periodSeconds { facts.append(("Heartbeat", "every \(periodSeconds) s")) }
        facts += (warnings ?? []).map { ("Warning", $0.text) }
        facts += (sideValues ?? [:]).sorted { $0.key < $1.key }.map { ($0.key, $0.value) }
        return facts.isEmpty ? "Accepted." : TextTable(rows: facts.map { [$0.0, $0.1] }).text
    }

    private static func text(_ error: Failure) -> String {
        let facts = [
            ("Refused", error.reason), ("Code", error.code), ("Status", error.status.map(String.init)),
            ("Vendor's code", error.vendorCode), ("Vendor's words", error.vendorMessage),
            ("Request id", error.requestID), ("Retry may help", error.retryable.map { $0 ? "yes" : "no" }),
            ("Remedy", error.remedy),
        ]
        return TextTable(rows: facts.compactMap { name, value in value.map { [name, $0] } }).text
    }
}
