import Foundation
import LatchkeyCore

extension TokenInspection {
    /// Looks into a VuDRM token: client, time, perhaps a version, encrypted policy, hash of 40 hexadecimal digits.
    ///
    /// Source: `vendors.md` §1, token. The published sample's own date is no valid one, so an odd date is no fault.
    static func vuDRM(_ token: String, at date: Date) -> Self {
        var inspection = Self(format: .vuDRM)
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard let client = parts.first, parts.count == 4 || parts.count == 5, let hash = parts.last else {
            inspection.advice = [.malformed("\(parts.count) parts between \"|\" instead of 4 or 5")]
            return inspection
        }
        inspection.add("client", client)
        inspection.add("generated", parts[1])
        if parts.count == 5 { inspection.add("version", parts[2]) }
        if client.isEmpty { inspection.advice.append(.malformed("the client's name is empty")) }
        if Data(hexString: hash)?.count != 20 {
            inspection.advice.append(.malformed("the hash is not 40 hexadecimal digits"))
        }
        if let generated = Date(lenientISO8601: parts[1]), date.timeIntervalSince(generated) > 30 {
            inspection.advice.append(.mayHaveExpired(generated: generated))
        }
        return inspection
    }
}
