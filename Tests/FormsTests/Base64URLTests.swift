import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyForms

@Suite struct Base64URLTests {
    @Test(arguments: [
        ("", ""), ("f", "Zg"), ("fo", "Zm8"), ("foo", "Zm9v"), ("foob", "Zm9vYg"), ("fooba", "Zm9vYmE"),
        ("~~?", "fn4_"),
        ("~~~", "fn5-"),
    ])
    func `bytes have one text`(_ bytes: String, _ text: String) {
        #expect(Base64URL.text(bytes.utf8) == text)
        #expect(Base64URL.bytes(of: text.utf8) == Array(bytes.utf8))
    }

    @Test(arguments: [
        "Zg==", "Zm8=", "Z", "Zm9vY", "Zh", "Zm9=", "Zm+v", "Zm/v", " Zg", "Zg\n", "Z g", "Zé", "Zm9vYmF",
    ])
    func `any other text is refused`(_ text: String) {
        #expect(Base64URL.bytes(of: text.utf8) == nil)
    }

    @Test(arguments: 0..<200) func `random bytes come back, as in Foundation's base64`(_ seed: Int) {
        var generator = SeededGenerator(seed: UInt64(seed))
        let bytes = (0..<seed).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
        let text = Base64URL.text(bytes)
        #expect(Base64URL.bytes(of: text.utf8) == bytes)
        let standard = Data(bytes).base64EncodedString().replacing("=", with: "")
        #expect(text.replacing("-", with: "+").replacing("_", with: "/") == standard)
    }
}
