import Foundation
import Testing

@testable import LatchkeyPlayback

@Suite struct ISOBoxesTests {
    @Test func `boxes are found with short, long and open sizes`() throws {
        let bytes: [UInt8] =
            [0, 0, 0, 9] + Array("free".utf8) + [7] + [0, 0, 0, 1] + Array("skip".utf8) + [0, 0, 0, 0, 0, 0, 0, 17, 8]
            + [0, 0, 0, 0] + Array("mdat".utf8) + [1, 2, 3]
        let boxes = try ISOBoxes(bytes).boxes()
        #expect(boxes.map(\.type) == ["free", "skip", "mdat"])
        #expect(boxes.map(\.payload) == [8..<9, 25..<26, 34..<37])
    }

    @Test(arguments: [
        [0, 0, 0, 7, 0x66, 0x72, 0x65, 0x65], [0, 0, 0, 9, 0x66, 0x72, 0x65, 0x65],
        [0, 0, 0, 1, 0x66, 0x72, 0x65, 0x65, 0, 0, 0, 0, 0, 0, 0, 15],
        [0, 0, 0, 1, 0x66, 0x72, 0x65, 0x65, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
        [0, 0, 0, 1, 0x66, 0x72, 0x65, 0x65, 0, 0], [0, 0, 0],
    ])
    func `a box that is too short or too long is refused`(bytes: [UInt8]) {
        #expect(errorCode { try ISOBoxes(bytes).boxes() } == "malformedMedia")
    }

    @Test func `a replaced box changes the sizes of all boxes around it`() throws {
        let file = ISOBoxes(Self.box("moov", [9] + Self.box("trak", Self.box("tenc", [1])) + Self.box("udta", [])))
        let path = [ISOBoxStep(type: "moov", fields: 1), ISOBoxStep(type: "trak"), ISOBoxStep(type: "tenc")]
        let expected = Self.box("moov", [9] + Self.box("trak", Self.box("tenc", [5, 6, 7])) + Self.box("udta", []))
        #expect(try file.replacing(path, with: [5, 6, 7])?.bytes == expected)
    }

    @Test func `a path that leads nowhere replaces nothing`() throws {
        let file = ISOBoxes(Self.box("moov", Self.box("trak", [])))
        #expect(try file.replacing([ISOBoxStep(type: "moov"), ISOBoxStep(type: "tenc")], with: [1]) == nil)
    }

    @Test func `fields longer than their box are refused`() {
        let file = ISOBoxes(Self.box("stsd", [0, 0, 0]))
        #expect(errorCode { try file.replacing([ISOBoxStep(type: "stsd", fields: 8)], with: []) } == "malformedMedia")
    }

    static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] {
        [0, 0, UInt8((payload.count + 8) >> 8), UInt8((payload.count + 8) & 255)] + Array(type.utf8) + payload
    }
}
