import Foundation
import LatchkeyPlayback
import LatchkeySimulation
import Testing

@Suite struct ContainerKindTests {
    @Test(arguments: [
        (DemoAsset.twoKeys, "v/init.mp4", ContainerKind.fragmentedMP4), (.twoKeys, "a/1.m4s", .fragmentedMP4),
        (.rotation, "v/3.m4s", .fragmentedMP4), (.transportStream, "v/1.ts", .transportStream),
    ])
    func `media of the demo asset is known by its bytes`(asset: DemoAsset, path: String, kind: ContainerKind) throws {
        #expect(try ContainerKind(segment: Data(contentsOf: asset.directory.appending(path: path))) == kind)
    }

    @Test(arguments: [
        Data("ID3".utf8 + [4, 0, 0, 0, 0, 0, 0]), Data([0xff, 0xf1, 0x50, 0x80, 0, 0x1f, 0xfc]),
        Data([0xff, 0xf9, 0x50, 0x80, 0, 0x1f, 0xfc]),
    ])
    func `packed audio is known by its tag or its first header`(bytes: Data) {
        #expect(ContainerKind(segment: bytes) == .packedAudio)
    }

    @Test(arguments: [
        Data(), Data("<html><body>Forbidden</body></html>".utf8), Data("#EXTM3U\n".utf8),
        Data("ffconcat version 1.0\n".utf8), Data([0x47]), Data([0x47] + [UInt8](repeating: 0, count: 399)),
        Data([0, 0, 0, 8] + Array("RIFF".utf8)),
    ])
    func `other bytes are not playable media`(bytes: Data) {
        #expect(ContainerKind(segment: bytes) == nil)
    }
}
