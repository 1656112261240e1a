import Foundation
import LatchkeyCore
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

/// The exchanges that a client has with a vendor's services.
enum WireStage: String, Sendable, Encodable, CaseIterable {
    case certificate, license, renewal, entitlement, setup, heartbeat, teardown

    /// The stage's option.
    static let option = Option(
        "stage",
        .choice([
            "certificate": WireStage.certificate, "license": .license, "renewal": .renewal, "entitlement": .entitlement,
            "setup": .setup, "heartbeat": .heartbeat, "teardown": .teardown,
        ]), "which exchange; defaults to license. An entitlement is the lookup before the license")
}

extension WireStage {
    /// The step of a secure session that the stage is; `nil` for any other.
    var step: SessionStep? {
        switch self {
        case .setup: .setup
        case .heartbeat: .heartbeat
        case .teardown: .teardown
        case .certificate, .license, .renewal, .entitlement: nil
        }
    }
}

/// Why there is nothing to show for a stage.
extension Diagnosis {
    static func noSessions(_ profile: VendorProfile) -> Self {
        Diagnosis(
            code: "noSessions", reason: "\(profile.name) has no secure sessions.",
            remedy: "Choose another stage, or a profile with sessions.")
    }

    static func noLookup(_ profile: VendorProfile) -> Self {
        Diagnosis(
            code: "noLookup", reason: "\(profile.name) looks nothing up before the license.",
            remedy: "Choose another stage, or a profile with an entitlement.")
    }

    static func noCertificateRequest(_ profile: VendorProfile) -> Self {
        Diagnosis(
            code: "noCertificateRequest", reason: "\(profile.name) fetches no certificate; a setting holds it.",
            remedy: "Choose another stage.")
    }
}

/// Stand-ins for the parts of an exchange that the command line cannot know.
struct WireOptions: Sendable {
    let purpose = Option(
        "purpose", .choice(["streaming": KeyPurpose.streaming, "persistable": .persistable]),
        "the purpose of the key; defaults to streaming")
    let lookup = Option("lookup", .named, "a value that the lookup gave, such as tokenURL", .repeatable)
    let session = Option("session", .named, "a value of the secure session, such as sessionToken", .repeatable)
    let messageID = Option("message-id", .text("ID"), "the request's message id; defaults to a new one")

    /// The context of a license exchange.
    func licenseContext(
        _ key: KeyURI, _ profile: VendorProfile, stage: WireStage, credentials: CredentialSet, _ arguments: Arguments
    ) throws -> LicenseContext {
        var context = LicenseContext(
            keyURI: key, contentIdentifier: try profile.contentIdentifier(for: key),
            purpose: stage == .renewal ? .renewal : arguments[purpose] ?? .streaming,
            lookup: secrets(arguments.all(lookup)), session: secrets(arguments.all(session))
        ) { credentials }
        if let id = arguments[messageID] { context.messageID = id }
        return context
    }

    /// The context of a lookup.
    func lookupContext(_ key: KeyURI?, credentials: CredentialSet, _ arguments: Arguments) -> LookupContext {
        var context = LookupContext(keyURI: key) { credentials }
        if let id = arguments[messageID] { context.messageID = id }
        return context
    }

    /// The context of a session request.
    func sessionContext(credentials: CredentialSet, _ arguments: Arguments) -> SessionContext {
        SessionContext(session: secrets(arguments.all(session)), messageID: arguments[messageID] ?? UUID().uuidString) {
            credentials
        }
    }

    /// The context of a certificate request.
    func certificateContext(credentials: CredentialSet, _ arguments: Arguments) -> CertificateContext {
        CertificateContext(lookup: secrets(arguments.all(lookup))) { credentials }
    }

    /// The values of the session, which are secret.
    func sessionSecrets(_ arguments: Arguments) -> [Secret] { Array(secrets(arguments.all(session)).values) }

    private func secrets(_ named: [NamedValue]) -> [String: Secret] {
        Dictionary(named.map { ($0.name, Secret($0.value)) }) { $1 }
    }
}
