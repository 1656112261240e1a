import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyOperation
@testable import LatchkeyServer
@testable import LatchkeyServerTool

#if canImport(FoundationNetworking)
    import FoundationNetworking
    @testable import LatchkeyVault
#endif

/// A demonstration's server with an operator of each role, at free ports.
struct ServerUnderTest {
    let server: LicenseServer
    let demo: DemoFolder
    let folder: TemporaryFolder

    /// Runs a server while a test runs, and stops it in any case.
    static func run(
        _ change: (inout String) -> Void = { _ in }, _ body: (ServerUnderTest) async throws -> Void
    ) async throws {
        let folder = try TemporaryFolder()
        let demo = try DemoFolder.patient(in: folder)
        try replaceAdmins(in: demo.configuration)
        try ServerStage.edit(demo.configuration, change)
        try await demo.makeTenants()
        let server = try await LicenseServer(
            ConfigurationFile(demo.configuration), lines: LineWriter { _ in })
        do { try await body(ServerUnderTest(server: server, demo: demo, folder: folder)) } catch {
            await server.stop(within: .zero)
            throw error
        }
        await server.stop(within: .zero)
    }

    /// The key of an operator with a role.
    static func key(_ role: AdminRole) -> String { "key-of-\(role.rawValue)" }

    static func replaceAdmins(in path: String) throws {
        let admins = try AdminRole.allCases.map { role in
            let digest = try MessageDigest.sha256(Array(key(role).utf8)).hexString
            return #"{"name": "\#(role.rawValue)-1", "key": "\#(digest)", "role": "\#(role.rawValue)"}"#
        }
        let text = try String(contentsOfFile: path, encoding: .utf8)
        let lines = text.split(separator: "\n", omittingEmptySubsequences: false).map { line in
            line.contains(#""admins""#) ? #""admins": [\#(admins.joined(separator: ", "))],"# : String(line)
        }
        try lines.joined(separator: "\n").write(toFile: path, atomically: true, encoding: .utf8)
    }

    // MARK: - Operators

    /// Asks the admin API.
    /// - Parameter key: an operator's key; `nil` sends none.
    func admin(
        _ path: String, _ method: String = "GET", body: String? = nil, key: String? = Self.key(.security),
        headers more: [String: String] = [:]
    ) async throws -> Reply {
        var headers = more
        headers["Authorization"] = key.map { "Bearer \($0)" }
        return try await Self.ask(server.addresses.operators.url + "/admin/v1/" + path, method, body, headers)
    }

    /// The events of the audit since the tenant was made: action and actor, in their order.
    func audit() async throws -> [String] {
        let entries = try await server.shared.engines.audit.entries(from: 1, limit: 1_000)
        return try entries.map { entry in
            let event = try #require(JSONValue(Data(entry.text.utf8)))
            return "\(event["action"]?.text ?? "") \(event["object"]?.text ?? "") by \(event["actor"]?.text ?? "")"
        }.filter { !$0.hasPrefix("tenantCreated ") }
    }

    // MARK: - Packagers and players

    /// Asks a packager's address.
    func packager(_ path: String, _ method: String = "GET", body: String? = nil) async throws -> Reply {
        try await Self.ask(
            server.addresses.packagers.url + "/t/demo/" + path, method, body,
            ["X-API-Key": demo.packagerKey.revealedText])
    }

    /// A token for a viewer.
    func token(_ viewer: String = "viewer-1") throws -> String {
        try DemoFolder.token(in: demo.url, for: viewer, at: Date()).revealedText
    }

    /// Asks for a key through Clear Key.
    func license(_ number: Int, token: String, requestID: String) async throws -> Reply {
        let kid = Base64URL.text(try #require(KeyID(Self.kid(number))).bytes)
        return try await Self.ask(
            server.addresses.players.url + "/t/demo/clearkey", "POST", #"{"kids":["\#(kid)"],"type":"temporary"}"#,
            ["Authorization": "Bearer \(token)", "X-Request-Id": requestID, "Content-Type": "application/json"])
    }

    /// The kid of a number, as a UUID.
    static func kid(_ number: Int) -> String {
        let digits = String(number)
        return "00000000-0000-0000-0000-" + String(repeating: "0", count: 12 - digits.count) + digits
    }

    /// A CPIX document of keys by their numbers, in clear.
    static func document(_ numbers: some Sequence<Int>, of content: String = "film") -> String {
        let keys = numbers.map { number in
            """
            <cpix:ContentKey kid="\(kid(number))" explicitIV="\(plainIV)" commonEncryptionScheme="cbcs">\
            <cpix:Data><pskc:Secret><pskc:PlainValue>\(plainKey)</pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey>
            """
        }
        return """
            <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
            contentId="\(content)" version="2.3"><cpix:ContentKeyList>\(keys.joined())</cpix:ContentKeyList></cpix:CPIX>
            """
    }

    /// The IV of every key of `document`.
    static let plainIV = "AwMDAwMDAwMDAwMDAwMDAw=="

    /// The bytes of every key of `document`.
    static let plainKey = "AQEBAQEBAQEBAQEBAQEBAQ=="

    static func ask(
        _ address: String, _ method: String, _ body: String?, _ headers: [String: String]
    ) async throws -> Reply {
        var request = URLRequest(url: try #require(URL(string: address)))
        // Foundation on Linux does not read what the initializer takes.
        request.timeoutInterval = 900
        request.httpMethod = method
        request.httpBody = body.map { Data($0.utf8) }
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession.shared.data(for: request)
        let http = try #require(response as? HTTPURLResponse)
        return Reply(status: http.statusCode, text: String(decoding: data, as: UTF8.self))
    }
}

/// What a server answered.
struct Reply {
    let status: Int
    let text: String

    /// The body as JSON; `null` for anything else.
    var json: JSONValue { JSONValue(Data(text.utf8)) ?? .null }

    /// The elements of a list in the body.
    func list(_ name: String) -> [JSONValue] {
        guard case .array(let values)? = json[name] else { return [] }
        return values
    }

    /// One member of each element of a list.
    func texts(_ name: String, _ member: String) -> [String] { Self.texts(list(name), member) }

    /// One member of each value.
    static func texts(_ values: [JSONValue], _ member: String) -> [String] { values.compactMap { $0[member]?.text } }
}
