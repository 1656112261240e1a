import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyFairPlay

@Suite struct ReportTests {
    @Test func `an SPC's header is read without credentials`() throws {
        let report = SPCReport(try SPCForge().spc())
        #expect(report.version == 1)
        #expect(report.certificateSHA1 == SPCForge.small.credential.certificate.fingerprint.hexString)
        #expect(report.payloadLength == SPCForge().plaintext().count)
        #expect(report.facts == nil)
        #expect(report.problems.isEmpty)
    }

    @Test func `credentials show the device's facts`() throws {
        let report = SPCReport(try SPCForge().spc(), module: SPCForge().module)
        #expect(report.certificateSubject == "O=Latchkey Test")
        #expect(report.facts?.assetID == "asset")
        #expect(report.facts?.playbackState == "ready to start")
        #expect(report.facts?.capabilities == ["hdcpEnforcement", "secureInvalidation"])
        #expect(report.facts?.requestedTags == ["b349d4809e910687", "000000000000feed"])
        #expect(report.blocks?.count == 13)
        #expect(report.problems.isEmpty)
    }

    @Test func `an SPC without a block shows the others`() throws {
        var forge = SPCForge()
        forge[.assetID] = nil
        let report = SPCReport(try forge.spc(), module: forge.module)
        #expect(report.problems.map(\.code) == ["missingTag"])
        #expect(report.blocks?.count == 12)
        #expect(report.facts == nil)
    }

    @Test(
        arguments: [([], "malformedContainer"), (Array("<html></html>".utf8), "unsupportedVersion")]
            as [([UInt8], String)])
    func `bytes that are not an SPC are reported`(bytes: [UInt8], code: String) {
        #expect(SPCReport(bytes).problems.map(\.code) == [code])
        #expect(SPCReport(bytes, module: SPCForge().module).problems.map(\.code) == [code])
    }

    @Test func `a CKC's terms show with its SPC`() throws {
        let forge = SPCForge()
        let ckc = try MadeCKC(forge, LicenseTerms(.lease(.seconds(300)), hdcp: .type1)).bytes
        let report = CKCReport(ckc, answering: try forge.module.open(forge.spc()))
        #expect(report.terms?.kind == "lease")
        #expect(report.terms?.lease == 300)
        #expect(report.terms?.hdcp == .type1)
        #expect(report.blocks?.count == 6)
        #expect(report.problems.isEmpty)
        #expect(CKCReport(ckc).terms == nil)
        #expect(CKCReport(ckc).problems.isEmpty)
    }

    @Test func `another SPC's CKC is a problem`() throws {
        var forge = SPCForge()
        let ckc = try MadeCKC(forge, LicenseTerms()).bytes
        forge[.antiReplaySeed] = [UInt8](repeating: 3, count: 16)
        let report = CKCReport(ckc, answering: try forge.module.open(forge.spc()))
        #expect(report.problems.map(\.code) == ["wrongSPC"])
    }

    @Test(
        arguments: [
            ([], "returnedBlockMissing"), (SPCForge.block(.transactionID, [9]), "returnedBlockChanged"),
            (
                SPCForge.block(.transactionID, [UInt8](1...8)).dropLast(8) + [UInt8](repeating: 0, count: 8),
                "returnedBlockPadded"
            ),
        ] as [([UInt8], String)])
    func `a changed requested block is reported`(block: [UInt8], code: String) throws {
        var forge = SPCForge()
        forge[.returnRequest] = TLLVTag.transactionID.rawValue.bigEndianBytes
        let context = try forge.module.open(forge.spc())
        let ckc = try sealedCKC(
            SPCForge.block(.r1, SPCForge.r1)
                + SPCForge.block(.contentKey, [UInt8](repeating: 0, count: 32)) + block)
        #expect(CKCReport(ckc, answering: context).problems.map(\.code) == [code])
    }

    @Test func `a CKC without a key and with unknown terms has two problems`() throws {
        var forge = SPCForge()
        forge[.returnRequest] = []
        let context = try forge.module.open(forge.spc())
        let ckc = try sealedCKC(
            SPCForge.block(.r1, SPCForge.r1)
                + SPCForge.block(.contentKeyDuration, [UInt8](repeating: 7, count: 16)))
        #expect(CKCReport(ckc, answering: context).problems.map(\.code) == ["noContentKey", "badTerms"])
    }

    @Test func `a certificate is reported with its private key`() throws {
        let date = Date()
        let small = SPCForge.small.credential
        let key = try SPCForge.small.privateKey.pem()
        let report = CertificateReport(small.certificate.der, privateKeysPEM: [key], at: date)
        #expect(report.matchesPrivateKey == true)
        #expect(report.problems.isEmpty)
        let other = try SPCForge.other.privateKey.pem()
        let mismatch = CertificateReport(small.certificate.der, privateKeysPEM: [other], at: date)
        #expect(mismatch.matchesPrivateKey == false)
        #expect(mismatch.problems.map(\.code) == ["privateKeyMismatch"])
        #expect(CertificateReport(Data(), at: date).problems.map(\.code) == ["certificateEmpty"])
    }

    @Test func `one private key among several is enough`() throws {
        let keys = try [SPCForge.other, SPCForge.small].map { try $0.privateKey.pem() }
        let report = CertificateReport(SPCForge.small.credential.certificate.der, privateKeysPEM: keys, at: Date())
        #expect(report.matchesPrivateKey == true)
        #expect(report.problems.isEmpty)
    }

    @Test func `a device that cannot enforce HDCP is a warning`() throws {
        var forge = SPCForge()
        forge[.capabilities] = nil
        let report = SPCReport(try forge.spc(), module: forge.module)
        #expect(report.problems.map(\.code) == ["hdcpNotEnforced"])
        #expect(report.problems.map(\.severity) == [.warning])
    }

    @Test func `an SPC's JSON has facts next to its header`() throws {
        let data = try JSONEncoder().encode(SPCReport(try SPCForge().spc(), module: SPCForge().module))
        let json = try #require(JSONSerialization.jsonObject(with: data) as? [String: Any])
        #expect(json["version"] as? Int == 1)
        #expect(json["assetID"] as? String == "asset")
        #expect(json["assetIDHex"] as? String == Data("asset".utf8).hexString)
        #expect(json["facts"] == nil)
    }

    @Test func `no report holds a secret`() throws {
        let forge = SPCForge()
        let spc = try forge.spc()
        let ckc = try MadeCKC(forge, LicenseTerms()).bytes
        let reports: [any Encodable] = [
            SPCReport(spc, module: forge.module), CKCReport(ckc, answering: try forge.module.open(spc)),
        ]
        let secrets = [SPCForge.sessionKey, SPCForge.r1, SPCForge.deviceIdentifier, MadeCKC.key, SPCForge.integrity]
        for report in reports {
            let text = String(decoding: try JSONEncoder().encode(report), as: UTF8.self) + "\(report)"
            for secret in secrets {
                #expect(!text.contains(secret.hexString))
                #expect(!text.contains(Data(secret).base64EncodedString()))
                #expect(!text.contains("\(secret)"))
            }
        }
    }

    /// A CKC with blocks that a module would not write.
    private func sealedCKC(_ payload: [UInt8]) throws -> [UInt8] {
        var payload = payload
        let cipher = try AESCBC()
        let key = try SPCForge.r1.withUnsafeBytes {
            try ContentKeyContextKey.make(r1: $0, seed: SPCForge.seed[...], cipher)
        }
        try key.read(0..<16) { try cipher.apply(.encrypt, to: &payload, key: $0) }
        return UInt32(1).bigEndianBytes + [UInt8](repeating: 0, count: 20) + UInt32(payload.count).bigEndianBytes
            + payload
    }
}
