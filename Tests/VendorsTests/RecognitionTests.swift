import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyVendors

/// The recognizer on hostile input.
@Suite(.timeLimit(.minutes(2))) struct RecognitionTests {
    /// Starts that lead into each of its readers.
    private static let starts: [[UInt8]] = [
        [], [0, 0, 0, 1], [0, 0, 0, 2], [0x30, 0x82], [0x30, 0x83, 0xff, 0xff, 0xff], [0x30, 0x80], [0xef, 0xbb, 0xbf],
        [0xff, 0xfe], [0x1f, 0x8b, 8], [8, 2, 0x12, 0xff, 0xff], [8, 4], Array("{\"a\":\"".utf8), Array("[1,".utf8),
        Array("<a>".utf8), Array("<30".utf8), Array("data:;base64,".utf8), Array("spc=".utf8), Array("--b\n".utf8),
        Array("-----BEGIN CERTIFICATE-----".utf8), Array("%".utf8), Array("\"".utf8), Array("'".utf8), Array("0x".utf8),
    ]
    private static let alphabets: [[UInt8]] = [
        Array(0...255), Array("AAAAAAEQ+/=-_ \n".utf8), Array("0123456789abcdef:,x ".utf8),
        Array("{}[]\",:\\0u<>&=%-'".utf8), [0, 1, 0x30, 0x82, 0xff, 3],
    ]

    @Test(arguments: 0..<40)
    func `random bytes are named and never end the process`(seed: Int) {
        var random = SeededGenerator(seed: UInt64(seed))
        for start in Self.starts {
            for alphabet in Self.alphabets {
                let count = Int.random(in: 0...400, using: &random)
                let rest = (0..<count).compactMap { _ in alphabet.randomElement(using: &random) }
                let found = Recognition(Data(start + rest))
                #expect(!found.noun.isEmpty && !found.name.isEmpty && found.layers.count <= 8)
            }
        }
    }

    @Test func `no part of key exchange data passes for the whole, and no flipped bit gives an absurd length`() {
        for whole in [SampleBytes.certificate, SampleBytes.ckc()] {
            for count in whole.indices { #expect(Recognition(whole.prefix(count)) != Recognition(whole)) }
            for place in whole.indices {
                var changed = whole
                changed[place] ^= UInt8(1 << (place % 8))
                #expect(!Recognition(changed).noun.contains(/instead of [0-9]{6}/))
            }
        }
    }

    /// A certificate that says to be longer, a CKC in whose place an SPC stands: the figure has to be one that such a thing can have.
    @Test(arguments: [
        (
            Data([0, 0, 0, 1]) + Data(repeating: 0x64, count: 1_036),
            "an SPC or CKC that is cut short or has bytes too many"
        ),
        (
            Data([0, 0, 0, 1]) + Data(repeating: 0xff, count: 24),
            "an SPC or CKC that is cut short or has bytes too many"
        ),
        (Data([0x30, 0x83, 0x64, 0x12, 0xc4]) + Data(repeating: 0x30, count: 300), "data of no known form"),
        (SampleBytes.certificate.dropLast(60), "a certificate that is cut off: 200 bytes instead of 260"),
        (SampleBytes.ckc(cutting: 12), "a CKC that is cut off: 80 bytes instead of 92"),
    ])
    func `an impossible length is left out`(bytes: Data, noun: String) {
        #expect(Recognition(bytes).noun == noun)
    }

    @Test(arguments: [
        ("{\"a\":", 50_000, "JSON"), ("[", 250_000, "JSON"), ("<a>", 80_000, "XML"),
        ("%25", 80_000, "text of no known form"),
        ("spc=%3D&", 30_000, "a form body whose field “spc” is text of no known form"),
        ("ab:", 80_000, "hexadecimal text of data of no known form"), ("0x0x", 60_000, "text of no known form"),
        ("a=b&", 60_000, "text of no known form"), ("x", 3_000_000, "text of no known form"),
        ("<html>", 500_000, "an HTML page"),
    ])
    func `input of realistic size is read to its end`(piece: String, count: Int, noun: String) {
        #expect(Recognition(String(repeating: piece, count: count)).noun == noun)
    }

    @Test func `nested base64 is followed a few times and no further`() {
        var text = SampleBytes.ckc().base64EncodedString()
        for _ in 0..<12 { text = Data(text.utf8).base64EncodedString() }
        #expect(Recognition(text).layers.count <= 4)
    }

    /// A name in a document comes from anywhere, and a token in its place is not shown.
    @Test func `a member's name is shown in one line, without likely secrets`() {
        let ckc = SampleBytes.ckc().base64EncodedString()
        let named = Recognition("{\"a\\u202e\\nb\":\"\(ckc)\"}").noun
        #expect(!named.unicodeScalars.contains { "\n\u{202e}".unicodeScalars.contains($0) })
        #expect(named.hasSuffix("is base64 text of a CKC"))
    }

    @Test(
        arguments: [
            ([0x30, 0x0c, 2, 1, 3, 0x30, 7], "a PKCS#12 file, a certificate with its private key"),
            ([0x30, 0x0a, 2, 1, 0, 0x30, 5], "a private key"), ([0x30, 0x0a, 2, 1, 1, 4, 5], "a private key"),
        ] as [([UInt8], String)])
    func `keys are known by their version`(start: [UInt8], noun: String) {
        #expect(Recognition(Data(start + [UInt8](repeating: 0, count: 12))).noun == noun)
    }

    @Test(arguments: [
        ("edef8ba979d64acea3c827dcd51d21ed", "a Widevine pssh box"),
        ("9a04f07998404286ab92e65be0885f95", "a PlayReady pssh box"),
        ("00000000000000000000000000000000", "a pssh box"),
    ])
    func `a pssh box is not a later CKC version`(system: String, noun: String) throws {
        let box = Data([0, 0, 0, 52]) + Data("pssh".utf8) + Data(count: 4)
        let identifier = try #require(Data(hexString: system))
        #expect(Recognition(box + identifier + Data(count: 24)).noun == noun)
        #expect(throws: IntegrationError.self) { try CKCDecoder.raw.contentKeyContext(from: box + identifier) }
    }

    /// Structure before words: Axinom's FairPlay address ends in AcquireLicense, so that its gateways' pages have the word.
    @Test(arguments: [
        ("<!DOCTYPE html><html><body><pre>Cannot POST /AcquireLicense</pre></body></html>", "an HTML page"),
        ("<html><p>AcquireLicenseResponse and WRMHEADER</p></html>", "an HTML page"),
        ("<pre>Cannot POST /AcquireLicense</pre>", "an HTML page"),
        ("<!-- <soap:Envelope><AcquireLicense> --><html></html>", "an HTML page"),
        ("<Error><Code>NoSuchKey</Code><Key>AcquireLicense</Key></Error>", "XML"),
        ("<?xml version=\"1.0\"?><!-- AcquireLicense --><Error><Message>WRMHEADER</Message></Error>", "XML"),
        ("<soap:Envelope><soap:Body><a>AcquireLicense</a></soap:Body></soap:Envelope>", "XML"),
        (
            "<?xml version=\"1.0\"?><soap:Envelope><soap:Body><AcquireLicense xmlns=\"x\"/></soap:Body></soap:Envelope>",
            "a PlayReady license request"
        ),
        (
            "<s:Envelope><s:Body><p:AcquireLicenseResponse/></s:Body></s:Envelope>", "a PlayReady license"
        ),
        ("<WRMHEADER version=\"4.0.0.0\"></WRMHEADER>", "a PlayReady header"),
    ])
    func `a page is a page, whatever its words (S4)`(text: String, noun: String) {
        #expect(Recognition(text).noun == noun)
    }

    @Test(arguments: [
        ("ERROR|403|playback denied|device limit reached", "text of no known form"),  // b33
        (
            "version https://git-lfs.github.com/spec/v1\noid sha256:0123\nsize 1190\n",
            "a pointer of Git LFS in place of the file"
        ),  // b31
        (
            "{\"sinf\":[\"AAAAYXNpbmYAAAAMZnJtYW1wNGEAAAAUc2NobQAAAABjYmNzAAEAAAAAADlzY2hpAAAAMXRlbmMBAAAAAAABAAEjRWeJq83vASNFZ4mrze8QAAECAwQFBgcICQoLDA0ODw==\"]}",
            "the initialization data of a browser's encrypted event (sinf) for the key ID 0123456789abcdef0123456789abcdef"
        ),  // b32
    ])
    func `input given by mistake is named`(text: String, noun: String) {
        #expect(Recognition(text).noun == noun)
    }

    @Test(arguments: [
        ("numbers", "Take the member “data”, then write its numbers as bytes."),
        ("base64", "Take the member “data”, then undo its base64."),
        ("hexadecimal", "Take the member “data”, then undo its hexadecimal digits."),
    ])
    func `a member's remedy follows from its own encoding (k13)`(dress: String, remedy: String) {
        let ckc = SampleBytes.ckc()
        let value =
            switch dress {
            case "numbers": "[\(ckc.map { "\($0)" }.joined(separator: ","))]"
            case "base64": "\"\(ckc.base64EncodedString())\""
            default: "\"\(ckc.hexString)\""
            }
        #expect(Recognition("{\"data\":\(value)}").unwrapping == remedy)
    }
}
