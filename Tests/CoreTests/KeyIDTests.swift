import Foundation
import LatchkeyCore
import Testing

@Suite struct KeyIDTests {
    private static let canonical = "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"

    @Test(arguments: [
        "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f", "A0B1C2D3E4F5061728394A5B6C7D8E9F",
        "{A0B1C2D3-E4F5-0617-2839-4a5b6c7d8e9f}",
    ])
    func `all spellings of a UUID give the same key ID`(text: String) {
        #expect(KeyID(text)?.description == Self.canonical)
    }

    @Test(arguments: ["", "a0b1", "a0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f00", "g0b1c2d3-e4f5-0617-2839-4a5b6c7d8e9f"])
    func `text of another length or with other letters is refused`(text: String) {
        #expect(KeyID(text) == nil)
    }

    @Test(arguments: [0, 15, 17])
    func `only sixteen bytes make a key ID`(count: Int) {
        #expect(KeyID(bytes: [UInt8](repeating: 7, count: count)) == nil)
        #expect(KeyID(bytes: [UInt8](repeating: 7, count: 16))?.bytes == Data(repeating: 7, count: 16))
    }

    @Test func `bytes and text keep their order, in every kind of sequence`() throws {
        let bytes = [0xa0] + (1..<16).map { UInt8(17 * $0) }
        let text = "a0112233-4455-6677-8899-aabbccddeeff"
        for id in [
            KeyID(bytes: bytes), KeyID(bytes: Data([0] + bytes).dropFirst()), KeyID(bytes: Data(bytes).lazy.map { $0 }),
            KeyID(text),
        ] {
            #expect(id?.description == text)
            #expect(id?.bytes == Data(bytes))
            #expect(id == KeyID(bytes: bytes))
        }
    }
}
