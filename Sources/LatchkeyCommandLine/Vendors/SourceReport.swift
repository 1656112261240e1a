import Foundation
import LatchkeyCore
import LatchkeyTerminal
import LatchkeyVendors

/// A player's source read for a profile: known, missing and unknown values, and the same with Latchkey. Holds no secrets.
struct SourceReport: Encodable {
    let profile: String
    /// Settings by the profile's own names.
    let settings: [String: String]
    /// The names of the credentials in the source; an app should get a fresh one for each request.
    let credentials: [String]
    /// The names of required parameters that it lacks.
    let missing: [String]
    /// The names of parameters and header fields that the profile does not know.
    let unknown: [String]
    /// The same in an app.
    let swift: [String]

    init(_ source: PlayerSource, for profile: VendorProfile) {
        self.profile = profile.identifier
        let values = source.values(for: profile)
        let own = profile.parameters.filter { values[$0.name]?.isEmpty == false }
        let settings = Dictionary(
            own.filter { !$0.isCredential }.map {
                ($0.name, Redaction.standard.redacted(urlText: values[$0.name] ?? ""))
            }
        ) { first, _ in first }
        self.settings = settings
        credentials = own.filter(\.isCredential).map(\.name)
        missing = profile.parameters.filter { $0.isRequired && values[$0.name]?.isEmpty != false }.map(\.name)
        unknown = source.unknown(to: profile)
        let given = settings.sorted { $0.key < $1.key }.map { #""\#($0.key)": "\#($0.value)""# }
        let needsToken = profile.parameters.contains(where: \.isCredential)
        swift =
            [
                "guard let vendor = try VendorProfile.named(\"\(profile.identifier)\")?.configured(["
            ] + given.map { "    \($0)," } + [
                "]) else { return }",
                "let loader = ContentKeyLoader(vendor\(needsToken ? ", credentials: .token { _ in try await token() }" : ""))",
                "let playback = ProtectedPlayback(loader)",
            ]
    }

    /// For people.
    var text: String {
        let lines =
            settings.sorted { $0.key < $1.key }.map { "  \($0.key): \($0.value.visible)" }
            + credentials.map { "  \($0): given; ask for a fresh one for each request" }
            + missing.map { "  \($0): missing, and required" }
            + unknown.map { "  \($0.visible): unknown to the profile" }
        return (["The source, for \(profile):"] + lines + ["", "In Swift:"] + swift.map { "  \($0.visible)" })
            .joined(separator: "\n")
    }
}
