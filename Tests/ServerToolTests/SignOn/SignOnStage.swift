import Foundation
import Latchkey
import LatchkeyFairPlay
import TLSPeer
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A server whose operators sign in at a provider, and browsers that follow redirects.
final class SignOnStage: Sendable {
    /// The console's stated address: a test's browser goes to the server itself.
    static let base = "https://console.example"

    let stage: TestServer
    let provider: StandInProvider
    let time: ManualTimekeeper

    var server: LicenseServer { stage.server }

    /// - Parameter openID: members of `operators.openID` besides the required ones, in JSON; an empty text removes one.
    init(_ openID: [String: String] = [:]) async throws {
        let time = ManualTimekeeper(date: Date())
        let provider = try StandInProvider(time: time)
        (self.time, self.provider) = (time, provider)
        stage = try await TestServer(prepare: { try Self.configure($0, for: provider, openID) }, time: time)
    }

    /// Has operators sign in at a provider.
    static func configure(
        _ folder: ServerFolder, for provider: StandInProvider, _ openID: [String: String] = [:]
    ) throws {
        var members = [
            "issuer": #""\#(provider.issuer)""#, "clientID": #""\#(StandInProvider.clientID)""#,
            "clientSecretFile": #""client-secret.txt""#, "authorities": #""provider.pem""#,
            "redirectBase": #""\#(Self.base)""#,
            "grants": #"[{"value":"video-operators","role":"operator","tenants":["demo"]}]"#,
        ]
        members.merge(openID) { $1 }
        let json = members.filter { !$0.value.isEmpty }.compactMapValues { JSONValue(Data($0.utf8)) }
        try folder.write(secret: StandInProvider.secret, to: "client-secret.txt")
        try folder.write(provider.certificate.certificate, to: "provider.pem")
        try folder.edit(["operators.openID": .object(json)])
    }

    // The task ends with the stop, which waits for no request.
    deinit { Task { [provider] in await provider.stop() } }

    func browser() -> SignOnBrowser {
        SignOnBrowser(
            server.addresses.operators.url, base: Self.base,
            CurlTransport(authorities: stage.folder.file("provider.pem")))
    }

    /// The audit's entries of sign-ins: action, actor, and a refusal's code.
    func audit() async throws -> [String] {
        let entries = try await server.shared.engines.audit.entries(from: 1, limit: 1_000)
        return try entries.map { try #require(JSONValue(Data($0.text.utf8))) }.filter {
            $0["action"]?.text?.hasPrefix("admin") == true
        }.map { event in
            [event["action"]?.text, event["actor"]?.text, event["details"]?["code"]?.text].compactMap { $0 }
                .joined(separator: " ")
        }
    }
}

/// A browser without scripts: it keeps cookies, and shows each redirect.
final class SignOnBrowser: Sendable {
    private let address, base: String
    private let transport: CurlTransport
    private let cookies = Locked<[String: String]>([:])

    init(_ address: String, base: String, _ transport: CurlTransport) {
        (self.address, self.base, self.transport) = (address, base, transport)
    }

    /// The cookies of the server, by name.
    var jar: [String: String] {
        get { cookies.withLock { $0 } }
        set { cookies.withLock { $0 = newValue } }
    }

    /// Asks the server, or the provider if the address is its.
    /// - Parameter headers: more headers.
    func ask(_ target: String, _ method: String = "GET", headers: [String: String] = [:]) async throws -> HTTPReply {
        let isOwn = target.hasPrefix("/") || target.hasPrefix(base)
        let path = target.hasPrefix(base) ? String(target.dropFirst(base.count)) : target
        var request = URLRequest(url: try #require(URL(string: isOwn ? address + path : target)))
        request.httpMethod = method
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        if isOwn, !jar.isEmpty {
            request.setValue(jar.map { "\($0)=\($1)" }.joined(separator: "; "), forHTTPHeaderField: "Cookie")
        }
        let reply = try await transport.send(request, bodyLimit: 1 << 20)
        guard isOwn else { return reply }
        // Several cookies may come in one field.
        let set = reply.headers.filter { $0.name.lowercased() == "set-cookie" }.flatMap {
            $0.value.split(separator: /, (?=[\w-]+=)/)
        }
        for cookie in set {
            let pair = cookie.split(separator: ";")[0].split(separator: "=", maxSplits: 1).map(String.init)
            cookies.withLock { $0[pair[0]] = cookie.contains("Max-Age=0;") ? nil : pair[1] }
        }
        return reply
    }

    /// Asks the admin API as the console's script does.
    func admin(
        _ path: String, _ method: String = "GET", headers: [String: String] = ["X-Latchkey-Console": "1"]
    ) async throws -> HTTPReply { try await ask("/admin/v1/\(path)", method, headers: headers) }

    /// Begins a sign-in, and goes to the provider.
    /// - Returns: the address to which the provider sends the browser back; the server's answer if it does not get that far.
    func begin(headers: [String: String] = [:]) async throws -> (back: String?, reply: HTTPReply) {
        let begun = try await ask("/sign-in/openid", headers: headers)
        guard begun.status == 303, let there = begun.header("Location") else { return (nil, begun) }
        let sent = try await ask(there)
        return (sent.header("Location"), sent)
    }

    /// Signs in, all the way.
    /// - Returns: the server's last answer.
    func signIn() async throws -> HTTPReply {
        let (back, reply) = try await begin()
        guard let back else { return reply }
        return try await ask(back)
    }
}
