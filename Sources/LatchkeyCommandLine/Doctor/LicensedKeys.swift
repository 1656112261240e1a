import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyVendors

/// Maps recorded license requests to a stream's keys. An SPC does not reveal its key; address, header fields and body often do.
struct LicensedKeys {
    let keys: [KeyURI]
    /// For each key, the texts that name it and no other, in lowercase.
    private let names: [Set<String>]

    /// - Parameter profile: the vendor's; `nil` if the vendor is unknown.
    init(_ keys: [KeyURI], _ profile: VendorProfile?) {
        self.keys = keys
        // Words in every request of the app name no key.
        let settings = Set((profile?.settings ?? [:]).values.map { $0.lowercased() })
        let candidates = keys.map { Self.candidates(for: $0, profile).subtracting(settings) }
        names = candidates.indices.map { index in
            let others = candidates.indices.filter { $0 != index }.flatMap { candidates[$0] }
            return candidates[index].subtracting(others)
        }
    }

    private static let shortestName = 4

    private static func candidates(for key: KeyURI, _ profile: VendorProfile?) -> Set<String> {
        let address = RecordedAddress(key.raw)
        let remainder = key.raw.split(separator: "//", maxSplits: 1).last.map(String.init) ?? key.raw
        let identifier = profile.flatMap { try? $0.contentIdentifier(for: key) }?.text
        let parts =
            [address.hostName] + address.path.split(separator: "/").map(String.init) + address.items.map(\.value)
        let found = ([key.raw, remainder, identifier].compactMap(\.self) + parts).map { $0.lowercased() }
        return Set(found.filter { $0.utf8.count >= shortestName })
    }

    /// The keys covered by the licenses of some requests.
    struct Coverage {
        /// The keys that cannot have a license.
        let missing: [KeyURI]
        /// How many keys lack a license.
        let missingCount: Int
        /// Whether more licenses lack a key name in their requests than keys lack a license, so that their keys cannot be inferred.
        let isUnclear: Bool
    }

    func coverage(of exchanges: [TrafficExchange]) -> Coverage {
        let found = exchanges.map(key)
        let open = keys.indices.filter { !found.contains($0) }
        // The same SPC sent twice is for the same key; bodies that were not recorded may be any.
        let bodies = zip(exchanges, found).filter { $0.1 == nil }.map(\.0.request.body)
        let unnamed = Set(bodies.compactMap(\.self)).count + bodies.count { $0 == nil }
        return Coverage(
            missing: unnamed == 0 ? open.map { keys[$0] } : [], missingCount: max(0, open.count - unnamed),
            isUnclear: keys.count > 1 && !open.isEmpty && unnamed > open.count)
    }

    /// The place of the one key that a request names; `nil` if it names none, or several.
    func key(of exchange: TrafficExchange) -> Int? {
        let text = Self.text(of: exchange)
        let named = names.indices.filter { index in names[index].contains { text.names($0) } }
        return named.count == 1 ? named.first : nil
    }

    /// All texts of a request, in lowercase, also decoded.
    private static func text(of exchange: TrafficExchange) -> String {
        let body = exchange.request.body.flatMap { $0.count > 1 << 16 ? nil : String(data: $0, encoding: .utf8) } ?? ""
        let said = [exchange.request.url, body] + exchange.request.headers.map(\.value)
        let decoded = said.compactMap(\.removingPercentEncoding)
        let words = decoded.flatMap { $0.split { !$0.isLetter && !$0.isNumber && !"+/-_=".contains($0) } }
        let inside = words.filter { $0.utf8.count >= 16 }.prefix(64)
            .compactMap { Data(lenientBase64: String($0)).flatMap { String(data: $0, encoding: .utf8) } }
        return (said + decoded + inside).joined(separator: "\n").lowercased()
    }
}

extension String {
    /// Whether the text contains a name that is not part of a longer one.
    fileprivate func names(_ name: String) -> Bool {
        var rest = self[...]
        while let range = rest.range(of: name, options: .literal) {
            let isEnd = { (character: Character?) in character.map { !$0.isLetter && !$0.isNumber } ?? true }
            if isEnd(self[..<range.lowerBound].last), isEnd(self[range.upperBound...].first) { return true }
            rest = self[range.upperBound...]
        }
        return false
    }
}
