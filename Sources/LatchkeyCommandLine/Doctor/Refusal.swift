import Foundation
import LatchkeyCore
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

/// The parts of a request that may have caused its refusal.
enum RequestPart: Sendable, CaseIterable { case token, body, type, method, address }

/// A refusal and the causes it leaves open. Causes are ranked: a value that a recorder changed says nothing about the service; next comes
/// the service's statement (its documented code, its words or its status), then whoever answered in its place, then oddities in the
/// request, as far as the service leaves them open.
struct Refusal: Sendable {
    let step: Checkup.Step
    let reply: HTTPReply
    /// The service's words; `nil` if it said none.
    let words: String?
    /// The documented meaning of the service's code; `nil` if undocumented.
    let documented: DocumentedCode?

    /// The parts of the request that may be the cause.
    var open: Set<RequestPart> {
        if let documented { return Self.open(documented) ?? Self.all }
        let byStatus = Self.open(reply.status)
        // An unambiguous status outweighs any words in the body.
        if byStatus.isEmpty { return [] }
        if let saying { return saying.open }
        // Unknown words are still the service's own reason.
        return reply.status == 403 && words != nil ? [.token] : byStatus
    }

    private var saying: Saying? {
        let words = words?.lowercased() ?? ""
        return Self.sayings.first { $0.words.contains(where: words.contains) }
    }

    /// The first of the oddities that explains the refusal; `nil` if none does.
    func leading(_ faults: [RequestFault]) -> RequestFault? {
        var parts = open
        // A service that names a fault in a token has read it: the token is where it belongs.
        if documented?.kind == .invalidRequest, partUnknown == nil { parts.remove(.token) }
        return faults.first { !$0.parts.isDisjoint(with: parts) }
    }

    /// A sentence where the vendor's page leaves open which part of the request is wrong; `nil` elsewhere.
    var partUnknown: String? {
        guard let documented, Self.open(documented) == nil else { return nil }
        return "The vendor's page does not say which part of the request is wrong."
    }

    /// Who answered in the service's place; `nil` for the service.
    var sender: ReplySender? { documented == nil ? ReplySender.all.first { $0.sent(reply) } : nil }

    // The service's statements, and the parts of the request that each leaves open.

    private static let all = Set(RequestPart.allCases)

    /// The parts that the page names for a code; `nil` if it leaves them open.
    private static func open(_ code: DocumentedCode) -> Set<RequestPart>? {
        switch code.kind {
        case .unauthenticated, .notYetValid: return [.token]
        case .invalidRequest, .licenseMalformed:
            let remedy = code.remedy == code.kind.remedy ? "" : code.remedy
            let page = "\(code.meaning ?? "") \(remedy)".lowercased()
            let named = (sayings + addresses).filter { $0.words.contains(where: page.contains) }
            let parts = named.reduce(into: Set<RequestPart>()) { $0.formUnion($1.open) }
            return parts.isEmpty ? nil : parts
        case .notFound: return [.address]
        default: return []
        }
    }

    /// The words for the address on a page, but not in a service's reply.
    private static let addresses: [Saying] = [(["key uri", "license url", "path of the address"], [.address], nil)]

    /// Source: RFC 9110 §15, RFC 6585, RFC 7725.
    private static func open(_ status: Int) -> Set<RequestPart> {
        switch status {
        case 401: [.token]
        case 404, 410: [.address, .method]
        case 405, 501: [.method, .address]
        case 406, 415: [.type, .body]
        case 411, 413: [.body]
        case 414, 431: [.token, .address]
        case 400, 403, 422, 500, 200..<300: all
        default: []
        }
    }

    /// Lowercase words, the parts they leave open, and the kind of refusal they describe, if its remedy is more specific than the status's.
    private typealias Saying = (words: [String], open: Set<RequestPart>, kind: Diagnosis.Kind?)

    /// In order of precedence.
    private static let sayings: [Saying] = [
        (
            ["maintenance", "unavailable", "overload", "temporar", "try again", "timeout", "timed out"], [],
            .serverTransient
        ),
        (["rate limit", "quota", "too many requests"], [], .rateLimited),
        (["too many", "concurren", "simultaneous", "limit"], [], .concurrencyLimit),
        (["region", "country", "territor", "geo", "vpn"], [], .regionDenied),
        (["token", "jwt", "signature", "unauthori", "authenticat", "credential", "expired", "bearer"], [.token], nil),
        (
            ["subscri", "entitle", "purchase", "rental", "payment", "not allowed", "blocked", "suspend", "polic"], [],
            nil
        ),
        (["content-type", "content type", "media type"], [.type, .body], nil),
        (["method"], [.method], nil),
        (
            ["spc", "payload", "base64", "envelope", "body", "pars", "malformed", "decrypt", "certificate", "42605"],
            [.body, .type], nil
        ),
        (["not found", "unknown", "no such", "key id", "asset"], [.address], nil),
    ]

    /// The remedy for a status that the vendor's page does not explain, if the kind's remedy is about a license.
    private static let remedies: [(step: Checkup.Step, kinds: [Diagnosis.Kind], remedy: String)] = [
        (
            .certificate, [.unauthenticated, .forbidden],
            "Ask the vendor for the certificate's public address, or for the credential that its request needs: there is no token for the content yet."
        ),
        (
            .lookup, [.unauthenticated, .forbidden],
            "Look at the request to the entitlement service: the viewer's sign-in, and whether the account has the title."
        ),
        (.lookup, [.notFound], "Check the URL of the entitlement or delivery service."),
        (.lookup, [.invalidRequest], "Compare the request with the entitlement service's documentation."),
        (
            .session, [.unauthenticated, .forbidden],
            "Look at the token with which the session is opened: its time, and whether it may open one."
        ),
        (.session, [.notFound], "Check the URL of the session service."),
        (.session, [.invalidRequest], "Compare the request with the vendor's: latchkey wire request --stage setup."),
    ]

    /// A failed request's check, with the sender of the answer and the remedy for its step.
    /// - Parameter kind: the failure's.
    func explained(_ check: Checkup, _ kind: Diagnosis.Kind?) -> Checkup {
        var check = check
        if let sender {
            let who = "\(sender.name) answered, \(sender.kind.rawValue), and not the service."
            // A temporary failure needs a retry, not a call to the gateway's operator.
            check =
                Self.open(reply.status).isEmpty
                ? check.adding(who) : check.adding(who, remedy: sender.kind.remedy(at: step), code: sender.kind.code)
        } else if documented == nil, let kind, check.remedy == kind.remedy {
            let row = Self.remedies.first { $0.step == step && $0.kinds.contains(kind) }
            check = check.adding(nil, remedy: saying?.kind?.remedy ?? row?.remedy)
        }
        check = check.adding(partUnknown)
        check.open = open
        return check
    }
}

/// A sender that answers in place of a service: a store of files, a firewall, a gateway.
struct ReplySender: Sendable {
    enum Kind: String, Sendable {
        case storage = "a store of files"
        case firewall = "a firewall"
        case gateway = "a gateway"

        var code: String {
            switch self {
            case .storage: "storageRefused"
            case .firewall: "firewallRefused"
            case .gateway: "gatewayRefused"
            }
        }

        func remedy(at step: Checkup.Step) -> String {
            switch (self, step) {
            case (.storage, .certificate):
                "Make the file public, and check its name: this store takes no token."
            case (.storage, _): "Configure the address of the service: this one belongs to a store of files."
            case (.firewall, _):
                "Ask its operator to let the request through; the service behind it never received it."
            case (.gateway, _): "Check host and path, and whether the gateway requires its own API key for this path."
            }
        }
    }

    let name: String
    let kind: Kind
    /// A header field that only this server sends, and the start of its value in lowercase; empty for any value.
    var header: (name: String, value: String)?
    /// Lowercase words from the sender's pages and messages; the body must contain one of them. Empty matches any body.
    var words: [String] = []

    func sent(_ reply: HTTPReply) -> Bool {
        guard reply.status >= 400 else { return false }
        if let header {
            guard reply.header(header.name)?.lowercased().hasPrefix(header.value) == true else { return false }
            if words.isEmpty { return true }
        }
        let body = String(decoding: reply.body.prefix(8_192), as: UTF8.self).lowercased()
        return words.contains(where: body.contains)
    }

    private init(_ name: String, _ kind: Kind, _ header: (String, String)? = nil, _ words: String...) {
        (self.name, self.kind, self.header, self.words) = (name, kind, header, words)
    }

    // Source: the vendors' pages of error replies and their servers' default pages, read on 2026-11-29: docs.aws.amazon.com (S3 error
    // responses, API Gateway gateway responses, WAF), cloud.google.com/storage/docs, learn.microsoft.com (Blob service error codes),
    // developers.cloudflare.com (1xxx errors, cf-mitigated), nginx.org, envoyproxy.io, docs.konghq.com.
    static let all = [
        ReplySender("Amazon S3", .storage, ("server", "amazons3")),
        ReplySender("Amazon S3", .storage, ("x-amz-request-id", ""), "<error>"),
        ReplySender("Google Cloud Storage", .storage, ("server", "uploadserver")),
        ReplySender("Google Cloud Storage", .storage, ("x-guploader-uploadid", "")),
        ReplySender("Azure Blob Storage", .storage, ("server", "windows-azure-blob")),
        ReplySender("AWS WAF", .firewall, ("x-amzn-waf-action", "")),
        ReplySender("Cloudflare", .firewall, ("cf-mitigated", "")),
        ReplySender(
            "Cloudflare", .firewall, ("server", "cloudflare"), "attention required", "you have been blocked",
            "error code: 10"),
        ReplySender("Akamai", .firewall, ("server", "akamaighost"), "access denied"),
        ReplySender("Imperva", .firewall, nil, "incapsula incident"),
        ReplySender("Sucuri", .firewall, ("x-sucuri-id", ""), "sucuri"),
        ReplySender("Amazon CloudFront", .gateway, ("server", "cloudfront"), "the request could not be satisfied"),
        ReplySender("Amazon API Gateway", .gateway, ("x-amzn-errortype", "")),
        ReplySender("Amazon API Gateway", .gateway, nil, #""missing authentication token""#),
        ReplySender("Kong", .gateway, nil, "no route matched with those values"),
        ReplySender("Envoy", .gateway, nil, "upstream connect error", "no healthy upstream"),
        ReplySender("Varnish", .gateway, nil, "guru meditation"),
        ReplySender("HAProxy", .gateway, nil, "no server is available to handle this request"),
        ReplySender("nginx", .gateway, nil, "<center>nginx", "<center>openresty"),
        ReplySender("Squid", .gateway, ("x-squid-error", "")),
    ]
}
