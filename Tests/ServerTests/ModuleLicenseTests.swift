import BuiltLibrary
import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyTesting
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyLicensees
@testable import LatchkeyLicensing
@testable import LatchkeyVault

/// Licenses whose CKCs a licensee's module makes, here the stand-in, through the API for players.
@Suite(.timeLimit(.minutes(5)), .enabled(if: BuiltLibrary.canRunModule, "there is no C compiler or no latchkey-server"))
struct ModuleLicenseTests {
    private static let limited = #""validity":{"type":"lease","lease":"5m"},"concurrency":{"limit":1}"#

    private static let folders = Locked<[TemporaryFolder]>([])

    /// - Parameter reads: whether the server has the credentials, too.
    private func stage(
        _ policy: String = #""validity":{"type":"lease","lease":"5m"}"#, reads: Bool = true, milliseconds: Int = 20_000
    ) async throws -> APIStage {
        try await APIStage(
            policy,
            licensee: { credentials in
                // A worker that is started again reads them again.
                let folder = try TemporaryFolder()
                Self.folders.withLock { $0.append(folder) }
                try credentials.write(to: folder.url)
                var configuration = LicenseeConfiguration.Module()
                (configuration.library, configuration.program) = (try BuiltLibrary.module([]), BuiltLibrary.server)
                (configuration.credentials, configuration.milliseconds) = (folder.url.path, milliseconds)
                configuration.members = MemberTemplate(
                    members: ["lease-duration": .text("{leaseSeconds}"), "x-iv": .text("{iv}")])
                let module = try LicenseeModule(
                    configuration, in: SecretPlaces(folder: folder.url), post: nil, ModuleObserver())
                return (reads ? [credentials.credential] : [], module)
            })
    }

    /// The SPC as of a container version that only the module reads.
    private func unreadable(_ exchange: KeyExchange) -> Data {
        var spc = exchange.spc.revealed
        spc[3] = 3
        return spc
    }

    @Test func `a player gets the module's CKC, with the vault's key and the policy's lease`() async throws {
        let stage = try await stage()
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(answer.response.status == 200)
        let key = try exchange.open(answer.body, at: stage.time)
        let held = try await stage.vault.key(#require(KeyID(APIStage.kid)), content: ContentName("movie"))
        #expect(key.contentKey == held.content)
        #expect(key.terms.validity == .lease(.seconds(300)))
        #expect(answer.report.outcome == .license)
        // The server read the device's facts itself.
        #expect(answer.report.record?.facts.request.device != nil)
    }

    @Test(arguments: [
        ("crash", 503, "moduleUnavailable"), ("hang", 503, "moduleUnavailable"), ("garbage", 500, "moduleFailed"),
        ("nockc", 500, "moduleFailed"), ("wrong", 500, "moduleFailed"), ("big", 500, "moduleFailed"),
        ("status-42605", 500, "moduleFailed"), ("status-42580", 400, "unsupportedVersion"),
        ("status-42581", 400, "malformedContainer"), ("status-42583", 400, "missingTag"),
        ("status-42590", 400, "protocolVersion"), ("status-42591", 400, "duplicateTag"),
    ])
    func `each failure of the module has its answer, and gives its slot back`(
        _ mode: String, _ status: Int, _ code: String
    ) async throws {
        let stage = try await stage(Self.limited, milliseconds: mode == "hang" ? 10_000 : 20_000)
        let exchange = try stage.exchange("skd://\(mode)/\(APIStage.kid)")
        let answer = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(answer.response.status == status)
        #expect(answer.code == code)
        #expect((answer.response.headers[.retryAfter] != nil) == (status == 503))
        let next = try stage.exchange(session: 2)
        let second = await stage.ask("fairplay", next.spc.revealed, token: try stage.token(["jti": .text("other")]))
        #expect(second.response.status == 200)
    }

    @Test(arguments: [true, false])
    func `an SPC that only the module reads gets its key by the module's own reading`(_ hasCredentials: Bool)
        async throws
    {
        let stage = try await stage(reads: hasCredentials)
        let exchange = try stage.exchange()
        let spc = hasCredentials ? unreadable(exchange) : exchange.spc.revealed
        let answer = await stage.ask("fairplay", spc, token: try stage.token())
        let held = try await stage.vault.key(#require(KeyID(APIStage.kid)), content: ContentName("movie"))
        #expect(try exchange.open(answer.body, at: stage.time).contentKey == held.content)
    }

    @Test func `a stated key URI finds the key, and another one gets no CKC`() async throws {
        let stage = try await stage(reads: false)
        let exchange = try stage.exchange()
        let uri = "skd://movie/\(APIStage.kid)"
        let headers: HTTPHeaders = ["X-Latchkey-Key-URI": uri]
        let answer = await stage.ask(
            "fairplay", unreadable(exchange), token: try stage.token(), headers: headers)
        #expect(try exchange.open(answer.body, at: stage.time).contentKey.key.count == 16)
        let body = JSONValue.object([
            "spc": .text(unreadable(exchange).base64EncodedString()), "keyURI": .text("skd://other/\(APIStage.kid)"),
        ])
        let other = await stage.ask(
            "fairplay", Data(body.canonicalText.utf8), token: try stage.token(),
            headers: [.contentType: "application/json"])
        #expect(other.response.status == 403)
        #expect(other.code == "contentMismatch")
    }

    @Test func `an SPC that is broken is refused without the module`() async throws {
        let stage = try await stage()
        var spc = try stage.exchange().spc.revealed
        spc[100] ^= 1
        let answer = await stage.ask("fairplay", spc, token: try stage.token())
        #expect(answer.code == "rsaDecryptFailed")
    }

    @Test func `a term that the template does not have is refused`() async throws {
        let stage = try await stage(#""output":{"hdcp":{"ALL":"type0"}}"#)
        let answer = await stage.ask("fairplay", try stage.exchange().spc.revealed, token: try stage.token())
        #expect(answer.response.status == 500)
        #expect(answer.code == "moduleTermUnmapped")
    }

    @Test(arguments: [
        (#""output":{"airPlay":"refuse"}"#, "output"), (#""devices":{"limit":3}"#, "devices"),
        (#""blocked":{"devices":["00112233445566778899aabbccddeeff"]}"#, "blocked.devices"),
    ])
    func `a policy about facts that cannot be read grants nothing`(_ policy: String, _ words: String) async throws {
        let stage = try await stage(policy)
        let exchange = try stage.exchange()
        let answer = await stage.ask("fairplay", unreadable(exchange), token: try stage.token())
        #expect(answer.code == "moduleFactsUnread")
        #expect(answer.json?["error"]?["reason"]?.text?.contains("rules on \(words),") == true)
        // Where they can be read, the policy decides.
        #expect(await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token()).response.status == 200)
    }
}
