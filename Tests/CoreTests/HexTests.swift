import Foundation
import LatchkeyCore
import Testing

@Suite struct HexTests {
    @Test(
        arguments: [("", []), ("00ff", [0x00, 0xff]), ("dEaDbEeF", [0xde, 0xad, 0xbe, 0xef])] as [(String, [UInt8])])
    func `digits of either case become bytes`(text: String, bytes: [UInt8]) {
        #expect(Data(hexString: text) == Data(bytes))
    }

    @Test(arguments: ["0", "abc", "0x10", "gg", "00 11", "٣٣", "zz00", "0000\n"])
    func `anything but pairs of digits is refused`(text: String) {
        #expect(Data(hexString: text) == nil)
    }

    @Test func `every byte survives a trip to text and back`() {
        let all = Data(0...255)
        #expect(Data(hexString: all.hexString) == all)
        #expect(all.hexString.prefix(8) == "00010203")
    }
}
