import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

/// Widevine's box and PlayReady's object are compared with those of `cpix` 1.4.1, an independent implementation in Python.
@Suite(.timeLimit(.minutes(5))) struct DRMSignalingTests {
    private func signaling(
        _ system: DRMSystem, _ scheme: EncryptionScheme, content: String = "movie"
    ) throws -> DRMSignaling {
        let key = try #require(ContentKey(key: Secret(Array(0..<16)), iv: Secret(Array(16..<32))))
        let settings = SignalingSettings(
            fairPlay: try KeyURITemplate("skd://keys.test/{contentId}/{kid}"),
            clearKey: try KeyURITemplate("https://keys.test/{contentId}/{kid}"), widevineProvider: "acme",
            playReadyURL: "https://pr.test/?a=1&b=2")
        let kid = try #require(KeyID(SPEKEStage.kid))
        let name = try #require(ContentName(content))
        return try #require(
            try DRMSignaling(system, kid: kid, key: key, content: name, scheme: scheme, settings: settings))
    }

    private static let widevine = "AAAARXBzc2gAAAAA7e+LqXnWSs6jyCfc1R0h7QAAACUSEBI0VniavN7wEjRWeJq83vAaBGFjbWUiBW1vdmll"

    @Test(arguments: [(EncryptionScheme.cbcs, "SPPGiZsG", "SAMPLE-AES"), (.cenc, "SOPclZsG", "SAMPLE-AES-CTR")])
    func `Widevine has a box with kid, provider, content and scheme`(
        _ scheme: EncryptionScheme, _ end: String, _ method: String
    ) throws {
        let signaling = try signaling(.widevine, scheme)
        let box = Self.widevine + end
        #expect(signaling.box?.base64 == box)
        #expect(signaling.contentProtection == "<pssh xmlns=\"urn:mpeg:cenc:2013\">\(box)</pssh>")
        #expect(
            signaling.tag(in: .media) == "#EXT-X-KEY:METHOD=\(method),URI=\"data:text/plain;base64,\(box)\","
                + "KEYFORMAT=\"urn:uuid:edef8ba9-79d6-4ace-a3c8-27dcd51d21ed\",KEYFORMATVERSIONS=\"1\"")
    }

    @Test(arguments: [
        (
            EncryptionScheme.cbcs, "4.3.0.0", #"ALGID="AESCBC" "#, 536,
            "72ffd0da11c68621d03f54e261518f34050d08f5fa00a9c029c3819cc6781e44"
        ),
        (
            .cenc, "4.2.0.0", #"ALGID="AESCTR" CHECKSUM="5MOwTZ60e08=" "#, 584,
            "1868a34d203dc2765fcd5c8f092e2183b4b5381f5f3757243a3294b5860f2550"
        ),
    ])
    func `PlayReady has an object with the kid in GUID order`(
        _ scheme: EncryptionScheme, _ version: String, _ algorithm: String, _ count: Int, _ digest: String
    ) throws {
        let signaling = try signaling(.playReady, scheme)
        let object = try #require(signaling.playReadyObject)
        let header = try #require(String(bytes: object.dropFirst(10), encoding: .utf16LittleEndian))
        #expect(
            header
                == "<WRMHEADER xmlns=\"http://schemas.microsoft.com/DRM/2007/03/PlayReadyHeader\" version=\"\(version)\">"
                + "<DATA><PROTECTINFO><KIDS><KID \(algorithm)VALUE=\"eFY0Erya8N4SNFZ4mrze8A==\"></KID></KIDS></PROTECTINFO>"
                + "<LA_URL>https://pr.test/?a=1&amp;b=2</LA_URL></DATA></WRMHEADER>")
        #expect(object.count == count)
        #expect(try MessageDigest.sha256(object).hexString == digest)
        let box = try #require(signaling.box)
        #expect(Array(box[28..<32]) == UInt32(count).bytes)
        #expect(Array(box[32...]) == object)
        #expect(
            signaling.contentProtection == "<pssh xmlns=\"urn:mpeg:cenc:2013\">\(box.base64)</pssh>"
                + "<pro xmlns=\"urn:microsoft:playready\">\(object.base64)</pro>")
        let method = scheme == .cbcs ? "SAMPLE-AES" : "SAMPLE-AES-CTR"
        #expect(
            signaling.tag(in: .multivariant)
                == "#EXT-X-SESSION-KEY:METHOD=\(method),KEYFORMAT=\"com.microsoft.playready\","
                + "KEYFORMATVERSIONS=\"1\",URI=\"data:text/plain;charset=UTF-16;base64,\(object.base64)\"")
    }

    @Test func `FairPlay has only a URI, the same in both playlists`() throws {
        let signaling = try signaling(.fairPlay, .cbcs, content: "a b/é\"")
        let attributes =
            "METHOD=SAMPLE-AES,URI=\"skd://keys.test/a%20b%2F%C3%A9%22/\(SPEKEStage.kid)\","
            + "KEYFORMAT=\"com.apple.streamingkeydelivery\",KEYFORMATVERSIONS=\"1\""
        #expect(signaling.tag(in: .media) == "#EXT-X-KEY:\(attributes)")
        #expect(signaling.tag(in: .multivariant) == "#EXT-X-SESSION-KEY:\(attributes)")
        #expect(signaling.box == nil)
        #expect(signaling.contentProtection == nil)
    }

    @Test func `Clear Key has a URI that returns the key`() throws {
        #expect(
            try signaling(.clearKey, .cbc1).tag(in: .media) == "#EXT-X-KEY:METHOD=AES-128,"
                + "URI=\"https://keys.test/movie/\(SPEKEStage.kid)\",KEYFORMAT=\"identity\",KEYFORMATVERSIONS=\"1\"")
    }

    @Test(arguments: [("media", true), ("master", true), ("multiVariant", true), ("", false), ("Media", false)])
    func `all three names of playlists are known`(_ name: String, _ isKnown: Bool) {
        #expect((DRMSignaling.Playlist(name) != nil) == isKnown)
    }
}
