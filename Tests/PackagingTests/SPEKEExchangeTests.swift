import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct SPEKEExchangeTests {
    private static let kid = SPEKEStage.kid
    private static let other = SPEKEStage.otherKID

    @Test func `a key comes back in the requesting document, the rest unchanged`() async throws {
        let text = """
            <?xml version="1.0" encoding="UTF-8"?>
            <cpix:CPIX contentId="movie" name="n" version="2.3" xmlns:x="urn:x" x:y="1" xmlns:cpix="urn:dashif:org:cpix" \
            xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
              <!-- kept --><x:unknown a="b">c</x:unknown>
              <cpix:ContentKeyList>
                <cpix:ContentKey x:z="2" kid="\(Self.kid.uppercased())" commonEncryptionScheme="cenc" id="k"></cpix:ContentKey>
              </cpix:ContentKeyList>
              <cpix:DRMSystemList>
                <cpix:DRMSystem kid="\(Self.kid.uppercased())" systemId="\(DRMSystem.widevine.rawValue)"><x:more/></cpix:DRMSystem>
              </cpix:DRMSystemList>
              <cpix:ContentKeyUsageRuleList>
                <cpix:ContentKeyUsageRule kid="\(Self.kid.uppercased())" intendedTrackType="ALL" x:q="3">\
            <cpix:VideoFilter/><cpix:AudioFilter/></cpix:ContentKeyUsageRule>
              </cpix:ContentKeyUsageRuleList>
            </cpix:CPIX>
            """
        let outcome = try await SPEKEStage().answer(text)
        let key = try SPEKEStage().key("movie").key.revealed.base64EncodedString()
        let filled =
            "<cpix:Data><pskc:Secret><pskc:PlainValue>\(key)</pskc:PlainValue></pskc:Secret></cpix:Data></cpix:ContentKey>"
        let expected = text.replacingOccurrences(of: "</cpix:ContentKey>", with: filled)
        #expect(String(decoding: outcome.response.bytes ?? Data(), as: UTF8.self) == expected)
        #expect(outcome.response.headers[.contentType] == "application/xml")
        #expect(outcome.response.headers[.spekeVersion] == "2.0")
        #expect(outcome.response.headers[.spekeUserAgent] == "Latchkey")
        #expect(outcome.response.headers[.cacheControl] == "no-store")
    }

    @Test func `2.1 goes with 2.4, and uses HLS method names as schemes`() async throws {
        var request = SPEKERequest(
            attributes: #"contentId="movie" version="2.4""#, keys: SPEKERequest.key("SAMPLE-AES"))
        let tree = try await SPEKEStage().filled(request.text, version: "2.1")
        #expect(tree.all("ContentKey").first?["commonEncryptionScheme"] == "SAMPLE-AES")
        #expect(tree.texts("HLSSignalingData").first?.fromBase64?.hasPrefix("#EXT-X-KEY:METHOD=SAMPLE-AES,") == true)
        request.keys = SPEKERequest.key("AES-128")
        request.systems = SPEKERequest.system(.clearKey, #"<cpix:HLSSignalingData playlist="media"/>"#)
        #expect(try await SPEKEStage().answer(request.text, version: "2.1").response.status == 200)
    }

    @Test func `the root's id is ignored and not returned`() async throws {
        let request = SPEKERequest(attributes: #"id="x" contentId="movie" version="2.3""#)
        let tree = try await SPEKEStage().filled(request.text)
        #expect(tree.root["id"] == nil)
        #expect(tree.root["contentId"] == "movie")
    }

    @Test func `prefixes are read by their namespaces`() async throws {
        let text = SPEKERequest().text.replacingOccurrences(of: "cpix:", with: "c:")
            .replacingOccurrences(of: "xmlns:cpix", with: "xmlns:c").replacingOccurrences(
                of: "xmlns:pskc", with: "xmlns:pksc")
        let written = String(decoding: try await SPEKEStage().filled(text).data, as: UTF8.self)
        #expect(written.contains("<c:Data><pskc:Secret xmlns:pskc=\"urn:ietf:params:xml:ns:keyprov:pskc\">"))
    }

    @Test func `the same content and kid give the same key in every request, on every node`() async throws {
        let first = try await SPEKEStage().filled(SPEKERequest().text)
        let second = try await SPEKEStage().filled(SPEKERequest().text)
        #expect(first.data == second.data)
        let elsewhere = try await SPEKEStage().filled(
            SPEKERequest(attributes: #"contentId="other" version="2.3""#).text)
        #expect(elsewhere.texts("PlainValue") != first.texts("PlainValue"))
    }

    @Test func `cbcs always has an IV, and the encryptor's own is kept`() async throws {
        let made = try await SPEKEStage().answer(SPEKERequest().text)
        let tree = try XMLTree(try #require(made.response.bytes))
        #expect(
            tree.all("ContentKey").first?["explicitIV"]
                == (try SPEKEStage().key("movie").iv.revealed.base64EncodedString()))
        let chosen = Data(0..<16).base64EncodedString()
        let request = SPEKERequest(keys: SPEKERequest.key("cbcs", #" explicitIV="\#(chosen)""#))
        let outcome = try await SPEKEStage().answer(request.text)
        #expect(try XMLTree(try #require(outcome.response.bytes)).all("ContentKey").first?["explicitIV"] == chosen)
        #expect(outcome.keys.first?.content.iv.revealed == Data(0..<16))
        #expect(outcome.keys.first?.content.key == made.keys.first?.content.key)
    }

    @Test func `cenc gets an IV only on request`() async throws {
        var request = SPEKERequest(
            keys: SPEKERequest.key("cenc"), systems: SPEKERequest.system(.widevine, "<cpix:PSSH/>"))
        #expect(try await SPEKEStage().filled(request.text).all("ContentKey").first?["explicitIV"] == nil)
        request.keys = SPEKERequest.key("cenc", #" explicitIV="""#)
        #expect(try await SPEKEStage().filled(request.text).all("ContentKey").first?["explicitIV"]?.count == 24)
    }

    @Test func `elements that a system lacks are left out, and others are never empty`() async throws {
        let all = """
            <cpix:PSSH/><cpix:ContentProtectionData/><cpix:HLSSignalingData playlist="media"/>\
            <cpix:HLSSignalingData playlist="master"/><cpix:SmoothStreamingProtectionHeaderData/>
            """
        let systems = [DRMSystem.fairPlay, .widevine, .playReady].map { SPEKERequest.system($0, all) }.joined()
        let tree = try await SPEKEStage().filled(SPEKERequest(systems: systems).text)
        #expect(
            tree.all("DRMSystem").map { $0.elements.map(\.name.local) } == [
                ["HLSSignalingData", "HLSSignalingData"],
                ["PSSH", "ContentProtectionData", "HLSSignalingData", "HLSSignalingData"],
                [
                    "PSSH", "ContentProtectionData", "HLSSignalingData", "HLSSignalingData",
                    "SmoothStreamingProtectionHeaderData",
                ],
            ])
        #expect(tree.all("DRMSystem").flatMap(\.elements).allSatisfy { !$0.text.isEmpty })
    }

    @Test func `each period's key comes in one reply, whatever the indexes are`() async throws {
        let request = SPEKERequest(
            keys: SPEKERequest.key("cbcs") + SPEKERequest.key("cbcs", kid: Self.other),
            systems: [Self.kid, Self.other].map {
                SPEKERequest.system(.fairPlay, #"<cpix:HLSSignalingData playlist="media"/>"#, kid: $0)
            }
            .joined(),
            periods:
                #"<cpix:ContentKeyPeriod id="p9" index="4294967295" start="2026-01-01T00:00:00Z"/><cpix:ContentKeyPeriod id="p2" index="2"/>"#,
            rules: SPEKERequest.rule(
                "ALL", #"<cpix:VideoFilter/><cpix:AudioFilter/><cpix:KeyPeriodFilter periodId="p9"/>"#)
                + SPEKERequest.rule(
                    "ALL", #"<cpix:VideoFilter/><cpix:AudioFilter/><cpix:KeyPeriodFilter periodId="p2"/>"#,
                    kid: Self.other))
        let outcome = try await SPEKEStage().answer(request.text)
        #expect(outcome.keys.map(\.periods) == [[4_294_967_295], [2]])
        #expect(Set(outcome.keys.map(\.content.key)).count == 2)
        let tree = try XMLTree(try #require(outcome.response.bytes))
        #expect(tree.all("ContentKeyPeriod").map { $0["index"] } == ["4294967295", "2"])
        #expect(tree.all("ContentKeyPeriod").first?["start"] == "2026-01-01T00:00:00Z")
    }

    @Test func `two encoders that request one period with their own kids get a key each`() async throws {
        let request = { (kid: String) in
            SPEKERequest(
                keys: SPEKERequest.key("cbcs", kid: kid), systems: SPEKERequest.system(.fairPlay, "", kid: kid),
                periods: #"<cpix:ContentKeyPeriod id="p" index="5"/>"#,
                rules: SPEKERequest.rule(
                    "ALL", #"<cpix:VideoFilter/><cpix:AudioFilter/><cpix:KeyPeriodFilter periodId="p"/>"#, kid: kid)
            ).text
        }
        let one = try await SPEKEStage().filled(request(Self.kid)).texts("PlainValue")
        let other = try await SPEKEStage().filled(request(Self.other)).texts("PlainValue")
        #expect(one != other)
    }

    @Test func `a list of periods without rotation is taken`() async throws {
        let request = SPEKERequest(periods: #"<cpix:ContentKeyPeriod id="keyPeriod_0" index="0"/>"#)
        #expect(try await SPEKEStage().answer(request.text).response.status == 200)
    }

    @Test func `2.1's playlists follow the policy`() async throws {
        var stage = SPEKEStage()
        stage.policy = { _ in
            PackagingPolicy(
                hdcp: .type1, outputProtection: "<a/>",
                allowedCPC: [.fairPlay: "com.apple.streamingkeydelivery:AppleMain/Main"],
                robustness: [.widevine: "HW_SECURE_ALL"])
        }
        let request = SPEKERequest(
            attributes: #"contentId="movie" version="2.4""#,
            systems: SPEKERequest.system(.fairPlay, "")
                + SPEKERequest.system(.widevine, "<cpix:ContentProtectionData/>"))
        let tree = try await stage.filled(request.text, version: "2.1")
        #expect(tree.all("ContentKey").first?.elements.map(\.name.local) == ["HDCPData", "Data"])
        #expect(tree.all("HDCPData").first?["HLSHDCPLevel"] == "TYPE-1")
        #expect(tree.texts("HDCPOutputProtectionData").map(\.fromBase64) == ["<a/>"])
        #expect(
            tree.all("DRMSystem").map { $0["HLSAllowedCPC"] } == ["com.apple.streamingkeydelivery:AppleMain/Main", nil])
        #expect(tree.all("ContentProtectionData").first?["robustness"] == "HW_SECURE_ALL")
        let old = try await stage.filled(SPEKERequest().text)
        #expect(old.all("HDCPData").isEmpty)
    }

    @Test func `2.1's holes are not empty where the policy has nothing`() async throws {
        let request = SPEKERequest(
            attributes: #"contentId="movie" version="2.4""#,
            keys:
                #"<cpix:ContentKey kid="\#(Self.kid)" commonEncryptionScheme="cbcs"><cpix:HDCPData HLSHDCPLevel=""><cpix:HDCPOutputProtectionData/></cpix:HDCPData></cpix:ContentKey>"#,
            systems:
                #"<cpix:DRMSystem kid="\#(Self.kid)" systemId="\#(DRMSystem.fairPlay.rawValue)" HLSAllowedCPC=""/>"#)
        let tree = try await SPEKEStage().filled(request.text, version: "2.1")
        #expect(tree.all("HDCPData").first?["HLSHDCPLevel"] == "NONE")
        #expect(tree.all("HDCPOutputProtectionData").isEmpty)
        #expect(tree.all("DRMSystem").first?["HLSAllowedCPC"] == nil)
    }

    @Test func `version 1 gets its own forms, base64 of single values`() async throws {
        let text = """
            <cpix:CPIX id="abc" xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" \
            xmlns:speke="urn:aws:amazon:com:speke"><cpix:ContentKeyList><cpix:ContentKey kid="\(Self.kid)"/></cpix:ContentKeyList>\
            <cpix:DRMSystemList>\(SPEKERequest.system(.fairPlay, "<cpix:URIExtXKey/><speke:KeyFormat/><speke:KeyFormatVersions/>"))\
            \(SPEKERequest.system(.clearKeyVersion1, "<cpix:URIExtXKey/><speke:KeyFormat/><speke:KeyFormatVersions/>"))\
            \(SPEKERequest.system(.playReady, "<cpix:ContentProtectionData/><cpix:PSSH/><speke:ProtectionHeader/>"))\
            \(SPEKERequest.system(.widevine, "<cpix:ContentProtectionData/><cpix:PSSH/><speke:ProtectionHeader/>"))\
            </cpix:DRMSystemList><cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id="p" index="3"/></cpix:ContentKeyPeriodList>\
            <cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="\(Self.kid)"><cpix:KeyPeriodFilter periodId="p"/>\
            </cpix:ContentKeyUsageRule></cpix:ContentKeyUsageRuleList></cpix:CPIX>
            """
        let outcome = try await SPEKEStage().answer(text, version: nil)
        let tree = try XMLTree(try #require(outcome.response.bytes))
        #expect(
            tree.texts("URIExtXKey").map(\.fromBase64) == [
                "skd://keys.test/abc/\(Self.kid)", "https://keys.test/clear/abc/\(Self.kid)",
            ])
        #expect(tree.texts("KeyFormat").map(\.fromBase64) == ["com.apple.streamingkeydelivery", "identity"])
        #expect(tree.texts("KeyFormatVersions").map(\.fromBase64) == ["1", "1"])
        #expect(tree.texts("PSSH").count == 2)
        #expect(tree.texts("ProtectionHeader").count == 1)
        #expect(tree.all("ContentKey").first?["explicitIV"]?.count == 24)
        #expect(tree.root["id"] == "abc")
        #expect(outcome.keys.map(\.periods) == [[3]])
        #expect(outcome.response.headers[.spekeUserAgentVersion1] == "Latchkey")
        #expect(outcome.response.headers[.spekeVersion] == nil)
        #expect(tree.texts("PlainValue") == [try SPEKEStage().key("abc").key.revealed.base64EncodedString()])
    }

    @Test func `version 1's heartbeat has text`() {
        #expect(SPEKEExchange.heartbeat.status == 200)
        #expect(SPEKEExchange.heartbeat.bytes?.isEmpty == false)
    }

    @Test func `only underivable facts have to be stored: tracks, periods and foreign IVs`() async throws {
        let request = SPEKERequest(
            rules: SPEKERequest.rule("SD+HD1", #"<cpix:VideoFilter maxPixels="921600" hdr="false"/>"#))
        let key = try #require(try await SPEKEStage().answer(request.text).keys.first)
        #expect(key.tracks.map(\.trackType) == ["SD+HD1"])
        #expect(key.tracks.first?.video.first?.pixels.most == 921_600)
        #expect(key.tracks.first?.video.first?.isHDR == false)
        #expect(key.scheme == .cbcs)
    }

    @Test(arguments: 0..<150)
    func `damaged requests get an answer, and keys only in whole documents`(_ seed: Int) async throws {
        var generator = SeededGenerator(seed: UInt64(seed))
        var bytes = Array(SPEKERequest(systems: SPEKERequest.system(.playReady, "<cpix:PSSH/>")).text.utf8)
        for _ in 0..<3 {
            guard let index = bytes.indices.randomElement(using: &generator) else { break }
            if Bool.random(using: &generator) {
                bytes[index] = UInt8.random(in: 32..<127, using: &generator)
            } else {
                bytes.remove(at: index)
            }
        }
        let outcome = try await SPEKEStage().answer(String(decoding: bytes, as: UTF8.self))
        #expect([200, 400, 413, 422].contains(outcome.response.status))
        #expect(outcome.keys.isEmpty == (outcome.response.status != 200))
        if outcome.response.status == 200 { _ = try XMLTree(try #require(outcome.response.bytes)) }
    }

    @Test func `a reply sent as a request again has each key once`() async throws {
        let stage = SPEKEStage()
        let first = String(
            decoding: try await stage.answer(SPEKERequest().text).response.bytes ?? Data(), as: UTF8.self)
        let again = String(decoding: try await stage.answer(first).response.bytes ?? Data(), as: UTF8.self)
        #expect(try XMLTree(Data(first.utf8)).texts("PlainValue").count == 1)
        #expect(try XMLTree(Data(again.utf8)).texts("PlainValue") == XMLTree(Data(first.utf8)).texts("PlainValue"))
    }
}
