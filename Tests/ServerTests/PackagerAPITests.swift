import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyHTTP
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyLicensing
@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(1)))
struct PackagerAPITests {
    private func ask(
        _ stage: APIStage, _ path: String, _ body: String = "", key: String? = APIStage.packagerKey,
        tenant: String = "acme", method: HTTPMethod = .post, version: String? = "2.0"
    ) async -> APIAnswer {
        var headers: HTTPHeaders = [.contentType: "application/xml"]
        headers["X-API-Key"] = key
        headers["X-Speke-Version"] = version
        let request = HTTPRequest(
            method: method, target: "/t/\(tenant)/\(path)", headers: headers, body: Data(body.utf8))
        return await stage.packagers.answer(APICall(request, requestID: "request-1", viewer: LicenseRequestFacts()))
    }

    private static let document = """
        <cpix:CPIX xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" contentId="movie" version="2.3">
        <cpix:ContentKeyList><cpix:ContentKey kid="\(APIStage.kid)" commonEncryptionScheme="cbcs"/></cpix:ContentKeyList>
        <cpix:DRMSystemList><cpix:DRMSystem kid="\(APIStage.kid)" systemId="94ce86fb-07ff-4f43-adb8-93d2fa968ca2">
        <cpix:HLSSignalingData playlist="media"/><cpix:HLSSignalingData playlist="master"/></cpix:DRMSystem></cpix:DRMSystemList>
        <cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="\(APIStage.kid)" intendedTrackType="ALL">
        <cpix:VideoFilter/><cpix:AudioFilter/></cpix:ContentKeyUsageRule></cpix:ContentKeyUsageRuleList></cpix:CPIX>
        """

    @Test func `a packager's key is the key of the license`() async throws {
        let stage = try await APIStage()
        let answer = await ask(stage, "speke", Self.document)
        #expect(answer.response.status == 200)
        #expect(answer.report.caller == "encoder")
        #expect(answer.report.keys.map(\.kid) == [KeyID(APIStage.kid)])
        let held = try await stage.vault.key(#require(KeyID(APIStage.kid)))
        let text = String(decoding: answer.body, as: UTF8.self)
        #expect(text.contains(held.content.key.revealed.base64EncodedString()))
        let exchange = try stage.exchange("skd://movie/\(APIStage.kid)")
        let license = await stage.ask("fairplay", exchange.spc.revealed, token: try stage.token())
        #expect(try exchange.open(license.body, at: stage.time).contentKey == held.content)
    }

    @Test func `an unknown tenant is refused like an unknown key`() async throws {
        let stage = try await APIStage()
        let wrong = await ask(stage, "speke", Self.document, key: "wrong")
        let other = await ask(stage, "speke", Self.document, key: "wrong", tenant: "other")
        #expect(wrong.response.status == 401)
        #expect(wrong.response == other.response)
        #expect(wrong.response.headers["WWW-Authenticate"] != nil)
        #expect(await ask(stage, "speke", Self.document, key: nil).code == "callerMissing")
        #expect(await ask(stage, "speke", Self.document, tenant: "other").response.status == 403)
    }

    @Test func `SPEKE's refusals keep their texts and headers`() async throws {
        let stage = try await APIStage()
        let answer = await ask(stage, "speke", Self.document, version: "9.9")
        #expect(answer.response.status == 422)
        #expect(String(decoding: answer.body, as: UTF8.self) == "Unsupported SPEKE version")
        #expect(answer.report.outcome.word == "speke422")
        let heartbeat = await ask(stage, "speke/heartbeat", method: .get, version: nil)
        #expect(heartbeat.response.status == 200)
    }

    @Test func `a body beyond the limit is refused before it is read`() async throws {
        let stage = try await APIStage()
        let answer = await ask(stage, "speke", String(repeating: " ", count: PackagerAPI.bodyBytes + 1))
        #expect(answer.response.status == 413)
    }

    @Test func `an encryptor that may not see plaintext keys must send certificates`() async throws {
        let stage = try await APIStage(settings: #""plainKeys":false"#)
        let answer = await ask(stage, "speke", Self.document)
        #expect(answer.response.status == 422)
        #expect(answer.report.keys.isEmpty)
    }
}
