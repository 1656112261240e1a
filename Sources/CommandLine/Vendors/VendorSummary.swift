import LatchkeyVendors

/// A vendor as `latchkey vendors` shows it.
struct VendorSummary: Encodable {
    let identifier, name: String
    let parameters: [Parameter]

    /// What the profile has to be told.
    struct Parameter: Encodable {
        let name, meaning: String
        let required, credential: Bool
        let example: String
    }

    init(_ profile: VendorProfile) {
        (identifier, name) = (profile.identifier, profile.name)
        parameters = profile.parameters.map {
            Parameter(
                name: $0.name, meaning: $0.meaning, required: $0.isRequired, credential: $0.isCredential,
                example: $0.example)
        }
    }

    /// For people: the vendor, and a line for each parameter.
    var text: String {
        let rows = parameters.map { ["  \($0.name)", $0.required ? "required" : "", $0.meaning, $0.example] }
        return "\(identifier)  \(name)" + (rows.isEmpty ? "" : "\n" + TextTable(rows: rows).text)
    }
}
