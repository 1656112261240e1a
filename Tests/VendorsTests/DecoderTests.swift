import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

@Suite struct CKCDecoderTests {
    static let ckc = SampleBytes.ckc(3)
    static let base64 = ckc.base64EncodedString()
    static let urlSafe = base64.inURLSafeAlphabet.filter { $0 != "=" }
    static let lines = ckc.base64EncodedString(options: .lineLength64Characters)
    static let either: CKCDecoder = .jsonOr(["ckc", "a.b"], .raw)

    /// Typed one by one: the compiler takes five seconds for the types of the list alone.
    private static func reply(_ decoder: CKCDecoder, _ body: String) -> (CKCDecoder, Data) {
        (decoder, Data(body.utf8))
    }

    static let replies: [(CKCDecoder, Data)] = [
        (.raw, ckc), (either, ckc), (.tolerant, ckc), reply(.base64Text, " \(base64)\n"),
        reply(.base64Text, urlSafe), reply(.base64Text, lines), reply(.tagged, "<ckc>\(base64)</ckc>"),
        reply(.tagged, base64), reply(.json(["ckc"]), #"{"ckc":"\#(base64)"}"#),
        reply(.json(["x", "a.0.b"]), #"{"a":[{"b":"\#(base64)"}]}"#),
        reply(.json(["ckc"]), #"{"ckc":"<ckc>\#(base64)</ckc>"}"#),
        reply(either, "\n {\"a\":{\"b\":\"\(base64)\"}}"), reply(.tolerant, base64),
        reply(.tolerant, "<ckc>\(base64)</ckc>\n"), reply(.tolerant, #"{"License":"\#(base64)"}"#),
        reply(.tolerant, #"{"CkcMessage":"\#(base64)"}"#),
    ]

    @Test(arguments: replies)
    func `takes the CKC out of the reply`(decoder: CKCDecoder, body: Data) throws {
        #expect(try decoder.contentKeyContext(from: body).revealed == Self.ckc)
    }

    static let usual: [Data] = [
        ckc, Data(base64.utf8), Data("<ckc>\(base64)</ckc>".utf8), Data(#"{"ckc":"\#(base64)"}"#.utf8),
    ]

    @Test(arguments: [CKCDecoder.preferring(.raw), .preferring(.tagged), .preferring(.json(["ckc"]))], usual)
    func `takes the CKC out of any usual reply if one form is only preferred`(decoder: CKCDecoder, body: Data) throws {
        #expect(try decoder.contentKeyContext(from: body).revealed == Self.ckc)
    }

    static let decoders: [CKCDecoder] = [
        .raw, .base64Text, .tagged, .json(["ckc"]), either, .tolerant, .preferring(.raw),
    ]
    static let page = "<!DOCTYPE html><html><body>" + String(repeating: "Störung ", count: 80) + "</body></html>"
    static let pages = (500...514).map { Data(page.utf8.prefix($0)) } + [page.data(using: .isoLatin1) ?? Data()]
    static let texts = [
        "", " \n", "<?xml version=\"1.0\"?><error/>", "Not authorized", "the license could not be made for this asset",
        #"{"error":"expired","message":"no"}"#, #"{"ckc":null}"#, #"{"ckc":""}"#, #"{"ckc":"***"}"#,
        #"{"ckc":"no key for you"}"#, "[1]", "{", "AAAAAQ==", "\u{feff}<html>",
    ]
    static let damaged: [Data] = [
        ckc.prefix(27), SampleBytes.ckc(cutting: 1), SampleBytes.ckc(cutting: 64), SampleBytes.ckc() + Data([0]),
        Data("Fehler: ung\u{fc}ltig".utf16.map { UInt8($0) }),
    ]
    static let wrong: [Data] = pages + texts.map { Data($0.utf8) } + damaged

    @Test(arguments: decoders, wrong)
    func `takes nothing else for a CKC`(decoder: CKCDecoder, body: Data) {
        let error = #expect(throws: IntegrationError.self) { try decoder.contentKeyContext(from: body) }
        #expect(error?.kind == .licenseMalformed)
    }

    @Test(arguments: [
        (Data(), "The license service answered with an empty body."),
        (Data("<html>".utf8), "The reply should be the CKC, and is an HTML page."),
        (SampleBytes.ckc(cutting: 4), "The reply is a CKC that is cut off: 88 bytes instead of 92."),
        (Data([0, 0, 0, 1]), "The reply is an SPC or CKC that is cut short or has bytes too many."),
        (SampleBytes.ckc() + Data([9]), "The reply is a CKC with bytes too many: 93 instead of 92."),
        (Data(count: 64), "The reply should be the CKC, and is data of no known form (64 bytes)."),
    ])
    func `names other content`(body: Data, expected: String) {
        let error = #expect(throws: IntegrationError.self) { try CKCDecoder.raw.contentKeyContext(from: body) }
        #expect(error?.reason == expected)
    }

    @Test(
        arguments: zip(
            usual,
            [
                nil, "base64 text of a CKC", "XML whose element “ckc” is base64 text of a CKC",
                "JSON whose member “ckc” is base64 text of a CKC",
            ]))
    func `a CKC in an unexpected form is read with a warning`(body: Data, form: String?) throws {
        let (ckc, warning) = try CKCDecoder.preferring(.raw).ckc(in: body)
        #expect(ckc.revealed == Self.ckc)
        #expect(warning?.code == form.map { _ in "unusualForm" })
        #expect(warning.map { $0.text.hasPrefix("The CKC came as \(form ?? "?"),") } ?? true)
        #expect(warning?.text.contains(Self.base64.prefix(12)) != true)
    }

    @Test func `a reply in no form is refused in the vendor's terms`() {
        let error = #expect(throws: IntegrationError.self) { try CKCDecoder.preferring(.raw).ckc(in: Data("no".utf8)) }
        #expect(error?.reason == "The reply should be the CKC, and is text of no known form (2 bytes).")
    }

    @Test func `a CKC of another version is left to the player`() throws {
        let other = Data([0, 0, 0, 2]) + Data(repeating: 7, count: 40)
        #expect(try CKCDecoder.raw.contentKeyContext(from: other).revealed == other)
    }
}

@Suite struct CertificateDecoderTests {
    static let der = SampleBytes.certificate
    static let base64 = der.base64EncodedString()
    static let pem =
        "-----BEGIN CERTIFICATE-----\r\n\(der.base64EncodedString(options: .lineLength64Characters))"
        + "\r\n-----END CERTIFICATE-----\r\n"

    @Test(arguments: [
        (CertificateDecoder.der, der), (.base64Text, Data(" \(base64)\n".utf8)), (.base64Text, Data(pem.utf8)),
        (.json("a.cert"), Data(#"{"a":{"cert":"\#(base64)"}}"#.utf8)), (.sniff, der), (.sniff, Data(base64.utf8)),
        (.sniff, Data(pem.utf8)), (.sniff, Data((pem + pem).utf8)), (.sniff, Data("subject=CN = FPS\n\(pem)".utf8)),
    ])
    func `takes the certificate out of the reply`(decoder: CertificateDecoder, body: Data) throws {
        #expect(try decoder.certificate(from: body).bytes == Self.der)
    }

    @Test(
        arguments: [CertificateDecoder.der, .base64Text, .json("cert"), .sniff],
        [
            Data(), Data("<html>".utf8), Data(#"{"error":1}"#.utf8), der.dropLast(), Data([0x30, 3, 1, 1, 1]),
            Data([0x30, 0x82, 0xff, 0xff, 0]), Data([0x30]), Data("-----BEGIN CERTIFICATE-----".utf8),
            Data("not a certificate".utf8), Data(der.hexString.utf8), Data("0\(der.hexString)".utf8),
            Data(String(decoding: der, as: UTF8.self).utf8),
        ])
    func `takes nothing else for a certificate`(decoder: CertificateDecoder, body: Data) {
        let error = #expect(throws: IntegrationError.self) { try decoder.certificate(from: body) }
        #expect(error?.kind == .certificateMalformed)
    }

    /// As large as a certificate, and nothing that anybody can name.
    static let bundle = Data((0..<1_432).map { UInt8(truncatingIfNeeded: $0 &* 73 &+ 129) })

    @Test(arguments: [
        (CertificateDecoder.der, bundle), (.sniff, bundle), (.base64Text, Data(bundle.base64EncodedString().utf8)),
        (.json("a.cert"), Data(#"{"a":{"cert":"\#(bundle.base64EncodedString())"}}"#.utf8)),
    ])
    func `passes on a possible certificate bundle, and names its form`(
        decoder: CertificateDecoder, body: Data
    ) throws {
        let certificate = try decoder.certificate(from: body)
        #expect(certificate.bytes == Self.bundle)
        #expect(certificate.unrecognizedFormat?.hasSuffix("data of no known form (1432 bytes)") == true)
    }

    @Test func `a certificate with a bundle behind it is known`() throws {
        let certificate = try ApplicationCertificate(Self.der + Self.bundle)
        #expect(certificate.unrecognizedFormat == nil && certificate.bytes.count == Self.der.count + Self.bundle.count)
    }

    /// A DER sequence of 259 bytes that begins like a file of another kind.
    private static func sequence(_ start: [UInt8]) -> Data {
        Data([0x30, 0x82, 0x00, 0xff] + start) + Data(count: 255 - start.count)
    }

    @Test(arguments: [
        (sequence([0x02, 0x01, 0x03]), "a PKCS#12 file, a certificate with its private key"),
        (sequence([0x02, 0x01, 0x00]), "a private key"),
        (sequence([0x02, 0x01, 0x01]), "a private key"),
        (der.dropLast(), "a certificate that is cut off: 259 bytes instead of 260"),
        (Data([0x30, 3, 1, 1, 1]), "data of no known form (5 bytes)"), (Data(), "empty"),
        (Data("Not found.".utf8), "text of no known form (10 bytes)"), (Data("<Error/>".utf8), "XML"),
        (Data(der.hexString.utf8), "hexadecimal text of a certificate"), (Data(pem.utf8), "a certificate as PEM text"),
        (Data(base64.utf8), "base64 text of a certificate"),
        (bundle.prefix(127), "data of no known form (127 bytes)"),
    ])
    func `refuses other recognizable content`(bytes: Data, form: String) {
        let error = #expect(throws: IntegrationError.self) { try ApplicationCertificate(bytes) }
        #expect(error?.reason == "The received certificate is \(form).")
    }
}
