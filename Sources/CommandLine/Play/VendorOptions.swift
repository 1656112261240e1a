import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// The options that say which vendor's license service to ask, and how.
struct VendorOptions: Sendable {
    private let vendor = Option("vendor", .text("ID"), "the vendor's profile, such as vudrm or cloud-drm", .required)
    private let set = Option(
        "set", .named, "a parameter of the profile: token, certificateURL, licenseURL, brandGuid …", .repeatable)
    private let allowHost = Option(
        "allow-host", .text("HOST[:PORT]"), "a host that license requests may go to, beside the configured ones",
        .repeatable)
    private let loopbackHTTP = Flag("loopback-http", "use http where an https URL names a loopback host")

    var options: [any Parameter] { [vendor, set, allowHost, loopbackHTTP] }

    /// For a verb's help: what each profile takes.
    static var details: String {
        let rows = VendorProfile.all.map { profile in
            let names = profile.parameters.map { $0.isRequired ? $0.name : "[\($0.name)]" }
            return (profile.identifier, names.joined(separator: " "))
        }
        return "Profiles, and what --set gives them:\n" + Help.table(rows)
    }

    /// The profile with its settings.
    func profile(_ arguments: Arguments) throws(UsageError) -> VendorProfile {
        let name = arguments[vendor] ?? ""
        guard let profile = VendorProfile.named(name) else {
            let names = VendorProfile.all.map(\.identifier)
            let closest = Spelling.closest(to: name, among: names)
            throw UsageError(
                "there is no vendor \(quoted(name)).",
                hint: closest.map { "Did you mean \($0)?" } ?? "Vendors: \(names.joined(separator: ", "))")
        }
        let settings = try values(arguments, for: profile).filter { !isCredential($0.key, of: profile) }
        let configured = profile.with(settings)
        if let missing = configured.missingSettings.first { throw needs(missing, of: profile) }
        return configured
    }

    /// The credentials among the parameters; the same for every attempt.
    func credentials(_ arguments: Arguments, for profile: VendorProfile) throws(UsageError) -> Credentials {
        let values = try values(arguments, for: profile).filter { isCredential($0.key, of: profile) }
        let required = profile.parameters.filter { $0.isCredential && $0.isRequired }
        if let missing = required.first(where: { values[$0.name, default: ""].isEmpty }) {
            throw needs(missing.name, of: profile)
        }
        return .fixed(CredentialSet(values.mapValues { Secret($0) }))
    }

    /// Where requests may go.
    func hosts(_ arguments: Arguments) throws(UsageError) -> HostPolicy {
        if let address = arguments.all(allowHost).first(where: { $0.contains("/") || $0.isEmpty }) {
            throw UsageError(
                "--allow-host takes a host or a host and a port, not \(quoted(address)).",
                hint: "Example: --allow-host 127.0.0.1:8080")
        }
        return HostPolicy(
            allowed: Set(arguments.all(allowHost).map { HostPolicy.Host($0) }),
            loopback: arguments[loopbackHTTP] ? .http : .asGiven)
    }

    private func needs(_ name: String, of profile: VendorProfile) -> UsageError {
        let parameter = profile.parameters.first { $0.name == name }
        return UsageError(
            "\(profile.identifier) needs --set \(name)=… (\(parameter?.meaning ?? "")).",
            hint: parameter.map { "Example: --set '\(name)=\($0.example)'" })
    }

    private func values(_ arguments: Arguments, for profile: VendorProfile) throws(UsageError) -> [String: String] {
        let named = arguments.all(set)
        let known = profile.parameters.map(\.name)
        if let unknown = named.first(where: { !known.contains($0.name) }) {
            let closest = Spelling.closest(to: unknown.name, among: known)
            throw UsageError(
                "\(profile.identifier) has no parameter \(quoted(unknown.name)).",
                hint: closest.map { "Did you mean \($0)?" } ?? "Parameters: \(known.joined(separator: ", "))")
        }
        return Dictionary(named.map { ($0.name, $0.value) }) { $1 }
    }

    private func isCredential(_ name: String, of profile: VendorProfile) -> Bool {
        profile.parameters.contains { $0.name == name && $0.isCredential }
    }
}
