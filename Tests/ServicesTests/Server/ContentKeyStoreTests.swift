import Foundation
import LatchkeyCore
import LatchkeyMedia
import LatchkeyServices
import Testing

@Suite struct ContentKeyStoreTests {
    @Test(arguments: [
        "skd://demo/video", "demo/video", "video", "a0b1c2d3e4f5061728394a5b6c7d8e9f",
        "A0B1C2D3-E4F5-0617-2839-4A5B6C7D8E9F", "{a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f}", "oLHC0+T1BhcoOUpbbH2Onw==",
        "oLHC0-T1BhcoOUpbbH2Onw", "skd://oLHC0+T1BhcoOUpbbH2Onw==",
    ])
    func `a key is found by each of its names`(_ name: String) throws {
        let store = try ContentKeyStore(json: Stage.keysJSON)
        guard case .one(let key) = store.key(named: name) else {
            Issue.record("\(store.key(named: name))")
            return
        }
        #expect(key.content == Stage.videoKey)
    }

    @Test(arguments: ["", "demo", "vide", "skd://", "a0b1c2d3e4f5061728394a5b6c7d8e9", "VIDEO", "demo/video/"])
    func `nothing else finds a key`(_ name: String) throws {
        #expect(try ContentKeyStore(json: Stage.keysJSON).key(named: name) == .none)
    }

    @Test func `a name of two keys is ambiguous, an exact one is taken`() throws {
        let one = try Self.key("skd://a/video", 1)
        let other = try Self.key("skd://b/video", 2)
        let store = ContentKeyStore([one, other])
        #expect(store.key(named: "video") == .several)
        #expect(store.key(named: "a/video") == .one(one))
        #expect(store.key(named: "skd://b/video") == .one(other))
    }

    @Test func `one key under two URIs is one key`() throws {
        let one = try Self.key("skd://a/video", 1)
        let store = ContentKeyStore([one, try Self.key("skd://b/video", 1)])
        #expect(store.key(named: "video") == .one(one))
        #expect(store.key(one.id) == .one(one))
    }

    @Test func `one identifier with two keys is ambiguous`() throws {
        let one = try Self.key("skd://a", 1)
        let content = try #require(ContentKey(key: Secret(Data(count: 16)), iv: Secret(Data(count: 16))))
        let store = ContentKeyStore([one, StoredKey(uri: "skd://b", id: one.id, content: content)])
        #expect(store.key(one.id) == .several)
    }

    @Test(arguments: [
        ("", "keysUnreadable"), ("[]", "keysUnreadable"), (#"{"keys":[{"uri":"a"}]}"#, "keysUnreadable"),
        (#"{"keys":[{"uri":"a","keyId":"1","key":"","iv":""}]}"#, "keyMalformed"),
        (#"{"keys":[{"uri":"a","keyId":"\#(hex)","key":"\#(hex)00","iv":"\#(hex)"}]}"#, "keyMalformed"),
    ])
    func `a wrong key file is refused without its keys`(_ json: String, _ code: String) {
        let error = #expect(throws: Diagnosis.self) { try ContentKeyStore(json: Data(json.utf8)) }
        #expect(error?.code == code)
        #expect("\(String(describing: error))".contains(Self.hex) == false)
    }

    private static let hex = "00112233445566778899aabbccddeeff"

    private static func key(_ uri: KeyURI, _ number: UInt8) throws -> StoredKey {
        let bytes = Data(repeating: number, count: 16)
        return StoredKey(
            uri: uri, id: try #require(KeyID(bytes: bytes)),
            content: try #require(ContentKey(key: Secret(bytes), iv: Secret(bytes))))
    }
}
