import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// The options that say which vendor's license service to ask, and how.
struct VendorOptions: Sendable {
    private let vendor = Option("vendor", .text("ID"), "a vendor of latchkey vendors, such as vudrm; or --profile")
    private let file = Option("profile", .path("FILE"), "a profile in JSON, in place of --vendor")
    private let set = Option(
        "set", .named, "a parameter of the profile: token, certificateURL, licenseURL, brandGuid …", .repeatable)
    private let allowHost = Option(
        "allow-host", .text("HOST[:PORT]"), "a host that license requests may go to, beside the configured ones",
        .repeatable)
    private let loopbackHTTP = Flag("loopback-http", "use http where an https URL names a loopback host")

    /// Which profile, and its parameters.
    var profileOptions: [any Parameter] { [vendor, file, set] }
    /// Where requests may go.
    var hostOptions: [any Parameter] { [allowHost, loopbackHTTP] }

    /// For a verb's help: what each profile takes.
    static var details: String {
        let rows = VendorProfile.all.map { profile in
            let names = profile.parameters.map { $0.isRequired ? $0.name : "[\($0.name)]" }
            return (profile.identifier, names.joined(separator: " "))
        }
        return "Profiles, and what --set gives them:\n" + Help.table(rows)
    }

    /// The profile with its settings.
    /// - Throws: `UsageError`, also where a required setting is missing; `ProfileError`, `FileError`.
    func profile(_ arguments: Arguments, _ console: Console) throws -> VendorProfile {
        let profile = try incompleteProfile(arguments, console)
        if let missing = profile.missingSettings.first { throw needs(missing, of: profile) }
        return profile
    }

    /// The profile with those settings that there are.
    func incompleteProfile(_ arguments: Arguments, _ console: Console) throws -> VendorProfile {
        let profile = try plainProfile(arguments, console)
        let settings = try values(arguments, for: profile).filter { !isCredential($0.key, of: profile) }
        return profile.with(settings)
    }

    private func plainProfile(_ arguments: Arguments, _ console: Console) throws -> VendorProfile {
        switch (arguments[vendor], arguments[file]) {
        case (let name?, nil): return try VendorProfile.known(name)
        case (nil, let path?):
            return try VendorProfile(json: InputFile.read(path, limit: VendorProfile.fileLimit, console))
        case (nil, nil): throw UsageError("--vendor ID or --profile FILE is missing.")
        case (_?, _?): throw UsageError("--vendor and --profile do not go together.")
        }
    }

    /// The credentials among the parameters; the same for every attempt.
    /// - Throws: `UsageError` where a required one is missing.
    func credentials(_ arguments: Arguments, for profile: VendorProfile) throws(UsageError) -> Credentials {
        let given = try credentialSet(arguments, for: profile)
        let required = profile.parameters.filter { $0.isCredential && $0.isRequired }
        if let missing = required.first(where: { given.values[$0.name, default: Secret("")].count == 0 }) {
            throw needs(missing.name, of: profile)
        }
        return .fixed(given)
    }

    /// Those credentials that there are.
    func credentialSet(_ arguments: Arguments, for profile: VendorProfile) throws(UsageError) -> CredentialSet {
        let values = try values(arguments, for: profile).filter { isCredential($0.key, of: profile) }
        return CredentialSet(values.mapValues { Secret($0) })
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

extension VendorProfile {
    /// A mebibyte, far beyond any profile.
    static let fileLimit = 1 << 20

    /// The profile of a name.
    static func known(_ name: String) throws(UsageError) -> VendorProfile {
        if let profile = named(name) { return profile }
        let names = all.map(\.identifier)
        let closest = Spelling.closest(to: name, among: names)
        throw UsageError(
            "there is no vendor \(quoted(name)).",
            hint: closest.map { "Did you mean \($0)?" } ?? "Vendors: \(names.joined(separator: ", "))")
    }
}
