import Foundation
import LatchkeyCore
import LatchkeySimulation
import Testing

@testable import LatchkeyPlayback

@Suite struct SampleGroupKeysTests {
    private static let rotation = DemoAsset.rotation.directory.appending(path: "v")
    private static let parameters: [UInt8] = [0, 0x19, 1, 0] + Array(repeating: 7, count: 16)

    private static func rotated(_ name: String) throws -> [UInt8] {
        try [UInt8](Data(contentsOf: rotation.appending(path: name)))
    }

    @Test(arguments: [
        ("1.m4s", "a0b1c2d3e4f5061728394a5b6c7d8e9f"), ("2.m4s", "a0b1c2d3e4f5061728394a5b6c7d8e9f"),
        ("3.m4s", "b1c2d3e4f5061728394a5b6c7d8e9fa0"),
    ])
    func `a rotated segment names its key id, pattern and IV`(name: String, keyID: String) throws {
        let keys = try #require(try SampleGroupKeys.read(segment: Self.rotated(name)))
        #expect(keys.parameters.hexString == "00190100" + keyID + "10" + "0f1e2d3c4b5a69788796a5b4c3d2e1f0")
    }

    @Test func `a segment without sample groups has none`() throws {
        let segment = try Data(contentsOf: DemoAsset.twoKeys.directory.appending(path: "v/1.m4s"))
        #expect(try SampleGroupKeys.read(segment: segment) == nil)
    }

    @Test func `a patched init section has the parameters and nothing else new`() throws {
        let old = ISOBoxes(try Self.rotated("init.mp4"))
        let keys = try #require(try SampleGroupKeys.read(segment: Self.rotated("3.m4s")))
        let new = ISOBoxes(try keys.patched(initialization: old.bytes))
        #expect(Data(new.bytes).range(of: Data("tenc".utf8 + [1, 0, 0, 0] + keys.parameters)) != nil)
        #expect(try new.boxes().map(\.type) == old.boxes().map(\.type))
        #expect(try keys.patched(initialization: new.bytes) == new.bytes)
    }

    @Test func `a clear init section cannot take the parameters`() {
        let keys = SampleGroupKeys(parameters: Self.parameters)
        #expect(errorCode { try keys.patched(initialization: Self.box("moov", [])) } == "malformedMedia")
    }

    @Test(arguments: [1, 2])
    func `entries with their own length are read`(copies: Int) throws {
        let entry = [0, 0, 0, 20] + Self.parameters
        let group = Self.group(length: 0, count: copies, Array(repeating: entry, count: copies).flatMap { $0 })
        #expect(try SampleGroupKeys.read(segment: Self.segment([group]))?.parameters == Self.parameters)
    }

    @Test func `two keys within one segment are refused`() {
        let other = Array(Self.parameters.reversed())
        let group = Self.group(length: 20, count: 2, Self.parameters + other)
        #expect(errorCode { try SampleGroupKeys.read(segment: Self.segment([group])) } == "unsupportedSampleGroups")
    }

    @Test func `groups of only some fragments in a segment are refused`() {
        let segment = Self.segment([Self.group(length: 20, count: 1, Self.parameters)]) + Self.segment([])
        #expect(errorCode { try SampleGroupKeys.read(segment: segment) } == "unsupportedSampleGroups")
    }

    @Test func `groups described in the init section are refused`() {
        let assignment = Self.box("sbgp", [0, 0, 0, 0] + Array("seig".utf8) + [0, 0, 0, 0])
        #expect(
            errorCode { try SampleGroupKeys.read(segment: Self.segment([assignment])) } == "unsupportedSampleGroups")
    }

    @Test(arguments: [0, 2])
    func `another version of the description is refused`(version: UInt8) {
        let group = Self.group(version: version, length: 20, count: 1, Self.parameters)
        #expect(errorCode { try SampleGroupKeys.read(segment: Self.segment([group])) } == "unsupportedSampleGroups")
    }

    @Test(arguments: [(19, 1), (21, 1), (20, 2), (20, 1 << 31), (1 << 31, 1)])
    func `lengths and counts beyond the box are refused`(length: Int, count: Int) {
        let group = Self.group(length: length, count: count, Self.parameters)
        #expect(errorCode { try SampleGroupKeys.read(segment: Self.segment([group])) } == "malformedMedia")
    }

    @Test func `groups of another kind are left alone`() throws {
        let roll = Self.group(type: "roll", length: 2, count: 1, [0, 1])
        #expect(try SampleGroupKeys.read(segment: Self.segment([roll])) == nil)
    }

    @Test func `a segment and an init section cut at any byte are read or refused`() throws {
        let segment = try Self.rotated("1.m4s")
        let initialization = try Self.rotated("init.mp4")
        let keys = try #require(try SampleGroupKeys.read(segment: segment))
        let header = try ISOBoxes(segment).boxes().first { $0.type == "mdat" }?.payload.lowerBound ?? 0
        let cuts = (0..<header).filter { cut in
            errorCode { try SampleGroupKeys.read(segment: segment.prefix(cut)) } != nil
        }
        #expect(cuts.count > header - 10)
        for count in initialization.indices {
            #expect(errorCode { try keys.patched(initialization: initialization.prefix(count)) } == "malformedMedia")
        }
    }

    @Test(arguments: 0..<20 as Range<UInt64>)
    func `flipped bits never crash`(seed: UInt64) throws {
        var random = SeededGenerator(seed: seed)
        let header = try Self.rotated("1.m4s").prefix(1_200)
        let initialization = try Self.rotated("init.mp4")
        for _ in 0..<50 {
            let broken = Self.flipping(Array(header), &random)
            let keys = (try? SampleGroupKeys.read(segment: broken)) ?? SampleGroupKeys(parameters: Self.parameters)
            let patched = try? keys.patched(initialization: Self.flipping(initialization, &random))
            #expect(patched.map { $0.count < 2 * initialization.count } ?? true)
        }
    }

    private static func flipping(_ bytes: [UInt8], _ random: inout SeededGenerator) -> [UInt8] {
        var bytes = bytes
        for _ in 0..<3 {
            bytes[Int.random(in: bytes.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
        }
        return bytes
    }

    private static func segment(_ boxes: [[UInt8]]) -> [UInt8] {
        box("moof", box("traf", boxes.flatMap { $0 }))
    }

    private static func group(
        version: UInt8 = 1, type: String = "seig", length: Int, count: Int, _ entries: [UInt8]
    ) -> [UInt8] {
        let numbers = [length, count].flatMap { number in [24, 16, 8, 0].map { UInt8(number >> $0 & 255) } }
        return box("sgpd", [version, 0, 0, 0] + Array(type.utf8) + numbers + entries)
    }

    private static func box(_ type: String, _ payload: [UInt8]) -> [UInt8] { ISOBoxesTests.box(type, payload) }
}
