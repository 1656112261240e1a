import LatchkeyCore
import LatchkeyForms
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// The vendors, a line each.
struct VendorList {
    private let vendors: [(name: String, profiles: [String])]

    init(_ profiles: [VendorProfile]) {
        vendors = profiles.reduce(into: []) { found, profile in
            if let place = found.firstIndex(where: { $0.name == profile.vendor }) {
                found[place].profiles.append(profile.identifier)
            } else {
                found.append((profile.vendor, [profile.identifier]))
            }
        }
    }

    var text: String {
        let rows = vendors.map { ($0.name, $0.profiles.joined(separator: " ")) }
        let others = VendorIdentification.vendorsWithoutProfile.joined(separator: ", ")
        let known =
            "Known by name only, because their public pages do not fully describe a license request: \(others)."
        return """
            \(Help.table(rows, width: 40))

            \(Help.wrap(known, to: 96).joined(separator: "\n"))
            latchkey vendors NAME says what a vendor needs, latchkey vendors show ID prints a profile.
            """
    }
}

extension Diagnosis {
    static func noVendor(_ text: String) -> Diagnosis {
        let names = VendorProfile.all.map(\.identifier)
        let closest = Spelling.closest(to: text, among: names).map { "Did you mean \($0)? " } ?? ""
        return Diagnosis(
            code: "noVendor",
            reason: "No vendor has \(quoted(Redaction.standard.redacted(prose: text))) in its name.",
            remedy: closest + "latchkey vendors lists them.")
    }
}

extension VendorProfile {
    /// The profiles whose identifier, name or vendor's name contains a text, in any letter case.
    static func matching(_ text: String) -> [VendorProfile] {
        let text = text.lowercased()
        guard !text.isEmpty else { return [] }
        return all.filter { profile in
            [profile.identifier, profile.name, profile.vendor].contains { $0.lowercased().contains(text) }
        }
    }
}
