import Foundation
import LatchkeyCore
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
#endif

/// `latchkey wire request`: the request that a client would send, without sending it.
struct WireRequestVerb: Verb {
    private let vendor = VendorOptions()
    private let wire = WireOptions()
    private let stage = WireStage.option
    private let keyURI = Option("key-uri", .text("URI"), "the key URI as the playlist has it")
    private let spc = Option("spc", .path("FILE"), "the SPC, or - for standard input; for license and renewal")
    private let reveal = Flag("reveal", "show credentials, SPC and body as they are")

    var usage: Usage {
        Usage(
            name: "wire request", summary: "print the request that a client would send to a vendor's service",
            details: """
                Nothing is sent, and the SPC may be any file: it is not looked into. Secrets are replaced by their length and a digest,
                also inside the body, so the output can be passed on. latchkey vendors says what --set gives each vendor. A
                value that another exchange would have given comes from --lookup or --session.
                """,
            options: vendor.profileOptions + [
                stage, keyURI, spc, wire.purpose, wire.lookup, wire.session, wire.messageID, reveal, Flag.json,
            ],
            examples: [
                """
                latchkey wire request --vendor vudrm --set certificateURL=https://cdn.example/fairplay.cer --set 'token={token}' \\
                      --key-uri skd://fairplay-license.vudrm.tech/license/movie-1 --spc my.spc
                """,
                """
                latchkey wire request --profile my-vendor.json --stage certificate --json \\
                      --set certificateURL=https://cdn.example/fairplay.cer
                """,
                """
                latchkey wire request --vendor expressplay-entitlement --stage entitlement \\
                      --key-uri 'skd://ees.example/sees?cid=movie-1' --message-id 1
                """,
            ],
            yes: "the request is printed", no: "no request can be made; the reason says what is missing")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let profile = try vendor.incompleteProfile(arguments, console)
        let credentials = try vendor.credentialSet(arguments, for: profile, console)
        let stage = arguments[stage] ?? .license
        let key = arguments[keyURI].map { KeyURI($0) }
        let message = try message(for: stage, arguments, console)
        let request = try await request(stage, of: profile, key, message, credentials, arguments)
        let secrets = Array(credentials.values.values) + wire.sessionSecrets(arguments)
        let redaction = WireRedaction(profile.redaction, credentials: secrets, spc: message?.bytes)
        let report = WireRequestReport(
            request, of: profile, stage: stage, key: key, redaction: arguments[reveal] ? nil : redaction)
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        return .yes
    }

    /// The SPC, if the stage sends one.
    private func message(
        for stage: WireStage, _ arguments: Arguments, _ console: Console
    ) throws -> SPCMessage? {
        guard [.license, .renewal].contains(stage) else { return nil }
        return SPCMessage(try InputFile.read(arguments.required(spc), limit: Self.limit, console))
    }

    private static let limit = 1 << 20

    private func request(
        _ stage: WireStage, of profile: VendorProfile, _ key: KeyURI?, _ message: SPCMessage?,
        _ credentials: CredentialSet, _ arguments: Arguments
    ) async throws -> URLRequest {
        let vendor = profile.unchecked
        switch stage {
        case .certificate:
            let context = wire.certificateContext(credentials: credentials, arguments)
            guard try vendor.bundledCertificate() == nil, let request = try await vendor.certificateRequest(context)
            else { throw Diagnosis.noCertificateRequest(profile) }
            return request
        case .entitlement:
            if vendor.lookupScope == .key, key == nil { throw UsageError.missing(keyURI) }
            let context = wire.lookupContext(key, credentials: credentials, arguments)
            guard let request = try await vendor.lookupRequest(context) else { throw Diagnosis.noLookup(profile) }
            return request
        case .license, .renewal:
            guard let key else { throw UsageError.missing(keyURI) }
            guard let message else { throw UsageError.missing(spc) }
            let context = try wire.licenseContext(
                key, profile, stage: stage, credentials: credentials, arguments)
            return try await vendor.licenseRequest(for: message, context)
        case .setup, .heartbeat, .teardown:
            guard let step = stage.step, profile.session != nil else { throw Diagnosis.noSessions(profile) }
            return try await vendor.sessionRequest(
                step, wire.sessionContext(credentials: credentials, arguments))
        }
    }
}
