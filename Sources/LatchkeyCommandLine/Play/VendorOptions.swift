import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyForms
import LatchkeySystem
import LatchkeyTerminal
@_spi(Adapters) import LatchkeyVendors

/// The options for the vendor's license service and its settings.
struct VendorOptions: Sendable {
    /// The process's environment variables.
    var environment: @Sendable () -> [String: String] = { ProcessInfo.processInfo.environment }

    private let vendor = Option("vendor", .vendor, "a vendor of latchkey vendors, such as vudrm; or --profile")
    private let file = Option("profile", .path("FILE"), "a profile in JSON, in place of --vendor")
    private let source = Option(
        "source", .path("FILE"), "a player's source in JSON, in place of --vendor and --set")
    private let set = Option(
        "set", .setting, "a profile parameter; @FILE, @https://… and @- are read", .repeatable)
    private let allowHost = Option(
        "allow-host", .text("HOST[:PORT]"), "another host for license requests", .repeatable)
    private let loopbackHTTP = Flag("loopback-http", "use http if an https URL names a loopback host")

    /// The profile and its parameters.
    var profileOptions: [any Parameter] { [vendor, file, source, set] }
    /// The allowed hosts and trusted servers.
    var hostOptions: [any Parameter] { [allowHost, loopbackHTTP, Network.authorities] }

    /// For a verb's help: where the parameters are listed, and how to keep a credential off the command line.
    static let details = """
        latchkey vendors says what --set gives each. All users can read command lines: give token=@FILE or LATCHKEY_TOKEN.
        """

    /// Whether the arguments name a vendor or a profile.
    func isNamed(in arguments: Arguments) -> Bool {
        [vendor, file, source].contains { arguments[$0] != nil }
    }

    /// The vendor with its settings.
    /// - Throws: `UsageError`, also if a required setting is missing; `ProfileError`, `FileError`.
    func configured(_ arguments: Arguments, _ console: Console) throws -> ConfiguredVendor {
        let profile = try incompleteProfile(arguments, console)
        if let missing = profile.missingSettings.first { throw needs(missing, of: profile) }
        return try profile.configured()
    }

    /// The profile with the given settings, perhaps without a required one.
    func incompleteProfile(_ arguments: Arguments, _ console: Console) throws -> VendorProfile {
        let profile = try plainProfile(arguments, console)
        let settings = try values(arguments, for: profile, console).filter { !isCredential($0.key, of: profile) }
        return profile.with(settings)
    }

    /// The vendor with a service's settings. Given settings take precedence; a source's settings, which name another service, are ignored.
    func configured(
        _ arguments: Arguments, completedBy settings: [String: String], _ console: Console
    ) throws -> ConfiguredVendor {
        let profile = try plainProfile(arguments, console)
        let names = Set(profile.parameters.map(\.name))
        let given = try given(arguments, for: profile).filter { !isCredential($0.key, of: profile) }
        return try profile.with(settings.filter { names.contains($0.key) }).configured(given)
    }

    /// A source's values, credentials included, that replace those of a service in this process; `nil` without a source.
    func own(
        _ arguments: Arguments, _ profile: VendorProfile, _ console: Console
    ) throws -> (vendor: ConfiguredVendor, credentials: CredentialSet)? {
        guard arguments[source] != nil else { return nil }
        let vendor = try configured(arguments, console)
        return (vendor, try credentialSet(arguments, for: profile, console))
    }

    /// The profile without any setting.
    func plainProfile(_ arguments: Arguments, _ console: Console) throws -> VendorProfile {
        switch (arguments[vendor], arguments[file]) {
        case (let name?, nil): return try VendorProfile.known(name)
        case (nil, let path?):
            return try VendorProfile(json: InputFile.read(path, limit: VendorProfile.fileLimit, console))
        case (nil, nil):
            guard let path = arguments[source] else { throw UsageError("--vendor ID or --profile FILE is missing.") }
            return try PlayerSource.read(path, console).profile()
        case (_?, _?): throw UsageError("--vendor and --profile do not go together.")
        }
    }

    /// The credentials; the same for every attempt, except credentials at an address, which are fetched each time. Asks the user for a
    /// missing required one, if there is a terminal.
    /// - Throws: `UsageError` if a required one is missing.
    func credentials(
        _ arguments: Arguments, for profile: VendorProfile, _ console: Console
    ) throws -> Credentials {
        var given = try credentialSet(arguments, for: profile, console)
        for parameter in profile.parameters where parameter.isCredential && parameter.isRequired {
            guard given.values[parameter.name, default: Secret("")].count == 0 else { continue }
            let answer = console.ask?("\(profile.name), \(parameter.name) (\(parameter.meaning)): ") ?? ""
            guard !answer.isEmpty else { throw needs(parameter.name, of: profile) }
            given.values[parameter.name] = Secret(answer)
        }
        return try renewed(given, arguments, console) ?? .fixed(given)
    }

    /// Credentials whose values at an address are read again for each request after the first; `nil` if none is at an address.
    func renewed(_ given: CredentialSet, _ arguments: Arguments, _ console: Console) throws -> Credentials? {
        let addressed = arguments.all(set).filter { $0.address != nil && given.values[$0.name] != nil }
        guard !addressed.isEmpty else { return nil }
        let transport = try transport(arguments, console)
        let isUsed = Locked(false)
        return Credentials { _ in
            let isFirst = isUsed.withLock { used in
                defer { used = true }
                return !used
            }
            var fresh = given
            for case let (value, url?) in addressed.map({ ($0, $0.address) }) where !isFirst {
                fresh.values[value.name] = Secret(try await value.read(at: url, over: transport).value)
            }
            return fresh
        }
    }

    /// The available credentials: given with `--set` or a source, or else in the environment.
    func credentialSet(
        _ arguments: Arguments, for profile: VendorProfile, _ console: Console
    ) throws -> CredentialSet {
        var values = try values(arguments, for: profile, console).filter { isCredential($0.key, of: profile) }
        let environment = environment()
        for parameter in profile.parameters where parameter.isCredential && values[parameter.name] == nil {
            values[parameter.name] = environment[Self.variable(for: parameter.name)]
        }
        return CredentialSet(values.mapValues { Secret($0) })
    }

    /// The variable that holds a credential: `LATCHKEY_TOKEN` for `token`, `LATCHKEY_SESSION_TOKEN` for `sessionToken`.
    static func variable(for name: String) -> String {
        name.reduce(into: "LATCHKEY_") { text, letter in
            if letter.isUppercase, text.last != "_" { text += "_" }
            text += letter.isLetter || letter.isNumber ? letter.uppercased() : "_"
        }
    }

    /// The allowed hosts of requests.
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

    /// The transport, which trusts the authorities of `--ca`.
    func transport(_ arguments: Arguments, _ console: Console) throws -> any Transport {
        try Network.transport(trusting: arguments[Network.authorities], console)
    }

    private func needs(_ name: String, of profile: VendorProfile) -> UsageError {
        let parameter = profile.parameters.first { $0.name == name }
        let ways = parameter?.isCredential == true ? "; or @FILE, @-, \(Self.variable(for: name))" : ""
        return UsageError(
            "\(profile.identifier) needs --set \(name)=… (\(parameter?.meaning ?? "")).",
            hint: parameter.map { "Example: --set '\(name)=\($0.example)'\(ways)" })
    }

    /// The source's values, and those of `--set`, which take precedence.
    private func values(
        _ arguments: Arguments, for profile: VendorProfile, _ console: Console
    ) throws -> [String: String] {
        let values = try arguments[source].map { try PlayerSource.read($0, console).values(for: profile) } ?? [:]
        return values.merging(try given(arguments, for: profile)) { $1 }
    }

    private func given(_ arguments: Arguments, for profile: VendorProfile) throws(UsageError) -> [String: String] {
        let named = arguments.all(set)
        let known = profile.parameters.map(\.name)
        let ofSamples = profile.parameters.compactMap(\.alias)
        if let unknown = named.first(where: { !known.contains($0.name) && !ofSamples.contains($0.name) }) {
            let closest = Spelling.closest(to: unknown.name, among: known)
            throw UsageError(
                "\(profile.identifier) has no parameter \(quoted(unknown.name)).",
                hint: closest.map { "Did you mean \($0)?" } ?? "Parameters: \(known.joined(separator: ", "))")
        }
        return profile.renamed(Dictionary(named.map { ($0.name, $0.value) }) { $1 })
    }

    private func isCredential(_ name: String, of profile: VendorProfile) -> Bool {
        profile.parameters.contains { $0.name == name && $0.isCredential }
    }
}

extension ValueForm<String> {
    /// The name of a profile included with Latchkey; any text.
    fileprivate static let vendor = ValueForm(
        placeholder: "ID", completion: .words(VendorProfile.all.map(\.identifier))
    ) { text throws(UsageError) in text }
}

extension ValueForm<NamedValue> {
    /// A parameter and its value. A parameter without a value is named in the error; any other text may be a token, and is not.
    fileprivate static let setting = ValueForm(placeholder: "NAME=VALUE") { text throws(UsageError) in
        let names = VendorProfile.all.flatMap(\.parameters).map(\.name)
        guard !names.contains(text) else { throw UsageError("\(text) needs a value: --set \(text)=VALUE") }
        return try ValueForm<NamedValue>.named.parse(text)
    }
}

extension VendorProfile {
    /// A mebibyte, far beyond any profile.
    static let fileLimit = 1 << 20

    /// The profile with a name.
    static func known(_ name: String) throws(UsageError) -> VendorProfile {
        if let profile = named(name) { return profile }
        let names = all.map(\.identifier)
        let closest = Spelling.closest(to: name, among: names)
        throw UsageError(
            "there is no vendor \(quoted(name)).",
            hint: closest.map { "Did you mean \($0)?" } ?? "Vendors: \(names.joined(separator: ", "))")
    }
}
