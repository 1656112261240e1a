import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct RecognitionTests {
    /// An SPC and a CKC that answers it, and their certificate.
    private static func made() async throws -> (spc: Data, ckc: Data, certificate: Data, sha1: String) {
        let files = try LicenseFiles()
        await files.credentials()
        _ = await files.spc()
        _ = await files.ckc()
        let certificate = try #require(files.folder.contents("c/certificate.der"))
        let sha1 = try FairPlayCertificate(certificate).fingerprint.hexString
        return (
            try #require(files.folder.contents("a.spc")), try #require(files.folder.contents("a.ckc")), certificate,
            sha1
        )
    }

    @Test func `key exchange data is recognized in every encoding`() async throws {
        let made = try await Self.made()
        let spc = Recognition.spc(certificate: made.sha1)
        let base64 = made.spc.base64EncodedString()
        let escaped = base64.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
        #expect(Recognition(made.spc) == spc)
        #expect(Recognition(made.ckc) == .ckc)
        #expect(Recognition(made.certificate) == .certificate)
        #expect(Recognition(Data("\(base64)\n".utf8)) == .base64(spc))
        #expect(Recognition(Data(Data(base64.utf8).base64EncodedString().utf8)) == .base64(.base64(spc)))
        #expect(Recognition(Data(made.spc.hexString.uppercased().utf8)) == .hexadecimal(spc))
        #expect(Recognition(Data("spc=\(escaped)&assetId=a".utf8)) == .form(field: "spc", .base64(spc)))
        #expect(Recognition(Data("spc=\(base64)".utf8)) == .form(field: "spc", .base64(spc)))
        #expect(Recognition(Data(#"{"a":[{"b":"\#(base64)"}]}"#.utf8)) == .json(field: "b", .base64(spc)))
        let numbers = made.spc.map { "\($0)" }.joined(separator: ",")
        #expect(Recognition(Data(numbers.utf8)) == .numbers(spc))
        #expect(Recognition(made.spc.map { "\(Int8(bitPattern: $0))" }.joined(separator: ", ")) == .numbers(spc))
        let members = made.spc.enumerated().map { "\"\($0)\":\($1)" }.joined(separator: ",")
        #expect(Recognition("{\(members)}") == .numbers(spc) && Recognition("[\(numbers)]") == .numbers(spc))
        #expect(Recognition("<\(made.spc.hexString)>") == .hexadecimal(spc))
        #expect(Recognition(made.spc.map { "0x" + [$0].hexString }.joined(separator: ",")) == .hexadecimal(spc))
        #expect(
            Recognition(Data(#"{"ckc":{"type":"Buffer","data":[\#(numbers)]}}"#.utf8))
                == .json(field: "data", .numbers(spc)))
        #expect(Recognition(Data("spc%3D\(escaped)".utf8)) == .percentEncoded(.form(field: "spc", .base64(spc))))
        #expect(Recognition(Data("spc=\(escaped.replacing("%", with: "%25"))".utf8)).core == spc)
        #expect(Recognition(Data("data:application/octet-stream;base64,\(base64)".utf8)) == .dataURI(spc))
        for end in ["\r\n", "\n"] {
            let part = ["--b", "Content-Disposition: form-data; name=\"spc\"", "", base64, "--b--", ""]
            #expect(Recognition(Data(part.joined(separator: end).utf8)) == .form(field: "spc", .base64(spc)))
        }
        #expect(Recognition(String(decoding: made.spc, as: UTF8.self)) == .readAsText(.spcOrCKC))
        #expect(Recognition(String(decoding: made.certificate, as: UTF8.self)) == .readAsText(.certificate))
        let count = made.spc.count
        #expect(Recognition(made.spc.dropLast()) == .damaged(.spc, count: count - 1, stated: count))
        let length = made.ckc.count
        #expect(Recognition(made.ckc + [0]) == .damaged(.ckc, count: length + 1, stated: length))
    }

    @Test func `base64 that ends in a plus is also whole in a form`() {
        let spc = Data([0, 0, 0, 1]) + Data(count: 171) + Data([112]) + Data(repeating: 0xfe, count: 112)
        let base64 = spc.base64EncodedString()
        #expect(base64.hasSuffix("+"))
        let certificate = String(repeating: "0", count: 40)
        #expect(Recognition("spc=\(base64)") == .form(field: "spc", .base64(.spc(certificate: certificate))))
    }

    @Test func `a bundle around a certificate differs from unknown data`() async throws {
        let made = try await Self.made()
        #expect(Recognition(Data([9, 9, 9, 9, 200]) + made.certificate) == .bundle)
        #expect(Recognition(Data([9, 9, 9, 9, 200, 255])) == .unknown)
    }

    @Test(arguments: [
        ("", Recognition.empty), (" \n", .empty), ("<html>", .webPage), ("#EXTM3U\n", .playlist),
        ("hello there", .text),
        ("-----BEGIN RSA PRIVATE KEY-----", .privateKey), ("-----BEGIN PUBLIC KEY-----", .pem(label: "PUBLIC KEY")),
        (#"{"error":"no"}"#, .json(field: nil, .text)), ("hunter2hunter2", .text), ("<a/>", .xml(element: nil, .text)),
        ("undefined", .placeholder("undefined")), ("481 bytes", .placeholder("481 bytes")),
        ("{length = 481, bytes = 0x3082}", .placeholder("{length = …}")), ("\u{feff} <HTML>", .webPage),
        (#"{"keys":[{"kty":"oct","k":"AA","kid":"AA"}]}"#, .otherSystem(name: "Clear Key", message: "license")),
        (String(repeating: "xy", count: 5_000) + " c", .text),
        (String(repeating: "[", count: 100_000), .json(field: nil, .text)),
    ])
    func `text is recognized`(text: String, kind: Recognition) {
        #expect(Recognition(Data(text.utf8)) == kind)
    }

    @Test func `an SPC in place of a CKC is named, and the reverse`() async throws {
        let made = try await Self.made()
        let swapped = MistakenFile(made.spc, takenFor: .ckc)?.finding
        #expect(
            swapped?.code == "ckcIsSPC"
                && swapped?.remedy == "Use the command for its kind: latchkey inspect spc FILE.")
        #expect(MistakenFile(made.ckc, takenFor: .spc)?.finding.code == "spcIsCKC")
        #expect(MistakenFile(made.spc, takenFor: .spc) == nil)
    }

    @Test(arguments: [
        ("spc", "spc=AAAA", "spcIsForm"), ("certificate", "<html></html>", "certificateIsHTML"),
        ("ckc", #"{"error":"expired"}"#, "ckcIsJSON"), ("token", "-----BEGIN PRIVATE KEY-----", "tokenIsPrivateKey"),
    ])
    func `inspect names a file of another kind`(kind: String, text: String, code: String) async {
        let run = await RecordedRun(["inspect", kind, "-", "--json"], tool: .standard, input: Data(text.utf8))
        #expect(run.status == .no && run.errorCode == code)
        #expect(run.json["found"] is String && run.json["bytes"] as? Int == text.utf8.count)
    }

    @Test func `a certificate of unknown form may be a bundle`() async {
        let bytes = Data((0..<600).map { UInt8(truncatingIfNeeded: $0 &* 37 &+ 129) })
        let run = await RecordedRun(["inspect", "certificate", "-"], tool: .standard, input: bytes)
        #expect(run.status == .yes && run.output.contains("(certificateBundle)"))
    }

    @Test func `the prefix Bearer is not part of a token`() async {
        let claims = Data(#"{"exp":4102444800}"#.utf8).base64EncodedString().prefix { $0 != "=" }
        let token = "Bearer eyJhbGciOiJIUzI1NiJ9.\(claims).c2ln"
        let run = await RecordedRun(["inspect", "token", "-"], tool: .standard, input: Data(token.utf8))
        #expect(run.status == .yes && run.output.contains("JSON Web Token") && run.output.contains("(bearerPrefix)"))
        #expect(!run.output.contains("c2ln"))
    }
}
