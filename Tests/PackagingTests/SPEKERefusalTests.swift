import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct SPEKERefusalTests {
    struct Case: Sendable, CustomTestStringConvertible {
        let text: String
        var status = "422"
        var version: String? = "2.0"
        let change: @Sendable (inout SPEKERequest) -> Void

        init(
            _ text: String, _ status: String = "422", version: String? = "2.0",
            _ change: @escaping @Sendable (inout SPEKERequest) -> Void
        ) {
            self.text = text
            self.status = status
            self.version = version
            self.change = change
        }

        var testDescription: String { "\(version ?? "1") \(text)" }
    }

    private static let kid = SPEKEStage.kid
    private static let other = SPEKEStage.otherKID
    private static let ivs = #" explicitIV="AAAA""#

    static let prescribed = [
        Case("Missing CPIX@contentId") { $0.attributes = #"version="2.3""# },
        Case("Missing CPIX@contentId") { $0.attributes = #"contentId="" version="2.3""# },
        Case("Missing CPIX@contentId") { $0.attributes = #"id="movie" version="2.3""# },
        Case("Missing CPIX@version") { $0.attributes = #"contentId="movie""# },
        Case("Missing CPIX@version") { $0.attributes = #"contentId="movie" version="""# },
        Case("Unsupported CPIX@version") { $0.attributes = #"contentId="movie" version="2.4""# },
        Case("Unsupported CPIX@version", version: "2.1") { _ in },
        Case("Unsupported CPIX@version") { $0.attributes = #"contentId="movie" version="2.3.1""# },
        Case("Missing ContentKey@commonEncryptionScheme for KID \(kid)") {
            $0.keys = #"<cpix:ContentKey kid="\#(kid)"/>"#
        },
        Case("Missing ContentKey@commonEncryptionScheme for KID \(kid)") { $0.keys = SPEKERequest.key("") },
        Case("Missing ContentKey@commonEncryptionScheme for KID \(kid.uppercased())") {
            $0.keys = #"<cpix:ContentKey kid="\#(kid.uppercased())"/>"#
        },
        Case("Non compliant ContentKey@commonEncryptionScheme combination") {
            $0.keys = SPEKERequest.key("cbcs") + SPEKERequest.key("cenc", kid: other)
        },
        Case("Non compliant ContentKey@commonEncryptionScheme combination") {
            $0.keys = SPEKERequest.key("SAMPLE-AES")
        },
        Case("Non compliant ContentKey@commonEncryptionScheme combination") { $0.keys = SPEKERequest.key("none") },
        Case("ContentKey@commonEncryptionScheme non compatible with DRMSystem \(DRMSystem.fairPlay.rawValue)") {
            $0.keys = SPEKERequest.key("cenc")
        },
        Case("ContentKey@commonEncryptionScheme non compatible with DRMSystem \(DRMSystem.clearKey.rawValue)") {
            $0.systems = SPEKERequest.system(.clearKey, "")
        },
        Case("ContentKey@commonEncryptionScheme non compatible with DRMSystem \(DRMSystem.widevine.rawValue)") {
            $0.keys = SPEKERequest.key("cbc1")
            $0.systems = SPEKERequest.system(.widevine, "")
        },
        Case("ContentKey@commonEncryptionScheme non compatible with DRMSystem \(DRMSystem.playReady.rawValue)") {
            $0.keys = SPEKERequest.key("cens")
            $0.systems = SPEKERequest.system(.playReady, "")
        },
        Case("Unsupported SPEKE version", version: "2.2") { _ in },
        Case("Unsupported SPEKE version", version: "") { _ in },
        Case("Unsupported SPEKE version", version: "1.0") { _ in },
        Case("Unsupported SPEKE version", version: "3") { $0.keys = "<<<" },
        Case("Missing CPIX encryption contract") { $0.rules = "" },
        Case("Missing CPIX encryption contract") { $0.rules = SPEKERequest.rule("ALL", "") },
        Case("Malformed encryption contract") { $0.rules = SPEKERequest.rule("", "<cpix:VideoFilter/>") },
        Case("Malformed encryption contract") { $0.rules = SPEKERequest.rule("SD++HD", "<cpix:VideoFilter/>") },
        Case("Malformed encryption contract") { $0.rules = SPEKERequest.rule("SD", "<cpix:VideoFilter/>", kid: other) },
        Case("Malformed encryption contract") { $0.rules = SPEKERequest.rule("SD", "<cpix:VideoFilter/>", kid: "kid") },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", "<cpix:VideoFilter/>") + SPEKERequest.rule("HD", "")
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", "<cpix:VideoFilter/>") + SPEKERequest.rule("SD", "<cpix:VideoFilter/>")
        },
        Case("Malformed encryption contract") {
            $0.rules += SPEKERequest.rule("SD", "<cpix:VideoFilter/>")
        },
        Case("Malformed encryption contract") { $0.rules = SPEKERequest.rule("ALL", "<cpix:VideoFilter/>") },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("ALL+SD", "<cpix:VideoFilter/><cpix:AudioFilter/>")
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("ALL", #"<cpix:VideoFilter maxPixels="1"/><cpix:AudioFilter/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", #"<cpix:VideoFilter minPixels="x"/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", #"<cpix:VideoFilter minPixels="-1"/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", #"<cpix:VideoFilter minPixels="2" maxPixels="1"/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", #"<cpix:VideoFilter hdr="maybe"/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("A", #"<cpix:AudioFilter maxChannels="9999999999"/>"#)
        },
        Case("Malformed encryption contract") {
            $0.rules = SPEKERequest.rule("SD", #"<cpix:VideoFilter/><cpix:KeyPeriodFilter periodId="p1"/>"#)
        },
    ]

    static let own = [
        Case("Missing ContentKey") { $0.keys = "" },
        Case("Missing DRMSystem") { $0.systems = "" },
        Case("Unsupported DRMSystem \(other)") {
            $0.systems = #"<cpix:DRMSystem kid="\#(kid)" systemId="\#(other)"/>"#
        },
        Case("DRMSystem@systemId is missing or not a UUID") { $0.systems = #"<cpix:DRMSystem kid="\#(kid)"/>"# },
        Case("DRMSystem@systemId is missing or not a UUID") {
            $0.systems = #"<cpix:DRMSystem kid="\#(kid)" systemId="x&#10;y"/>"#
        },
        Case("ContentKey@kid is missing or not a UUID") { $0.keys = SPEKERequest.key("cbcs", kid: "movie") },
        Case("ContentKey@kid is missing or not a UUID") {
            $0.keys = SPEKERequest.key("cbcs", kid: kid.replacingOccurrences(of: "-", with: ""))
        },
        Case("DRMSystem@kid \(other) is not in the ContentKeyList") {
            $0.systems = SPEKERequest.system(.fairPlay, "", kid: other)
        },
        Case("Two ContentKey elements for KID \(kid)") {
            $0.keys = SPEKERequest.key("cbcs") + SPEKERequest.key("cbcs", kid: kid.uppercased())
        },
        Case("Two DRMSystem elements with the same systemId for KID \(kid)") { $0.systems += $0.systems },
        Case("ContentKey@explicitIV is not 16 bytes for KID \(kid)") { $0.keys = SPEKERequest.key("cbcs", ivs) },
        Case("ContentKey@explicitIV is 16 zeros for KID \(kid), which counts as not stated") {
            $0.keys = SPEKERequest.key("cbcs", #" explicitIV="AAAAAAAAAAAAAAAAAAAAAA==""#)
        },
        Case(
            "The FairPlay key URI of content “\(String(repeating: "x", count: 80))” has 201 bytes, and a content identifier ends at 200"
        ) {
            $0.attributes = #"contentId="\#(String(repeating: "x", count: 148))" version="2.3""#
        },
        Case("Unsupported HLSSignalingData@playlist") {
            $0.systems = SPEKERequest.system(.fairPlay, #"<cpix:HLSSignalingData playlist="other"/>"#)
        },
        Case("Malformed ContentKeyPeriodList") { $0.periods = #"<cpix:ContentKeyPeriod id="a" index="-1"/>"# },
        Case("Malformed ContentKeyPeriodList") {
            $0.periods = #"<cpix:ContentKeyPeriod id="a" index="1"/><cpix:ContentKeyPeriod id="a" index="2"/>"#
        },
        Case("CPIX@contentId is longer than 256 bytes") {
            $0.attributes = #"contentId="\#(String(repeating: "x", count: 257))" version="2.3""#
        },
        Case("Missing CPIX@id", version: nil) { $0.attributes = "" },
        Case(
            "Missing CPIX@id. A document with CPIX@contentId is a SPEKE 2 document, which needs the header X-Speke-Version",
            version: nil
        ) { $0.attributes = #"contentId="movie" version="2.3""# },
        Case("Too many ContentKey or DRMSystem elements", "413") {
            $0.keys = (0..<257).map {
                SPEKERequest.key("cbcs", kid: String(format: "00000000-0000-0000-0000-%012d", $0))
            }.joined()
        },
    ]

    @Test(arguments: prescribed + own)
    func `a refusal has the status and text of its cause`(_ wrong: Case) async throws {
        var request = SPEKERequest()
        wrong.change(&request)
        #expect(try await SPEKEStage().refusal(request.text, version: wrong.version) == [wrong.status, wrong.text])
    }

    @Test(arguments: [
        ("", "400"), ("<", "400"), ("<a/>", "422"), ("<!DOCTYPE a><a/>", "400"),
        ("<CPIX contentId=\"a\" version=\"2.3\"/>", "422"), (String(repeating: "x", count: 262_145), "413"),
        (String(repeating: "<a>", count: 33), "413"),
    ])
    func `a non-CPIX is refused before anything else`(_ text: String, _ status: String) async throws {
        #expect(try await SPEKEStage().refusal(text).first == status)
    }

    @Test func `a contract below the tenant's security levels is unsupported`() async throws {
        var stage = SPEKEStage()
        stage.rules.largestSharedVideo = 2_073_600
        let text = "Requested CPIX encryption contract not supported"
        #expect(try await stage.refusal(SPEKERequest().text) == ["422", text])
        var request = SPEKERequest()
        request.rules =
            SPEKERequest.rule("HD", #"<cpix:VideoFilter maxPixels="2073600"/>"#)
            + SPEKERequest.rule("AUDIO", "<cpix:AudioFilter/>")
        #expect(try await stage.answer(request.text).response.status == 200)
        request.rules =
            SPEKERequest.rule("UHD", #"<cpix:VideoFilter maxPixels="2073601"/>"#)
            + SPEKERequest.rule("AUDIO", "<cpix:AudioFilter/>")
        #expect(try await stage.refusal(request.text) == ["422", text])
    }

    @Test func `a refusal names the server and repeats only a known version`() async throws {
        var request = SPEKERequest()
        request.keys = ""
        let known = try await SPEKEStage().answer(request.text).response
        #expect(known.headers[.spekeVersion] == "2.0")
        #expect(known.headers[.spekeUserAgent] == "Latchkey")
        #expect(known.headers.mediaType == "text/plain")
        let unknown = try await SPEKEStage().answer(request.text, version: "evil").response
        #expect(unknown.headers[.spekeVersion] == nil)
    }

    @Test func `a failing source is 503 without its reason`() async throws {
        struct Broken: ContentKeySource {
            func keys(for demands: [KeyDemand]) throws -> [KeyAddress: ContentKey] {
                throw VaultError.protection(.keyMissing, reason: "host db.internal", remedy: "x")
            }
        }
        var stage = SPEKEStage()
        stage.source = Broken()
        let outcome = try await stage.answer(SPEKERequest().text)
        #expect(outcome.response.status == 503)
        #expect(outcome.response.headers[.retryAfter] != nil)
        #expect(outcome.keys.isEmpty)
        #expect(!String(decoding: outcome.response.bytes ?? Data(), as: UTF8.self).contains("db.internal"))
    }

    @Test(arguments: [
        VaultError.anotherIV(KeyID.none), .anotherContent(KeyID.none), .disabled(KeyID.none), .ivMissing(KeyID.none),
    ])
    func `a key that does not fit the request is 422, as retrying is useless`(_ error: VaultError) async throws {
        struct Conflicting: ContentKeySource {
            let error: VaultError
            func keys(for demands: [KeyDemand]) throws -> [KeyAddress: ContentKey] { throw error }
        }
        var stage = SPEKEStage()
        stage.source = Conflicting(error: error)
        #expect(try await stage.refusal(SPEKERequest().text) == ["422", error.reason])
    }

    @Test func `a content's name is limited by FairPlay's longest key URI, and later for other systems`()
        async throws
    {
        var request = SPEKERequest()
        request.attributes = #"contentId="\#(String(repeating: "x", count: 147))" version="2.3""#
        #expect(try await SPEKEStage().answer(request.text).response.status == 200)
        request.attributes = #"contentId="\#(String(repeating: "ü", count: 25))" version="2.3""#
        #expect(try await SPEKEStage().refusal(request.text).first == "422", "Each letter counts six bytes.")
        request.systems = SPEKERequest.system(.widevine, "<cpix:PSSH/>")
        #expect(try await SPEKEStage().answer(request.text).response.status == 200)
    }

    @Test func `a source that lacks one key gives none`() async throws {
        struct Empty: ContentKeySource {
            func keys(for demands: [KeyDemand]) -> [KeyAddress: ContentKey] { [:] }
        }
        var stage = SPEKEStage()
        stage.source = Empty()
        #expect(try await stage.answer(SPEKERequest().text).response.status == 503)
    }

    @Test func `Clear Key is refused unless the tenant has enabled it`() async throws {
        var stage = SPEKEStage()
        stage.clearKey = nil
        var request = SPEKERequest()
        request.keys = SPEKERequest.key("cbc1")
        request.systems = SPEKERequest.system(.clearKey, #"<cpix:HLSSignalingData playlist="media"/>"#)
        #expect(try await stage.refusal(request.text) == ["422", "Clear Key is not enabled"])
    }
}
