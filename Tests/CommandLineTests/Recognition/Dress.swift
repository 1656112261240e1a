import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyVendors

/// Bytes that came in place of a certificate or a CKC, and how every face has to name them.
///
/// The inputs `c…`, `k…` and `l…` of the report on clients' trouble are rebuilt here from credentials of the test's own.
struct Dress: Sendable, CustomTestStringConvertible {
    let name: String
    /// The kind that was expected.
    let place: Inspection.Kind
    let noun: String
    /// Whether a client of `generic-raw` accepts it; it reads every usual form.
    let isTaken: Bool
    let make: @Sendable (RecordedTraffic.Parts) -> Data

    var testDescription: String { "\(name) as \(place.rawValue): \(noun)" }

    static let all = certificates + ckcs

    private static func certificate(
        _ name: String, _ noun: String, taken: Bool = false, _ make: @escaping @Sendable (Data) -> Data
    ) -> Dress {
        Dress(name: name, place: .certificate, noun: noun, isTaken: taken) { make($0.certificate) }
    }

    private static func ckc(
        _ name: String, _ noun: String, taken: Bool = false, _ make: @escaping @Sendable (Data) -> Data
    ) -> Dress {
        Dress(name: name, place: .ckc, noun: noun, isTaken: taken) { make($0.ckc) }
    }

    // In the place of a certificate.

    private static let certificates: [Dress] = [
        certificate("DER", "a certificate", taken: true) { $0 },
        certificate("a line's end behind it (c08)", "a certificate", taken: true) { $0 + Data("\n".utf8) },
        certificate("base64 in lines", "base64 text of a certificate", taken: true) { $0.lines },
        certificate("URL-safe base64 (c02)", "base64 text of a certificate", taken: true) { $0.urlSafe },
        certificate("PEM", "a certificate as PEM text", taken: true) { $0.pem("CERTIFICATE") },
        certificate("BOM and base64 (c01)", "base64 text of a certificate behind a byte order mark") {
            $0.base64.marked
        },
        certificate("BOM and DER", "a certificate behind a byte order mark") { $0.marked },
        certificate("quoted (c03)", "base64 text of a certificate in quotation marks") { $0.base64.quoted("\"") },
        certificate("quoted singly", "base64 text of a certificate in quotation marks") { $0.base64.quoted("'") },
        certificate("JSON (c04)", "JSON whose member “certificate” is base64 text of a certificate") {
            $0.base64.member("certificate")
        },
        certificate("list of numbers (c06)", "a list of numbers that are a certificate") { $0.numbers },
        certificate("a script's warning before it (c07)", "a certificate behind other text") { phpWarning + $0 },
        certificate("a script's warning before base64", "base64 text of a certificate behind other text") {
            phpWarning + $0.base64
        },
        certificate("response.text() (c10)", "a certificate, read as text and lost by that") { $0.readAsText },
        certificate("data: URI (c11)", "a data: URI of a certificate") {
            Data("data:application/x-x509-ca-cert;base64,".utf8) + $0.base64
        },
        certificate("hexadecimal (c12)", "hexadecimal text of a certificate") { Data($0.hexString.utf8) },
        certificate("hexadecimal with colons", "hexadecimal text of a certificate") {
            Data($0.map { [$0].hexString }.joined(separator: ":").utf8)
        },
        certificate("[object Object] (c13)", "“[object Object]”, which a program writes in place of a value") { _ in
            Data("[object Object]".utf8)
        },
        certificate("base64 of PEM", "base64 text of a certificate as PEM text") { $0.pem("CERTIFICATE").base64 },
        certificate("UTF-16 of base64", "UTF-16 text: base64 text of a certificate") { $0.base64.utf16 },
        certificate("UTF-16 without a mark", "UTF-16 text: base64 text of a certificate") {
            Data($0.base64.utf16.dropFirst(2))
        },
        certificate("a character for each byte", "text with a character for each byte of a certificate") {
            $0.asCharacters
        },
        certificate("gzip", "data compressed by gzip") { _ in gzip },
        certificate("a private key", "a private key") { $0.pem("RSA PRIVATE KEY") },
        certificate("a signing request", "PEM text (CERTIFICATE REQUEST)") { $0.pem("CERTIFICATE REQUEST") },
        certificate("PEM of nothing", "PEM text (CERTIFICATE without one inside)") { _ in
            Data("hello, hello, hello".utf8).pem("CERTIFICATE")
        },
        certificate("an error of DoveRunner (c05b)", "JSON") { _ in
            Data(#"{"errorCode":"7301","message":"no FairPlay certificate for the site"}"#.utf8)
        },
        certificate("a page", "an HTML page") { _ in Data("<!DOCTYPE html><html><title>Sign in</title></html>".utf8) },
        certificate("a refusal of a bucket", "XML") { _ in Data("<Error><Code>AccessDenied</Code></Error>".utf8) },
        certificate("words", "text of no known form") { _ in Data("Not found. Ask the support team.".utf8) },
        Dress(name: "SPC", place: .certificate, noun: "an SPC", isTaken: false) { $0.spc },
    ]

    // In the place of a CKC.

    private static let ckcs: [Dress] = [
        ckc("bytes", "a CKC", taken: true) { $0 },
        ckc("base64", "base64 text of a CKC", taken: true) { $0.base64 },
        ckc("base64 in lines (k01)", "base64 text of a CKC", taken: true) { $0.lines },
        ckc("blanks for plus signs (k07)", "base64 text of a CKC", taken: true) {
            Data($0.base64EncodedString().replacing("+", with: " ").utf8)
        },
        ckc("tagged", "XML whose element “ckc” is base64 text of a CKC", taken: true) {
            Data("<ckc>".utf8) + $0.base64 + Data("</ckc>".utf8)
        },
        ckc("JSON", "JSON whose member “ckc” is base64 text of a CKC", taken: true) { $0.base64.member("ckc") },
        ckc("JSON of another member (k05)", "JSON whose member “license” is base64 text of a CKC") {
            $0.base64.member("license")
        },
        ckc("JSON of bytes (k13)", "JSON whose member “data” is a list of numbers that are a CKC") {
            Data(#"{"ckc":{"type":"Buffer","data":["#.utf8) + $0.numbers + Data("]}}".utf8)
        },
        ckc("JSON of hexadecimal", "JSON whose member “ckc” is hexadecimal text of a CKC") {
            Data($0.hexString.utf8).member("ckc")
        },
        ckc("an array of JavaScript", "a list of numbers that are a CKC") { bytes in
            let members = bytes.enumerated().map { "\"\($0)\":\($1)" }.joined(separator: ",")
            return Data("{\(members)}".utf8)
        },
        ckc("base64 twice (k04)", "base64 text of base64 text of a CKC") { $0.base64.base64 },
        ckc("quoted (k06)", "base64 text of a CKC in quotation marks") { $0.base64.quoted("\"") },
        ckc("hexadecimal", "hexadecimal text of a CKC") { Data($0.hexString.utf8) },
        ckc("a description of NSData", "hexadecimal text of a CKC") { Data("<\($0.hexString)>".utf8) },
        ckc("percent-encoded", "percent-encoded text of base64 text of a CKC") {
            Data($0.base64EncodedString().addingPercentEncoding(withAllowedCharacters: .alphanumerics)?.utf8 ?? "".utf8)
        },
        ckc("a script's warning before it", "base64 text of a CKC behind other text") { phpWarning + $0.base64 },
        ckc("response.text()", "an SPC or CKC, read as text and lost by that") { $0.readAsText },
        ckc("cut off (k10)", "a CKC that is cut off: 200 bytes instead of 332") { _ in
            Data([0, 0, 0, 1]) + Data(count: 20) + Data([0, 0, 1, 0x30]) + Data(repeating: 0xa5, count: 172)
        },
        ckc("a byte too many", "a CKC with bytes too many: 45 instead of 44") { _ in
            Data([0, 0, 0, 1]) + Data(count: 20) + Data([0, 0, 0, 16]) + Data(repeating: 0xa5, count: 17)
        },
        Dress(name: "the SPC, sent back (k09)", place: .ckc, noun: "an SPC", isTaken: false) { $0.spc },
        Dress(
            name: "the form, sent back", place: .ckc, noun: "a form body whose field “spc” is base64 text of an SPC",
            isTaken: false
        ) { Data("spc=".utf8) + $0.spc.urlSafe + Data("&assetId=a".utf8) },
        Dress(name: "a certificate", place: .ckc, noun: "a certificate", isTaken: false) { $0.certificate },
        ckc("Widevine (k08)", "a Widevine license") { _ in widevine(2) },
        ckc("Widevine in JSON", "JSON whose member “license” is base64 text of a Widevine license") { _ in
            widevine(2).base64.member("license")
        },
        ckc("Widevine's challenge", "a Widevine license request") { _ in widevine(1) },
        ckc("PlayReady (k11)", "a PlayReady license") { _ in Data(playReady("AcquireLicenseResponse").utf8) },
        ckc("PlayReady in UTF-16", "UTF-16 text: a PlayReady license request") { _ in
            Data(playReady("AcquireLicense").utf8).utf16
        },
        ckc("Clear Key", "a Clear Key license") { _ in
            Data(#"{"keys":[{"kty":"oct","k":"AAAA","kid":"AAAA"}],"type":"temporary"}"#.utf8)
        },
        ckc("gzip", "data compressed by gzip") { _ in gzip },
        ckc("a segment", "an MP4 file") { _ in Data([0, 0, 0, 24]) + Data("ftypiso6".utf8) + Data(count: 12) },
        ckc("a token", "a token (jwt)") { _ in Data("eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiJ4In0.c2ln".utf8) },
        ckc("an error with 200 (k12)", "JSON") { _ in
            Data(#"{"errorCode":1014,"errorMessage":"spc: certificate hash mismatch"}"#.utf8)
        },
        ckc("a missing SPC (l01)", "JSON") { _ in
            Data(#"{"success":false,"message":"spc message cannot be null"}"#.utf8)
        },
        ckc("undefined", "“undefined”, which a program writes in place of a value") { _ in Data("undefined".utf8) },
        ckc("zeros", "data of no known form") { _ in Data(count: 640) },
        ckc("nothing", "empty") { _ in Data() },
    ]

    private static let phpWarning = Data(
        "<br />\n<b>Warning</b>:  readfile(): x in <b>/var/www/c.php</b> on line <b>3</b><br />\n".utf8)
    private static let gzip = Data([0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 3]) + Data(repeating: 0x9c, count: 300)

    /// A signed message of one type.
    private static func widevine(_ type: UInt8) -> Data {
        Data([8, type, 0x12, 0xb0, 0x02, 0x0a, 0xa0, 0x01]) + Data(repeating: 0x33, count: 302)
    }

    private static func playReady(_ element: String) -> String {
        """
        <?xml version="1.0"?><soap:Envelope xmlns:soap="http://schemas.xmlsoap.org/soap/envelope/"><soap:Body><\(element) \
        xmlns="http://schemas.microsoft.com/DRM/2007/03/protocols"/></soap:Body></soap:Envelope>
        """
    }
}

extension Data {
    fileprivate var base64: Data { Data(base64EncodedString().utf8) }

    fileprivate var lines: Data {
        Data(base64EncodedString(options: [.lineLength76Characters, .endLineWithLineFeed]).utf8) + Data("\n".utf8)
    }

    fileprivate var urlSafe: Data { Data(base64EncodedString().inURLSafeAlphabet.filter { $0 != "=" }.utf8) }

    fileprivate func pem(_ label: String) -> Data {
        Data("-----BEGIN \(label)-----\n".utf8) + lines + Data("-----END \(label)-----\n".utf8)
    }

    fileprivate var marked: Data { Data([0xef, 0xbb, 0xbf]) + self }

    fileprivate func quoted(_ mark: String) -> Data { Data(mark.utf8) + self + Data(mark.utf8) }

    /// As the member of a JSON document.
    fileprivate func member(_ name: String) -> Data { Data("{\"\(name)\":\"".utf8) + self + Data("\"}".utf8) }

    fileprivate var numbers: Data { Data(map { "\($0)" }.joined(separator: ",").utf8) }

    fileprivate var readAsText: Data { Data(String(decoding: self, as: UTF8.self).utf8) }

    fileprivate var asCharacters: Data {
        Data(String(String.UnicodeScalarView(map { Unicode.Scalar($0) })).utf8)
    }

    fileprivate var utf16: Data { String(decoding: self, as: UTF8.self).data(using: .utf16) ?? Data() }
}
