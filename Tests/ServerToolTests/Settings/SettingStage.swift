import Foundation
import LatchkeyDevice
import LatchkeyVendors
import Testing

@testable import LatchkeyLicensing
@testable import LatchkeyPackaging
@testable import LatchkeyServer
@testable import LatchkeyServerTool
@testable import TestServers

/// One member of a configuration, and a running server's answers with it and without it.
struct SettingCase: Sendable, CustomTestStringConvertible {
    /// The member's place, as in `ServerSettings.memberPaths`.
    let path: String
    /// The members that both servers add to the demonstration's configuration: by place, in JSON; an empty text removes one.
    var base: [String: String] = [:]
    /// The members that only the second server has.
    let with: [String: String]
    /// The two answers.
    let without, expected: String
    /// The service on loopback, whose port replaces `{service}` in the members.
    var service: (@Sendable (String, Int) -> LoopbackServer.Action)?
    /// Puts more into the folder.
    var prepare: @Sendable (ServerFolder) throws -> Void = { _ in }
    let ask: @Sendable (SettingStage) async throws -> String

    init(
        _ path: String, base: [String: String] = [:], _ with: [String: String], _ without: String, _ expected: String,
        service: (@Sendable (String, Int) -> LoopbackServer.Action)? = nil,
        prepare: @escaping @Sendable (ServerFolder) throws -> Void = { _ in },
        ask: @escaping @Sendable (SettingStage) async throws -> String
    ) {
        (self.path, self.base, self.with, self.without, self.expected) = (path, base, with, without, expected)
        (self.service, self.prepare, self.ask) = (service, prepare, ask)
    }

    /// A case of a server that starts with the one, and not with the other.
    init(
        start path: String, base: [String: String] = [:], _ with: [String: String], _ without: String,
        _ expected: String, service: (@Sendable (String, Int) -> LoopbackServer.Action)? = nil,
        prepare: @escaping @Sendable (ServerFolder) throws -> Void = { _ in }
    ) {
        self.init(path, base: base, with, without, expected, service: service, prepare: prepare) { _ in "starts" }
    }

    var testDescription: String { "\(path): \(without) → \(expected)" }

    /// The answer of a server with some members; `no start` if it does not start.
    func answer(_ members: [String: String]) async throws -> String {
        let service = try service.map { try LoopbackServer($0) }
        let time = ManualTimekeeper(date: Date())
        let port = service.map { "\($0.port)" } ?? ""
        func value(_ json: String) -> JSONValue? {
            json.isEmpty ? nil : JSONValue(Data(json.replacing("{service}", with: port).utf8))
        }
        let stage: TestServer
        do {
            stage = try await TestServer(members.mapValues(value), prepare: prepare, time: time)
        } catch let error as NothingChanged {
            throw error
        } catch {
            return "no start"
        }
        return try await ask(SettingStage(stage: stage, time: time, service: service))
    }
}

/// A running server with a clock that a test moves, and short questions to it.
struct SettingStage: Sendable {
    let stage: TestServer
    let time: ManualTimekeeper
    let service: LoopbackServer?

    var server: LicenseServer { stage.server }

    /// A reply in short: its status, with a refusal's code.
    private static func word(_ reply: HTTPReply) -> String {
        let code = JSONValue(reply.body)?["error"]?["code"]?.text
        return code.map { "\(reply.status) \($0)" } ?? "\(reply.status)"
    }

    /// A license for a viewer whose token has more claims.
    func license(
        _ claims: [String: JSONValue] = [:], for viewer: String = "anna", headers: [String: String] = [:],
        age: TimeInterval = 0
    ) async throws -> String {
        let token = try DemoFolder.token(in: stage.folder.url, for: viewer, at: time.date - age, claims: claims)
        return Self.word(
            try await stage.player(
                "fairplay", "POST", body: stage.exchange().spc.revealed, bearer: token.revealedText, headers: headers))
    }

    /// The key of a license, as a word that distinguishes it from others.
    func key() async throws -> String {
        let (reply, exchange) = try await stage.license()
        guard reply.status == 200 else { return "\(reply.status)" }
        return try exchange.open(reply.body).contentKey.key.withUnsafeBytes { $0.hexString }
    }

    /// A player's address without a body.
    func player(_ path: String, _ method: String = "GET", headers: [String: String] = [:]) async throws -> HTTPReply {
        try await stage.player(path, method, headers: headers)
    }

    /// An operator's question.
    func admin(_ path: String, _ method: String = "GET", key: String? = nil) async throws -> HTTPReply {
        try await stage.admin(path, method, key: key ?? stage.folder.adminKey.revealedText)
    }

    /// A packager's request.
    func packager(
        _ path: String, _ body: String? = nil, headers: [String: String]? = nil, more: [String: String] = [:]
    ) async throws -> HTTPReply {
        try await stage.packager(path, body == nil ? "GET" : "POST", body: body, headers: more, credentials: headers)
    }

    /// A SPEKE request for one key.
    func speke(
        scheme: String = "cbcs", system: String = "94ce86fb-07ff-4f43-adb8-93d2fa968ca2", delivery: String = "",
        headers: [String: String]? = nil
    ) async throws -> HTTPReply {
        let kid = TestServer.derivedKid
        let document = """
            <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
            contentId="movie" version="2.3">\(delivery)<cpix:ContentKeyList>\
            <cpix:ContentKey kid="\(kid)" commonEncryptionScheme="\(scheme)"/></cpix:ContentKeyList>\
            <cpix:DRMSystemList><cpix:DRMSystem kid="\(kid)" systemId="\(system)"><cpix:PSSH/><cpix:ContentProtectionData/>\
            <cpix:HLSSignalingData playlist="media"/><cpix:HLSSignalingData playlist="master"/></cpix:DRMSystem>\
            </cpix:DRMSystemList><cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="\(kid)" \
            intendedTrackType="ALL"><cpix:VideoFilter/><cpix:AudioFilter/></cpix:ContentKeyUsageRule>\
            </cpix:ContentKeyUsageRuleList></cpix:CPIX>
            """
        return try await packager(
            "speke", document, headers: headers,
            more: ["X-Speke-Version": "2.0", "Content-Type": "application/xml"])
    }

    /// The status of a request.
    func status(_ reply: HTTPReply) -> String { "\(reply.status)" }

    /// Puts keys into the tenant by their numbers.
    func importKeys(_ numbers: some Sequence<Int>) async throws {
        let reply = try await packager("cpix", TestServer.document(numbers))
        try #require(reply.status == 200, "\(reply.text)")
    }

    /// A common-encryption request, with more members of its envelope made of the request's bytes.
    func commonEncryption(
        key: Bool = true, _ more: (Data) throws -> String = { _ in "" }
    ) async throws -> String {
        let request = Data(
            #"{"content_id":"bW92aWU=","policy":"","tracks":[{"type":"SD"}],"drm_types":["WIDEVINE"]}"#.utf8)
        let envelope = #"{"request":"\#(request.base64EncodedString())"\#(try more(request))}"#
        let reply = try await packager("keys/common-encryption", envelope, headers: key ? nil : [:])
        guard let inner = JSONValue(reply.body)?["response"]?.text.flatMap({ Data(base64Encoded: $0) }) else {
            return "\(reply.status)"
        }
        return JSONValue(inner)?["status"]?.text ?? "\(reply.status)"
    }

    /// The answer of a server of the same folder after this one has stopped, as after a restart.
    func afterRestart(_ body: (SettingStage) async throws -> String) async throws -> String {
        await stage.stop(within: .zero)
        let again = try await TestServer(stage.folder, time: time)
        return try await body(SettingStage(stage: again, time: time, service: service))
    }
}
