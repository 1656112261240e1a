import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// The output of `latchkey vendors identify`.
struct IdentificationReport: Encodable {
    /// All matches, best first.
    let matches: [Match]
    /// The contents of a capture's bodies.
    let bodies: [String]
    /// The values that a player's source gives the best profile; `nil` if there is no source.
    let source: SourceReport?

    struct Match: Encodable {
        /// `nil` for a vendor without a profile.
        let profile: String?
        let vendor: String
        let confidence: VendorMatch.Confidence
        let score: Int
        /// The evidence for it, strongest first.
        let reasons: [String]
    }

    init(_ found: [VendorMatch], bodies: [String], source: PlayerSource? = nil) {
        self.bodies = bodies
        let best = found.lazy.compactMap(\.profile).first.flatMap(VendorProfile.named)
        self.source = best.flatMap { profile in source.map { SourceReport($0, for: profile) } }
        matches = found.map {
            Match(
                profile: $0.profile, vendor: $0.vendor, confidence: $0.confidence, score: $0.score, reasons: $0.reasons)
        }
    }

    /// Whether a vendor is certain or likely.
    var isTelling: Bool { matches.contains { $0.confidence >= .likely } }

    /// For people: a paragraph for each vendor, its variants in one line.
    var text: String {
        ([vendorText] + bodies.map(\.visible) + (source.map { ["", $0.text] } ?? [])).joined(separator: "\n")
    }

    private var vendorText: String {
        guard !matches.isEmpty else {
            return "Nothing in it names a vendor. latchkey vendors lists all vendors."
        }
        let shown = vendors.filter { !isTelling || $0.best.confidence >= .likely }.prefix(6)
        let paragraphs = shown.map(Self.paragraph)
        let hint = isTelling ? "" : "\n\nNothing in it belongs to one vendor alone; these and others have such a form."
        let next = matches.first?.profile.map { "\n\nlatchkey vendors \($0) says what it needs." } ?? ""
        return paragraphs.joined(separator: "\n\n") + (isTelling ? next : hint)
    }

    /// Vendors in the order of their best profile.
    private var vendors: [(best: Match, others: [Match])] {
        matches.reduce(into: []) { found, match in
            if let place = found.firstIndex(where: { $0.best.vendor == match.vendor }) {
                found[place].others.append(match)
            } else {
                found.append((match, []))
            }
        }
    }

    private static func paragraph(_ best: Match, _ others: [Match]) -> String {
        let equal = others.filter { $0.score == best.score }.compactMap(\.profile)
        let less = others.filter { $0.score < best.score }.compactMap(\.profile)
        let names = ([best.profile ?? "no profile"] + equal).joined(separator: ", ")
        let rest = less.isEmpty ? "" : "; rather than \(less.joined(separator: ", "))"
        return (["\(best.confidence): \(best.vendor) (\(names)\(rest))"] + best.reasons.map { "  \($0)" })
            .joined(separator: "\n")
    }
}
