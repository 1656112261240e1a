import Foundation
import LatchkeyCore

extension TokenInspection {
    /// Reads a VuDRM token: client, time, perhaps a version, encrypted policy, hash of 40 hexadecimal digits.
    ///
    /// Source: `Documentation/Vendors/VuDRM.md`, token. The date in the published sample is invalid, so an invalid date is not reported.
    mutating func readVuDRM(_ token: String, _ use: TokenUse) {
        let parts = token.split(separator: "|", omittingEmptySubsequences: false).map(String.init)
        guard let client = parts.first, parts.count == 4 || parts.count == 5, let hash = parts.last else {
            advice = [.malformed("\(parts.count.counted("part")) between \"|\" instead of 4 or 5")]
            return
        }
        add("client", client)
        add("generated", parts[1])
        if parts.count == 5 { add("version", parts[2]) }
        if client.isEmpty { advice.append(.malformed("the client's name is empty")) }
        if Data(hexString: hash)?.count != 20 {
            advice.append(.malformed("the hash is not 40 hexadecimal digits"))
        }
        if let generated = Date(lenientISO8601: parts[1]), use.date.timeIntervalSince(generated) > 30 {
            advice.append(.mayHaveExpired(generated: generated))
        }
    }
}
