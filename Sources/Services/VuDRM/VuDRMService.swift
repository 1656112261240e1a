public import Foundation
public import LatchkeyCore
public import LatchkeyHTTP
public import LatchkeyServer

/// Vualto's VuDRM: certificate, and licenses in the JSON and in the raw dialect.
///
/// Source: `vendors.md` §1.
public struct VuDRMService: VendorService {
    /// What can be set about the service.
    public struct Configuration: Sendable {
        /// The one customer whose certificate is given out; nil, the default, gives it to any.
        public var client: String?
        /// How old a token may be; nil, the default, does not care. Production has some 30 seconds.
        public var tokenLifetime: Duration?
        /// Whether a token is good for one license only, as in production. Default false.
        public var tokensAreSingleUse = false
        /// The shortest time from a license to its renewal that passes without a warning; nil, the default, does not care. The
        /// vendor's own SDK refuses to renew below 300 seconds.
        public var shortestRenewal: Duration?

        /// The defaults.
        public init() {}
    }

    public let identifier: ServiceIdentifier = "vudrm"
    public let environment: ServiceEnvironment
    private let configuration: Configuration

    /// The customer of the demonstration: the one that the service knows, else this.
    private var client: String { configuration.client ?? "demo-client" }
    private let used = UsedTokens()
    private let renewals = RenewalTimes()

    /// - Parameters:
    ///   - environment: what the service stands on.
    ///   - configuration: client name and token rules.
    public init(_ environment: ServiceEnvironment, configuration: Configuration = Configuration()) {
        self.environment = environment
        self.configuration = configuration
    }

    public func endpoint(of request: HTTPRequest) -> ServiceEndpoint? {
        switch request.path.split(separator: "/").map(String.init) {
        // `/certificate/fairplay` is Cloud DRM's.
        case let path where path.count == 2 && path[0] == "certificate" && path[1] != "fairplay":
            configuration.client ?? path[1] == path[1] ? .certificate : nil
        case let path where Self.contentID(inPath: path) != nil: .license
        default: nil
        }
    }

    public func answer(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        call.endpoint == .certificate ? try certificate(call) : try await license(call)
    }

    public func keyURI(for key: StoredKey, at host: String) -> String {
        "skd://\(host)/\(identifier)/license/\(contentID(of: key))"
    }

    public func parameters(at base: String) -> [String: String] {
        ["certificateURL": "\(base)/certificate/\(client)"]
    }

    public func demoToken() -> Secret { token() }

    /// A token with a policy that the emulator can read.
    /// - Parameters:
    ///   - policy: fields such as `type`, `duration_lease`, `match_content_id`; none leaves the terms to the server.
    ///   - generated: the generation time; now unless given.
    public func token(policy: [String: String] = [:], generated: Date? = nil) -> Secret {
        let time = (generated ?? environment.time.date).formatted(.iso8601)
        // Without a policy of its own the token carries bytes as opaque as the vendor's.
        let json = policy.isEmpty ? Data(count: 16) : (try? JSONEncoder().encode(policy)) ?? Data()
        // No two tokens are alike, as each may be good for one license only.
        let hash = Data((0..<20).map { _ in UInt8.random(in: .min ... .max) }).hexString
        return Secret("\(client)|\(time)|\(json.base64EncodedString())|\(hash)")
    }
}

extension VuDRMService {
    private func certificate(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        try call.require("GET", "HEAD")
        // Shipped samples ask without a token, so it is checked only where there is one.
        if let token = call.request.headers["x-vudrm-token"] { _ = try checked(token, call) }
        return .octets(try call.certificate())
    }

    private func license(_ call: ServiceCall) async throws(LicenseRefusal) -> HTTPResponse {
        try call.require("POST")
        let form = try form(of: call)
        let token = try checked(form.token, call)
        guard token.covers(form.contentID) else {
            throw .notCovered("The token's policy is for other content than “\(form.contentID)”.")
        }
        guard !configuration.tokensAreSingleUse || used.add(Secret(form.token)) else {
            throw .tokenUsed
        }
        let question = LicenseQuestion(spc: form.spc, keyName: form.contentID, terms: token.terms) { identifier in
            // Either the whole key URI or its last path component: both are in use.
            identifier.text.map { KeyURI($0) }.map { $0.pathComponents.last ?? $0.host }
        }
        let license = try await call.license(for: question)
        if let limit = configuration.shortestRenewal,
            let time = renewals.timeSinceLast(license, at: environment.time.uptime), time < limit
        {
            call.warn("renewal", "a key is renewed \(Int(time.inSeconds)) s after its license")
        }
        return .octets(call.ckc(of: license))
    }

    private struct Form {
        let token: String
        let contentID: String
        let spc: Data
    }

    private func form(of call: ServiceCall) throws(LicenseRefusal) -> Form {
        switch call.request.headers.mediaType {
        case "application/json":
            return try jsonForm(call)
        case "application/octet-stream":
            return try rawForm(call)
        case "arraybuffer":
            call.warn("contentType", "the content type is the word “arraybuffer”")
            return try rawForm(call)
        case let type:
            throw .mediaType(type)
        }
    }

    private func jsonForm(_ call: ServiceCall) throws(LicenseRefusal) -> Form {
        let body = try call.json()
        guard let token = body["token"]?.text, !token.isEmpty else { throw .tokenMissing("the JSON body") }
        let id = try body.required("contentId")
        // A configured URL may end in `/license`; a derived one names the content too.
        let inPath = Self.contentID(inPath: call.request.path.split(separator: "/").map(String.init)) ?? ""
        guard inPath.isEmpty || inPath == id else { throw .malformed("The path and “contentId” differ.") }
        return Form(token: token, contentID: try Self.valid(id), spc: try call.spc(in: body, "payload"))
    }

    private func rawForm(_ call: ServiceCall) throws(LicenseRefusal) -> Form {
        let token = try call.token(inHeader: "x-vudrm-token")
        let id = Self.contentID(inPath: call.request.path.split(separator: "/").map(String.init)) ?? ""
        return Form(token: token, contentID: try Self.valid(id), spc: call.request.body)
    }

    private func checked(_ text: String, _ call: ServiceCall) throws(LicenseRefusal) -> VuDRMToken {
        let token = try VuDRMToken(text)
        if token.hasSwappedDate { call.warn("tokenDate", "the token's generation time has day and month swapped") }
        let age = environment.time.date.timeIntervalSince(token.generated)
        if let limit = configuration.tokenLifetime, age > limit.inSeconds {
            throw .tokenExpired("The token is \(Int(min(age, 1e9))) s old; it was good for \(Int(limit.inSeconds)) s.")
        }
        return token
    }

    /// The content id at the end of a license path; empty for a path without one; nil for other paths.
    private static func contentID(inPath path: [String]) -> String? {
        switch path {
        case ["license"]: ""
        case _ where path.count == 2 && path[0] == "license": path[1]
        case _ where path.count == 3 && path[0] == "v2" && path[1] == "license": path[2]
        default: nil
        }
    }

    /// Refuses what is not letters, digits, `_` and `-`.
    private static func valid(_ id: String) throws(LicenseRefusal) -> String {
        guard !id.isEmpty, id.utf8.allSatisfy(isContentIDByte) else {
            throw .malformed("The content id has characters other than letters, digits, “_” and “-”, or none.")
        }
        return id
    }

    private static func isContentIDByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"), UInt8(ascii: "_"), UInt8(ascii: "-"): true
        default: false
        }
    }

    /// The last path component of the key's own URI where the alphabet allows and no other key has it, else the key id.
    private func contentID(of key: StoredKey) -> String {
        let name = key.lastPathComponent
        guard (try? Self.valid(name)) != nil, case .one(let found) = environment.authority.keys.key(named: name),
            found.id == key.id
        else { return key.id.bytes.hexString }
        return name
    }
}
