import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite struct KeyURIReadingTests {
    private static let kid = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"

    private func reading(_ text: String, template: String? = "skd://keys.test/{contentId}/{kid}") throws
        -> KeyURIReading?
    {
        KeyURIReading(ContentIdentifier(text), template: try template.map { try KeyURITemplate($0) })
    }

    @Test(arguments: ["skd://keys.test/", "keys.test/"])
    func `the template's URI says content and kid, with and without its scheme`(_ start: String) throws {
        let found = try #require(try reading("\(start)a%2Fmovie/\(Self.kid)"))
        #expect(found.kid == KeyID(Self.kid))
        #expect(found.content == ContentName("a/movie"))
        #expect(found.iv == nil)
    }

    @Test func `a template with an IV says it`() throws {
        let found = try reading("skd://\(Self.kid)/\(String(repeating: "0a", count: 16))", template: "skd://{kid}/{iv}")
        #expect(found?.iv == [UInt8](repeating: 10, count: 16))
        #expect(found?.content == nil)
    }

    @Test(arguments: [
        "skd://oLHC0+T1BhcoOUpbbH2Onw==", "oLHC0+T1BhcoOUpbbH2Onw==", "skd:oLHC0+T1BhcoOUpbbH2Onw==",
        "skd://oLHC0-T1BhcoOUpbbH2Onw", "skd://oLHC0%2BT1BhcoOUpbbH2Onw%3D%3D", "skd://\(kid)", kid, kid.uppercased(),
        "{\(kid)}", "a0b1c2d3e4f5061728394a5b6c7d8e9f", "skd://A0B1C2D3E4F5061728394A5B6C7D8E9F",
    ])
    func `a bare kid is read in the packager's spelling, as UUID and as digits`(_ text: String) throws {
        for template in ["skd://keys.test/{contentId}/{kid}", nil] {
            #expect(try reading(text, template: template) == KeyURIReading(kid: try #require(KeyID(Self.kid))))
        }
    }

    @Test(arguments: [
        "skd://\(kid)/", "skd://\(kid)?x=1", "skd://\(kid)/?x=1", "\(kid)/", "skd://oLHC0+T1BhcoOUpbbH2Onw==/",
        "skd://keys.test/movie/\(kid)?x=1", "skd://keys.test/movie/\(kid)/", "keys.test/movie/\(kid)/?x=/",
    ])
    func `a query and slashes after a key's name are skipped`(_ text: String) throws {
        let found = try #require(try reading(text))
        #expect(found.kid == KeyID(Self.kid))
        #expect(found.content == (text.contains("movie") ? ContentName("movie") : nil))
    }

    @Test(arguments: ["skd://", ""]) func `a bare kid followed by an IV gives both`(_ scheme: String) throws {
        let iv = String(repeating: "0a", count: 16)
        for tail in ["", "/", "?x=1"] {
            let found = try #require(try reading("\(scheme)\(Self.kid):\(iv)\(tail)"))
            #expect(found == KeyURIReading(kid: try #require(KeyID(Self.kid)), iv: [UInt8](repeating: 10, count: 16)))
        }
        #expect(try reading("\(scheme)\(Self.kid):0a") == nil)
    }

    @Test func `a kid whose base64 has slashes is read whole`() throws {
        let kid = try #require(KeyID(bytes: [UInt8](repeating: 0xff, count: 16)))
        #expect(try reading("skd://\(kid.bytes.base64EncodedString())")?.kid == kid)
    }

    @Test(arguments: ["", "skd://", "skd://other.test/movie/\(kid)", "skd://movie", "oLHC0+T1BhcoOUpbbH2O", "\u{0}"])
    func `anything else is nothing`(_ text: String) throws {
        #expect(try reading(text) == nil)
        #expect(KeyURIReading(ContentIdentifier(bytes: Data([0xff, 0xfe])), template: nil) == nil)
    }
}
