import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct JWPlatformTests {
    private static let delivery = "https://cdn.jwplayer.com/v2/media/abcdefgh/drm/ijklmnop"
    private static let document = #"""
        {"title": "Demo", "playlist": [{"title": "Demo", "sources": [
            {"file": "https://cdn.jwplayer.com/manifests/a.mpd", "drm": {"widevine": {"url": "https://w/"}}},
            {"file": "https://cdn.jwplayer.com/manifests/a.m3u8", "drm": {"fairplay": {
                "certificateUrl": "https://drm.jwplayer.com/cert?sig=1",
                "processSpcUrl": "https://drm.jwplayer.com/spc?exp=9&sig=2"}}}]}]}
        """#

    private let jwPlatform = ProfileWire(.jwPlatform, ["deliveryURL": delivery])

    @Test(arguments: [
        ("jwt", delivery, delivery + "?token=jwt"), (nil, delivery + "?token=mine", delivery + "?token=mine"),
        ("jwt", delivery + "?token=mine", delivery + "?token=mine"),
    ])
    func `the delivery document is asked for with its token`(token: String?, setting: String, url: String) async throws
    {
        let wire = ProfileWire(.jwPlatform, token: token, ["deliveryURL": setting])
        #expect(try await wire.lookupRequest() == "GET \(url)")
        #expect(wire.profile.unchecked.lookupScope == .loader)
    }

    @Test func `certificate and license addresses are those of the FairPlay source`() async throws {
        var wire = jwPlatform
        wire.lookup = try wire.lookup(Self.document)
        #expect(
            wire.lookup == [
                "certificateURL": Secret("https://drm.jwplayer.com/cert?sig=1"),
                "licenseURL": Secret("https://drm.jwplayer.com/spc?exp=9&sig=2"),
            ])
        let expected = """
            POST https://drm.jwplayer.com/spc?exp=9&sig=2
            content-type: application/octet-stream

            fbff0001
            """
        #expect(try await wire.certificateRequest() == "GET https://drm.jwplayer.com/cert?sig=1")
        #expect(try await wire.licenseRequest() == expected)
    }

    @Test(arguments: ["skd://a", "skd://b/c?d"])
    func `a constant names the key`(key: KeyURI) throws {
        #expect(try ProfileWire(.jwPlatform, key: key).contentIdentifier() == "jw-platform")
    }

    @Test(arguments: [
        #"{"playlist":[{"sources":[{"file":"a.m3u8"}]}]}"#, #"{"playlist":[]}"#, "<html></html>", "",
    ])
    func `a document without a FairPlay source is an error`(body: String) {
        let error = #expect(throws: IntegrationError.self) { try jwPlatform.lookup(body) }
        #expect(error?.kind == .lookupMalformed)
    }

    @Test func `a refused document is a refusal`() {
        let error = #expect(throws: IntegrationError.self) { try jwPlatform.lookup("{}", status: 403) }
        #expect(error?.kind == .forbidden)
    }

    @Test func `certificate and license come as they are`() throws {
        #expect(try jwPlatform.certificate(ProfileWire.certificate) == ProfileWire.certificate)
        #expect(try jwPlatform.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
    }
}
