import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@testable import LatchkeyFairPlay
@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct KeyDeliveryTests {
    private static let recipients: [KeyServerCredential] = [2_048, 2_048, 1_024].compactMap { bits in
        try? TestCredentials.make(bits: bits, date: Date(timeIntervalSince1970: 1_767_225_600)).credential
    }

    private static func delivery(_ certificate: String) -> String {
        "<cpix:DeliveryData id=\"d\"><cpix:DeliveryKey><ds:X509Data><ds:X509Certificate>\(certificate)</ds:X509Certificate>"
            + "</ds:X509Data></cpix:DeliveryKey></cpix:DeliveryData>"
    }

    private static func request(_ deliveries: [String]) -> String {
        let list =
            "<cpix:DeliveryDataList xmlns:ds=\"http://www.w3.org/2000/09/xmldsig#\">\(deliveries.joined())</cpix:DeliveryDataList>"
        return SPEKERequest(
            keys: SPEKERequest.key("cbcs") + SPEKERequest.key("cbcs", kid: SPEKEStage.otherKID), deliveries: list
        ).text
    }

    private func certificate(_ index: Int) throws -> Data {
        try #require(Self.recipients.indices.contains(index))
        return Self.recipients[index].certificate.der
    }

    /// The content of an `EncryptedValue`, with its MAC.
    private func sealed(_ element: XMLTree.Element?) throws -> (value: [UInt8], mac: [UInt8], algorithm: String?) {
        let value = try #require(element?.first("EncryptedValue", in: .pskc))
        let text = try #require(value.first(path: [("CipherData", .enc), ("CipherValue", .enc)])?.text)
        let mac = try #require(element?.first("ValueMAC", in: .pskc)?.text)
        return (
            [UInt8](try #require(Data(base64Encoded: text))), [UInt8](try #require(Data(base64Encoded: mac))),
            value.first("EncryptionMethod", in: .enc)?["Algorithm"]
        )
    }

    private func mac(_ key: Secret, _ message: [UInt8]) throws -> [UInt8] {
        try key.withUnsafeBytes { try MessageDigest.hmacSHA512(key: $0, message) }
    }

    @Test func `each recipient opens every key, after its MAC`() async throws {
        let text = Self.request(
            try (0..<2).map { Self.delivery(try certificate($0).base64EncodedString(options: .lineLength64Characters)) }
        )
        let outcome = try await SPEKEStage().answer(text)
        let tree = try XMLTree(try #require(outcome.response.bytes))
        #expect(tree.texts("PlainValue").isEmpty)
        let deliveries = tree.all("DeliveryData")
        #expect(deliveries.count == 2)
        for (element, recipient) in zip(deliveries, Self.recipients) {
            let documentSecret = try sealed(
                element.first(path: [("DocumentKey", .cpix), ("Data", .cpix), ("Secret", .pskc)]))
            let macSecret = try sealed(element.first(path: [("MACMethod", .cpix), ("Key", .cpix)]))
            let macKey = try #require(recipient.unwrap(macSecret.value))
            #expect(macKey.count == 64)
            #expect(try mac(macKey, macSecret.value) == macSecret.mac)
            #expect(try mac(macKey, documentSecret.value) == documentSecret.mac)
            let documentKey = try #require(recipient.unwrap(documentSecret.value))
            #expect(documentKey.count == 32)
            for key in tree.all("ContentKey") {
                let secret = try sealed(key.first(path: [("Data", .cpix), ("Secret", .pskc)]))
                #expect(try mac(macKey, secret.value) == secret.mac)
                #expect(secret.value.count == 48)
                let opened = try AES256CBC.decrypt(
                    Array(secret.value[16...]), key: documentKey, iv: Array(secret.value[..<16]))
                let kid = try #require(key["kid"])
                #expect(try opened == SPEKEStage().key("movie", kid).key)
                #expect(secret.algorithm == "http://www.w3.org/2001/04/xmlenc#aes256-cbc")
            }
            #expect(documentSecret.algorithm == "http://www.w3.org/2001/04/xmlenc#rsa-oaep-mgf1p")
        }
        #expect(
            tree.all("DocumentKey").map { $0["Algorithm"] }
                == Array(repeating: "http://www.w3.org/2001/04/xmlenc#aes256-cbc", count: 2))
        #expect(
            tree.all("MACMethod").map { $0["Algorithm"] }
                == Array(repeating: "http://www.w3.org/2001/04/xmldsig-more#hmac-sha512", count: 2))
        #expect(outcome.recipients == (try (0..<2).map { try MessageDigest.sha256([UInt8](try certificate($0))) }))
    }

    @Test func `such a reply has no key in clear`() async throws {
        let outcome = try await SPEKEStage().answer(
            Self.request([Self.delivery(try certificate(0).base64EncodedString())]))
        let text = String(decoding: try #require(outcome.response.bytes), as: UTF8.self)
        #expect(outcome.keys.count == 2)
        #expect(outcome.keys.allSatisfy { !text.contains($0.content.key.revealed.base64EncodedString()) })
    }

    @Test func `the cipher is AES-256-CBC as in SP 800-38A, F.2.5, then padding`() throws {
        let key = Secret(
            try #require(Data(hexString: "603deb1015ca71be2b73aef0857d77811f352c073b6108d72d9810a30914dff4")))
        let plain = Secret(try #require(Data(hexString: "6bc1bee22e409f96e93d7e117393172a")))
        let sealed = try AES256CBC.encrypt(plain, key: key, iv: Array(0..<16))
        #expect(sealed.prefix(16).hexString == "f58c4c04d6e5f1ba779eabfb5f7bfbd6")
        #expect(try AES256CBC.decrypt(sealed, key: key, iv: Array(0..<16)) == plain)
    }

    @Test func `a small RSA key is refused`() async throws {
        let text = Self.request([Self.delivery(try certificate(2).base64EncodedString())])
        #expect(try await SPEKEStage().refusal(text) == ["422", "The DeliveryKey's RSA key has 1024 bits"])
    }

    @Test(arguments: ["", "AAAA", "no base64!", "MIIB"])
    func `an unreadable certificate is refused`(_ certificate: String) async throws {
        let text = Self.request([Self.delivery(certificate)])
        #expect(try await SPEKEStage().refusal(text) == ["422", "DeliveryKey has no readable RSA certificate"])
    }

    @Test func `a certificate may have PEM's lines around it`() async throws {
        let base64 = try certificate(0).base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let pem = "\n  -----BEGIN CERTIFICATE-----\n\(base64)\n  -----END CERTIFICATE-----\n"
        let outcome = try await SPEKEStage().answer(Self.request([Self.delivery(pem)]))
        #expect(outcome.recipients == [try MessageDigest.sha256([UInt8](try certificate(0)))])
        let cut = "-----BEGIN CERTIFICATE-----\n-----END CERTIFICATE-----"
        #expect(try await SPEKEStage().refusal(Self.request([Self.delivery(cut)])).first == "422")
    }

    @Test func `a certificate with trailing bytes and a DeliveryData without one are refused`() async throws {
        let long = Self.delivery((try certificate(0) + [0]).base64EncodedString())
        #expect(try await SPEKEStage().refusal(Self.request([long])).first == "422")
        #expect(try await SPEKEStage().refusal(Self.request(["<cpix:DeliveryData/>"])).first == "422")
    }

    @Test func `once a certificate is registered, only it is served`() async throws {
        var stage = SPEKEStage()
        stage.rules.certificates = [try MessageDigest.sha256([UInt8](try certificate(0)))]
        let known = Self.delivery(try certificate(0).base64EncodedString())
        let unknown = Self.delivery(try certificate(1).base64EncodedString())
        #expect(try await stage.answer(Self.request([known])).response.status == 200)
        #expect(
            try await stage.refusal(Self.request([unknown])) == [
                "422", "The DeliveryKey's certificate is not registered",
            ])
        #expect(try await stage.answer(Self.request([known, unknown])).keys.isEmpty)
    }

    @Test func `a tenant can refuse to give keys in clear`() async throws {
        var stage = SPEKEStage()
        stage.rules.allowsPlainKeys = false
        #expect(try await stage.refusal(SPEKERequest().text) == ["422", "Keys in the clear are not allowed"])
        #expect(
            try await stage.answer(Self.request([Self.delivery(try certificate(0).base64EncodedString())])).keys.count
                == 2)
    }

    @Test func `more than 16 recipients are too many`() async throws {
        let one = Self.delivery(try certificate(0).base64EncodedString())
        #expect(try await SPEKEStage().refusal(Self.request(Array(repeating: one, count: 17))).first == "413")
    }
}
