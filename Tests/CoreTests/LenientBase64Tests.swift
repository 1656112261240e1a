import Foundation
import LatchkeyCore
import Testing

@Suite struct LenientBase64Tests {
    // As text `++///gE=`, with both letters in which the alphabets differ.
    private static let bytes = Data([0xfb, 0xef, 0xff, 0xfe, 0x01])

    @Test(arguments: [
        "++///gE=", "--___gE=", "++///gE", "--___gE", "  ++///gE= ", " ++//\r\n/gE=\r\n", "++/\t//gE=", "++///gE===",
        "+-/_/gE",
    ])
    func `base64 in the vendors' forms is decoded`(text: String) {
        #expect(Data(lenientBase64: text) == Self.bytes)
    }

    @Test func `a space inside counts as the plus that a form body lost`() {
        #expect(Data(lenientBase64: "//// ///gE=") == Data(lenientBase64: "////+///gE="))
    }

    @Test(arguments: ["", "=", "  \n", "a", "ab=cd", "<html>", "{\"ckc\":1}", "äöü="])
    func `text that is not base64 gives nothing`(text: String) {
        #expect(Data(lenientBase64: text) == nil)
    }
}
