import Foundation
import LatchkeyCore
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeySystem
#endif

/// `latchkey wire response`: a client's reading of a captured reply.
struct WireResponseVerb: Verb {
    private let vendor = VendorOptions()
    private let wire = WireOptions()
    private let stage = WireStage.option
    private let status = Option("status", .status, "the reply's status; defaults to 200")
    private let header = Option("header", .header, "a header field of the reply", .repeatable)
    private let body = Option("body", .path("FILE"), "the reply's body, or - for standard input", .required)
    private let keyURI = Option("key-uri", .text("URI"), "the key URI; for an entitlement's reply that repeats it")
    private let out = Option("out", .path("FILE"), "where to write the CKC or the certificate, - for standard output")
    private let reveal = Flag(
        "reveal", "show the service's words unredacted, and the reply's values besides the CKC")

    var usage: Usage {
        Usage(
            name: "wire response", summary: "show how a client reads a captured reply",
            details: """
                Nothing is sent. The CKC and the certificate are shown by length and digest; --out writes them as a player would get
                them. A refusal shows the error that an app gets: code, status, the vendor's code and words, the request id for the
                vendor's support, and the remedy. Anything that looks like a secret in the service's words is replaced, and so are
                the values of --set and --session.
                """,
            options: vendor.profileOptions + [
                stage, status, header, body, keyURI, wire.messageID, out, reveal, Flag.json,
            ],
            examples: [
                "latchkey wire response --vendor vudrm --body reply.bin --out my.ckc",
                "latchkey wire response --vendor verimatrix --status 403 --header 'x-request-id: r-1' --body reply.json --json",
                "latchkey wire response --vendor azure --stage certificate --body fairplay.cer",
            ],
            yes: "the client accepts the reply", no: "it does not; the error says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let profile = try vendor.incompleteProfile(arguments, console)
        let stage = arguments[stage] ?? .license
        let exchange = HTTPExchange(
            // Only the reply matters.
            request: URLRequest(url: URL(filePath: "/")),
            reply: HTTPReply(
                status: arguments[status] ?? 200, headers: arguments.all(header).map { ($0.name, $0.value) },
                body: try InputFile.read(arguments.required(body), limit: Self.limit, console)))
        let credentials = try vendor.credentialSet(arguments, for: profile, console)
        let reply = try reply(exchange, stage, of: profile, credentials, arguments)
        if let path = arguments[out], let payload = reply.payload {
            let readers: OutputFile.Readers = stage == .certificate ? .everyone : .owner
            try OutputFile.write(payload, to: path, for: readers, console)
        }
        let secrets = Array(credentials.values.values) + wire.sessionSecrets(arguments)
        let redaction = WireRedaction(profile.redaction, credentials: secrets, spc: nil)
        let report = WireReplyReport(
            reply, vendor: profile.identifier, stage: stage, body: exchange.reply.body,
            redaction: arguments[reveal] ? nil : redaction)
        if arguments[out] == "-", reply.payload != nil { return .yes }
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        return report.error == nil ? .yes : .no
    }

    private static let limit = 16 << 20

    private func reply(
        _ exchange: HTTPExchange, _ stage: WireStage, of profile: VendorProfile, _ credentials: CredentialSet,
        _ arguments: Arguments
    ) throws -> WireReply {
        let key = arguments[keyURI].map { KeyURI($0) }
        let vendor = profile.unchecked
        do {
            switch stage {
            case .certificate: return .certificate(try vendor.certificate(from: exchange).bytes)
            case .license, .renewal:
                let purpose: KeyPurpose = stage == .renewal ? .renewal : .streaming
                let context = LicenseContext(
                    keyURI: key ?? KeyURI(""), contentIdentifier: ContentIdentifier(""), purpose: purpose)
                return .license(try vendor.license(from: exchange, context))
            case .entitlement:
                guard vendor.lookupScope != .never else { throw Diagnosis.noLookup(profile) }
                let context = wire.lookupContext(key, credentials: credentials, arguments)
                return .lookup(try vendor.lookup(from: exchange, context))
            case .setup, .heartbeat, .teardown:
                guard let step = stage.step, profile.session != nil else { throw Diagnosis.noSessions(profile) }
                return .session(try vendor.session(from: exchange, step))
            }
        } catch let error as IntegrationError {
            return .refused(error)
        }
    }
}

extension ValueForm<Int> {
    /// An HTTP status.
    fileprivate static let status = ValueForm(placeholder: "N") { text throws(UsageError) in
        guard let status = Int(text), (100..<600).contains(status) else {
            throw UsageError("needs a status from 100 to 599, not \(quoted(text))")
        }
        return status
    }
}

extension ValueForm<NamedValue> {
    /// `NAME: VALUE`.
    fileprivate static let header = ValueForm(placeholder: "'NAME: VALUE'") { text throws(UsageError) in
        // The value may be a cookie, so that the message repeats none of it.
        guard let colon = text.firstIndex(of: ":"), colon != text.startIndex else {
            throw UsageError("needs 'NAME: VALUE', and this has no name before a colon")
        }
        let value = text[text.index(after: colon)...].trimmingCharacters(in: .whitespaces)
        return NamedValue(name: String(text[..<colon]), value: value)
    }
}
