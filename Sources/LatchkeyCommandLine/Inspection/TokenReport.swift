import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVendors

/// The claims of a vendor's token. Never holds the token.
struct TokenReport: Sendable {
    private let inspection: TokenInspection
    private let hasBearer: Bool

    /// - Parameters:
    ///   - bytes: the token as read from a file; a trailing line end and a leading "Bearer" are ignored.
    ///   - keyID: the key that the token is for.
    ///   - purpose: the key's intended use.
    ///   - date: the time to check its dates against.
    init(_ bytes: Data, keyID: KeyID?, purpose: KeyPurpose, at date: Date) {
        let whole = String(decoding: bytes, as: UTF8.self)
        let (token, hasBearer) = (TokenText(whole).token, TokenText(whole).hasBearer)
        self.hasBearer = hasBearer
        var inspection = TokenFormat.detect(token).inspect(
            hasBearer ? token : whole, keyID: keyID, purpose: purpose, at: date)
        if token.isEmpty { inspection.advice = [.malformed("it is empty")] }
        self.inspection = inspection
    }
}

extension TokenReport: Encodable {
    private enum CodingKeys: String, CodingKey { case format, facts, advice }

    private struct Advice: Encodable {
        let code, text: String
    }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(inspection.format.rawValue, forKey: .format)
        let facts = Dictionary(inspection.facts.map { ($0.name, $0.value) }) { first, _ in first }
        try container.encode(facts, forKey: .facts)
        try container.encode(inspection.advice.map { Advice(code: $0.code, text: "\($0)") }, forKey: .advice)
    }
}

extension Inspection {
    init(_ report: TokenReport) {
        self.init(kind: .token, facts: report.lines, problems: report.problems, report: report)
    }
}

extension TokenReport {
    fileprivate var lines: [Inspection.Fact] {
        [("Token", inspection.format.meaning)] + inspection.facts.map { ($0.name, $0.value) }
    }

    fileprivate var problems: [InspectionFinding] {
        let bearer = InspectionFinding(
            .warning, "bearerPrefix", "The word Bearer precedes the token and is not part of it.",
            "Give --set token the token alone; the profile writes Bearer where the vendor wants it.")
        return inspection.advice.map(InspectionFinding.init) + (hasBearer ? [bearer] : [])
    }
}

extension InspectionFinding {
    /// The findings of a token's inspection.
    init(_ advice: TokenInspection.Advice) {
        self.init(advice.severity, advice.code, "\(advice)", advice.remedy)
    }
}

extension TokenFormat {
    fileprivate var meaning: String {
        switch self {
        case .opaque: "opaque: only its service can read it"
        case .vuDRM: "VuDRM; its hash was not checked"
        case .pallyCon: "DoveRunner (PallyCon); its hash was not checked"
        case .keyOS: "KeyOS; its signature was not checked"
        case .jwt: "JSON Web Token; its signature was not checked"
        case .azure, .verimatrix, .axinom, .nagra, .drmToday, .mux:
            "JSON Web Token of \(rawValue); its signature was not checked"
        }
    }
}

extension TokenInspection.Advice {
    fileprivate var severity: InspectionFinding.Severity {
        switch self {
        case .malformed, .expired, .notYetValid, .keyNotCovered, .noOfflineRight, .unsuitable, .needsSession: .error
        case .mayHaveExpired: .warning
        }
    }
}
