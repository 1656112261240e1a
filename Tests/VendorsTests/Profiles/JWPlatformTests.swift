import Foundation
import LatchkeyCore
import LatchkeyVendors
import Testing

@Suite struct JWPlatformTests {
    private static let delivery = "https://cdn.jwplayer.com/v2/media/abcdefgh/drm/ijklmnop"
    private static let document = #"""
        {"title": "Demo", "playlist": [{"title": "Demo", "sources": [
            {"file": "https://cdn.jwplayer.com/manifests/a.mpd", "drm": {"widevine": {"url": "https://w/"}}},
            {"file": "https://cdn.jwplayer.com/manifests/a.m3u8", "drm": {"fairplay": {
                "certificateUrl": "https://drm.jwplayer.com/cert?sig=1",
                "processSpcUrl": "https://drm.jwplayer.com/spc?exp=9&sig=2"}}}]}]}
        """#

    @Test(arguments: [
        ("jwt", delivery, delivery + "?token=jwt"), (nil, delivery + "?token=mine", delivery + "?token=mine"),
        ("jwt", delivery + "?token=mine", delivery + "?token=mine"),
    ])
    func `the delivery document is asked for with its token`(token: String?, setting: String, url: String) async throws
    {
        let paper = try ProfileOnPaper(.jwPlatform, ["deliveryURL": setting], token: token)
        #expect(try await paper.lookupRequest() == .get(url))
        #expect(paper.profile.lookupScope == .loader)
    }

    @Test func `certificate and license addresses are those of the FairPlay source`() async throws {
        var paper = try ProfileOnPaper(.jwPlatform, ["deliveryURL": Self.delivery], token: "jwt")
        let found = try paper.lookup(200, Self.document)
        #expect(
            found == [
                "certificateURL": "https://drm.jwplayer.com/cert?sig=1",
                "licenseURL": "https://drm.jwplayer.com/spc?exp=9&sig=2",
            ])
        paper.lookup = found.mapValues { Secret($0) }
        #expect(try await paper.certificateRequest() == .get("https://drm.jwplayer.com/cert?sig=1"))
        #expect(
            try await paper.licenseRequest("skd://whatever")
                == .post(
                    "https://drm.jwplayer.com/spc?exp=9&sig=2", ["Content-Type": "application/octet-stream"],
                    ProfileOnPaper.spc))
    }

    @Test(arguments: ["skd://a", "skd://b/c?d"])
    func `a constant names the key`(uri: String) throws {
        #expect(try ProfileOnPaper(.jwPlatform, [:]).identifier(.init(uri)) == "jw-platform")
    }

    @Test(arguments: [
        #"{"playlist":[{"sources":[{"file":"a.m3u8"}]}]}"#, #"{"playlist":[]}"#, "<html></html>", "",
    ])
    func `a document without a FairPlay source is an error`(body: String) throws {
        let paper = try ProfileOnPaper(.jwPlatform, ["deliveryURL": Self.delivery])
        let error = try #require(throws: IntegrationError.self) { try paper.lookup(200, body) }
        #expect(error.kind == .lookupMalformed)
    }

    @Test func `a refused document is a refusal`() throws {
        let paper = try ProfileOnPaper(.jwPlatform, ["deliveryURL": Self.delivery])
        let error = try #require(throws: IntegrationError.self) { try paper.lookup(403, "{}") }
        #expect(error.kind == .forbidden)
    }

    @Test func `certificate and license come as they are`() throws {
        let paper = try ProfileOnPaper(.jwPlatform, [:])
        #expect(try paper.certificate(200, ProfileOnPaper.certificate) == ProfileOnPaper.certificate)
        #expect(try paper.license(200, ProfileOnPaper.ckc).ckc.revealed == ProfileOnPaper.ckc)
    }
}
