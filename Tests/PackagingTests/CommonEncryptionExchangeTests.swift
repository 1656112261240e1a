import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct CommonEncryptionExchangeTests {
    private static let tracks =
        #""tracks":[{"type":"SD"},{"type":"HD"},{"type":"UHD1"},{"type":"UHD2"},{"type":"AUDIO"}]"#
    // The packager's recorded request: movie, CBCS.
    private static let request =
        #"{"content_id":"bW92aWU=","policy":"",\#(tracks),"drm_types":["WIDEVINE"],"protection_scheme":"CBCS"}"#

    private func exchange(signed: Bool = false) throws -> CommonEncryptionExchange {
        let signer = CommonEncryptionSigner(
            key: Secret([UInt8](repeating: 1, count: 32)), iv: [UInt8](repeating: 2, count: 16))
        return CommonEncryptionExchange(
            tenant: "acme", source: try SPEKEStage().keys(), signers: signed ? ["test": try #require(signer)] : [:])
    }

    private func envelope(_ request: String, _ more: String = "") -> Data {
        Data(#"{"request":"\#(Data(request.utf8).base64EncodedString())"\#(more)}"#.utf8)
    }

    private struct Answer: Decodable {
        struct Track: Decodable {
            struct Box: Decodable { let drm_type, data: String }
            let type: String
            let key_id, key, iv: Data
            let pssh: [Box]
            let crypto_period_index: UInt32?
        }
        struct System: Decodable { let type, system_id: String }
        let status: String
        let drm: [System]?
        let already_used: Bool?
        let tracks: [Track]?
    }

    private func inner(_ outcome: CommonEncryptionExchange.Outcome) throws -> Data {
        let outer = try JSONDecoder().decode([String: Data].self, from: try #require(outcome.response.bytes))
        return try #require(outer["response"])
    }

    private func answer(_ request: String) async throws -> Answer {
        let outcome = try await exchange().answer(envelope(request))
        #expect(outcome.response.headers.mediaType == "application/json")
        return try JSONDecoder().decode(Answer.self, from: inner(outcome))
    }

    @Test func `each track gets a key, an IV and a box, always the same`() async throws {
        let first = try await answer(Self.request)
        let tracks = try #require(first.tracks)
        #expect(first.status == "OK")
        #expect(first.drm?.map(\.system_id) == ["edef8ba979d64acea3c827dcd51d21ed"])
        #expect(first.already_used == false)
        #expect(tracks.map(\.type) == ["SD", "HD", "UHD1", "UHD2", "AUDIO"])
        #expect(
            tracks.allSatisfy {
                $0.key.count == 16 && $0.iv.count == 16 && $0.key_id.count == 16 && $0.crypto_period_index == nil
            })
        #expect(Set(tracks.map(\.key)).count == 5)
        #expect(Set(tracks.map(\.key_id)).count == 5)
        #expect(
            tracks.allSatisfy { track in
                track.pssh.allSatisfy { Data(base64Encoded: $0.data)?.range(of: track.key_id) != nil }
            })
        #expect(try await answer(Self.request).tracks?.map(\.key) == tracks.map(\.key))
    }

    @Test func `a license API with content and kid finds the same key`() async throws {
        let track = try #require(try await answer(Self.request).tracks?.last)
        let kid = try #require(KeyID(bytes: track.key_id))
        let address = KeyAddress(content: try #require(ContentName("movie")), kid: kid)
        let key = try SPEKEStage().keys().keys(for: [KeyDemand(address)])[address]
        #expect(key?.key.revealed == track.key)
        #expect(key?.iv.revealed == track.iv)
    }

    @Test func `rotation gives each period its own keys, alike in overlapping batches`() async throws {
        let batch = { (first: Int) in
            String(Self.request.dropLast())
                + #","first_crypto_period_index":\#(first),"crypto_period_count":10,"crypto_period_seconds":4}"#
        }
        let first = try #require(try await answer(batch(0)).tracks)
        let second = try #require(try await answer(batch(5)).tracks)
        #expect(first.count == 50)
        #expect(first.map(\.crypto_period_index) == (0..<10).flatMap { [UInt32?](repeating: $0, count: 5) })
        #expect(Set(first.map(\.key)).count == 50)
        #expect(Array(first[25...].map(\.key)) == Array(second[..<25].map(\.key)))
        let alone = try #require(try await answer(Self.request).tracks)
        #expect(Set(alone.map(\.key)).isDisjoint(with: first.map(\.key)))
    }

    @Test(arguments: [0, 1, 4_294_967_295, nil] as [UInt32?])
    func `an identifier reveals track and period if the content is known`(_ period: UInt32?) throws {
        let content = try #require(ContentName("movie"))
        let other = try #require(ContentName("movif"))
        for track in CommonEncryptionTrack.allCases {
            let kid = try track.keyID(content: content, period: period, tenant: "acme")
            #expect(
                try CommonEncryptionTrack.reading(kid, content: content, tenant: "acme")
                    == .init(track: track, period: period))
            #expect(try CommonEncryptionTrack.reading(kid, content: other, tenant: "acme") == nil)
            #expect(try CommonEncryptionTrack.reading(kid, content: content, tenant: "acmf") == nil)
        }
    }

    @Test func `a signature matches the packager's`() throws {
        // Made with Python's pycryptodome: AES-256-CBC over the SHA-1 of the text, padded.
        let signer = try #require(
            CommonEncryptionSigner(key: Secret([UInt8](repeating: 1, count: 32)), iv: [UInt8](repeating: 2, count: 16)))
        #expect(
            try signer.signature(of: Array("request".utf8)).base64 == "d3TLVCLpKHAhhhtp0s7jqoUSBxhun4UgQChsMVU8E8g=")
    }

    @Test func `a signed request is answered`() async throws {
        let signer = try #require(
            CommonEncryptionSigner(key: Secret([UInt8](repeating: 1, count: 32)), iv: [UInt8](repeating: 2, count: 16)))
        let signature = try signer.signature(of: Array(Self.request.utf8)).base64
        let outcome = try await exchange(signed: true).answer(
            envelope(Self.request, #","signature":"\#(signature)","signer":"test""#))
        #expect(outcome.status == "OK")
        #expect(outcome.keys.count == 5)
    }

    @Test(arguments: [
        "", #","signer":"test""#, #","signature":"AAAA","signer":"test""#, #","signature":"AAAA","signer":"eve""#,
        #","signature":"","signer":"test""#, #","signature":"not base64","signer":"test""#,
    ])
    func `a request without its signature gets SIGNATURE_FAILED and no keys`(_ more: String) async throws {
        let outcome = try await exchange(signed: true).answer(envelope(Self.request, more))
        #expect(outcome.status == "SIGNATURE_FAILED")
        #expect(outcome.keys.isEmpty)
        #expect(String(decoding: try inner(outcome), as: UTF8.self) == #"{"status":"SIGNATURE_FAILED"}"#)
    }

    @Test(arguments: [
        (#"{"content_id":"","tracks":[{"type":"SD"}]}"#, "INVALID_CONTENT_ID"),
        (#"{"content_id":"*","tracks":[{"type":"SD"}]}"#, "INVALID_CONTENT_ID"),
        (#"{"content_id":"bQ==","tracks":[{"type":"8K"}]}"#, "TRACK_TYPE_UNKNOWN"),
        (#"{"content_id":"bQ==","tracks":[]}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"},{"type":"SD"}]}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"protection_scheme":"ROT13"}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"crypto_period_count":0}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"crypto_period_count":1001}"#, "INVALID_REQUEST"),
        (
            #"{"content_id":"bQ==","tracks":[{"type":"SD"}],"first_crypto_period_index":4294967295,"crypto_period_count":2}"#,
            "INVALID_REQUEST"
        ),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"first_crypto_period_index":-1}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"crypto_period_count":1.5}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"protection_scheme":1}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"}],"drm_types":["WIDEVINE",1]}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","tracks":[{"type":"SD"},{"kind":"HD"}]}"#, "INVALID_REQUEST"),
        (#"{"content_id":"bQ==","content_id":"bg==","tracks":[{"type":"SD"}]}"#, "INVALID_REQUEST"),
        (#"{"tracks":[{"type":"SD"}]}"#, "INVALID_REQUEST"), ("[]", "INVALID_REQUEST"), ("", "INVALID_REQUEST"),
    ])
    func `a nonsensical request gets a status and no keys`(_ request: String, _ status: String) async throws {
        let outcome = try await exchange().answer(envelope(request))
        #expect(outcome.status == status)
        #expect(outcome.keys.isEmpty)
        #expect(String(decoding: try inner(outcome), as: UTF8.self) == #"{"status":"\#(status)"}"#)
    }

    @Test(arguments: ["", "{}", #"{"request":5}"#, #"{"request":"*"}"#, "null", #"{"request":"","request":"e30="}"#])
    func `a non-envelope is 400`(_ body: String) async throws {
        #expect(try await exchange().answer(Data(body.utf8)).response.status == 400)
    }

    @Test func `too much is 413`() async throws {
        #expect(try await exchange().answer(Data(count: 65_537)).response.status == 413)
    }
}
