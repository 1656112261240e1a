import Foundation
import LatchkeyCore
import Testing

@testable import LatchkeyDecision
@testable import LatchkeyFairPlay
@testable import LatchkeyPackaging
@testable import LatchkeyVault

@Suite(.timeLimit(.minutes(5))) struct CPIXDocumentTests {
    static let credentials = (0..<2).compactMap { _ in
        try? TestCredentials.make(bits: 2_048, date: Date(timeIntervalSince1970: 1_767_225_600)).credential
    }

    private static func recipient(_ index: Int) throws -> CPIXRecipient {
        try #require(credentials.indices.contains(index))
        let credential = credentials[index]
        let key = try #require(credential.key as? RSAPrivateKey)
        return try #require(CPIXRecipient(certificate: [UInt8](credential.certificate.der), privateKey: key))
    }

    /// Keys, rules with all filters, and periods.
    static func document(_ contents: [String] = ["movie"]) throws -> CPIXDocument {
        let open = EncryptionContract.Bounds(least: nil, most: nil)
        let bounds = EncryptionContract.Bounds(least: 1, most: 589_824)
        let keys = try (1...4).map { number in
            let byte = UInt8(number)
            let key = try #require(
                ContentKey(
                    key: Secret([UInt8](repeating: byte, count: 16)),
                    iv: Secret([UInt8](repeating: byte + 9, count: 16))))
            return CPIXDocument.Key(
                kid: .numbered(byte), content: try #require(ContentName(contents[number % contents.count])), key: key,
                scheme: number == 4 ? nil : .cbcs)
        }
        let rules = [
            EncryptionContract.Rule(
                kid: .numbered(1), trackType: "SD",
                video: [.init(pixels: bounds, framesPerSecond: bounds, isHDR: false)], audio: [], periods: ["p1", "p2"]),
            EncryptionContract.Rule(
                kid: .numbered(2), trackType: "", video: [],
                audio: [.init(channels: bounds), .init(channels: open)], periods: []),
        ]
        return CPIXDocument(
            keys: keys, contract: EncryptionContract(rules: rules),
            periods: [
                .init(id: "p1", index: 7), .init(id: "p2", index: .max),
                .init(
                    id: "p3", index: nil, details: ["start": "2026-01-01T00:00:00Z", "end": "2026-01-01T01:00:00Z"]),
            ])
    }

    private static func signaling(
        _ systems: CPIXDocument.Systems = .each([.fairPlay, .widevine, .playReady])
    ) throws -> (systems: CPIXDocument.Systems, settings: SignalingSettings) {
        let template = try KeyURITemplate("skd://keys.test/{contentId}/{kid}")
        return (systems, SignalingSettings(fairPlay: template))
    }

    @Test(arguments: CPIXDocument.Version.allCases, [0, 1, 2])
    func `documents are read back, in clear and by each recipient`(
        _ version: CPIXDocument.Version, _ recipients: Int
    ) throws {
        let document = try Self.document()
        let certificates = Self.credentials.prefix(recipients).map { [UInt8]($0.certificate.der) }
        let data = try document.data(
            .init(version: version, recipients: certificates, signaling: try Self.signaling()))
        #expect(try CPIXDocument(data, recipients: [Self.recipient(0)]) == document)
        let text = String(decoding: data, as: UTF8.self)
        #expect(text.contains("PlainValue") == (recipients == 0))
        #expect(text.contains(version == .version2_3 ? #""master""# : #""multiVariant""#))
        if recipients == 2 { #expect(try CPIXDocument(data, recipients: [Self.recipient(1)]) == document) }
    }

    @Test func `a bulk document has a content for each key in 2.4 but not in 2.3`() throws {
        let document = try Self.document(["movie", "a/ünd"])
        let data = try document.data(.init(version: .version2_4, recipients: []))
        #expect(try CPIXDocument(data) == document)
        #expect(throws: PackagingRefusal.self) { try document.data(.init(version: .version2_3, recipients: [])) }
    }

    @Test func `encrypted keys are for their recipients and stay as they are`() throws {
        let data = try Self.document().data(.init(recipients: [[UInt8](Self.credentials[0].certificate.der)]))
        for recipients in [[], [try Self.recipient(1)]] {
            let error = #expect(throws: PackagingRefusal.self) { try CPIXDocument(data, recipients: recipients) }
            #expect(error?.code == "cpixRecipient")
            #expect(error?.place == "ContentKey 1")
        }
        // Each MAC and each cipher value counts.
        let tree = try XMLTree(data)
        for name in ["ValueMAC", "CipherValue"] {
            let count = tree.all(name).count
            #expect(count >= 6)
            for index in 0..<count {
                // The MAC of the MAC's own key is the only one on which nothing depends.
                let copy = try XMLTree(data)
                let element = copy.all(name)[index]
                var bytes = [UInt8](try #require(Data(base64Encoded: element.text)))
                bytes[bytes.count / 2] ^= 1
                element.text = bytes.base64
                guard name == "CipherValue" || index != 1 else { continue }
                let error = #expect(throws: PackagingRefusal.self, "\(name) \(index)") {
                    try CPIXDocument(copy.data, recipients: [Self.recipient(0)])
                }
                // The value without a MAC is the MAC's own key, which then opens nothing.
                #expect(error?.code == (name == "CipherValue" && index == 1 ? "cpixCipher" : "cpixMAC"))
            }
        }
    }

    @Test(arguments: [
        ("MACMethod", "", "cpixMAC", "DeliveryData 1/MACMethod", "missing"),
        ("ValueMAC", "", "cpixMAC", "DeliveryData 1/DocumentKey/ValueMAC", "missing"),
        ("EncryptionMethod", "http://www.w3.org/2001/04/xmlenc#kw-aes256", "cpixAlgorithm", "", "kw-aes256"),
        ("MACMethod", "http://www.w3.org/2001/04/xmldsig-more#hmac-sha256", "cpixAlgorithm", "", "hmac-sha256"),
        ("DigestMethod", "http://www.w3.org/2001/04/xmlenc#sha256", "cpixAlgorithm", "", "sha256"),
        ("CipherData", "", "cpixCipher", "", "encrypted value is missing"),
    ])
    func `refused encrypted keys name their fault`(
        _ name: String, _ algorithm: String, _ code: String, _ place: String, _ reason: String
    ) throws {
        let tree = try XMLTree(
            try Self.document().data(.init(recipients: [[UInt8](Self.credentials[0].certificate.der)])))
        if name == "DigestMethod" {
            let method = try #require(tree.all("EncryptionMethod").first { $0["Algorithm"]?.contains("oaep") == true })
            method.add("DigestMethod", in: .ds)["Algorithm"] = algorithm
        } else if algorithm.isEmpty {
            for parent in tree.all("DeliveryData") + tree.all("Secret") + tree.all("EncryptedValue") {
                for child in parent.elements where child.name.local == name { parent.remove(child) }
            }
        } else {
            for element in tree.all(name) { element["Algorithm"] = algorithm }
        }
        let error = #expect(throws: PackagingRefusal.self) {
            try CPIXDocument(tree.data, recipients: [Self.recipient(0)])
        }
        #expect(error?.code == code && error?.reason.contains(reason) == true, "\(error as Any)")
        if !place.isEmpty { #expect(error?.place == place) }
    }

    @Test func `imported keys serve licenses, and a vault's exports are imported elsewhere`() async throws {
        let store = MemorySealedKeyStore()
        let vault = try await Self.vault(store)
        let document = try CPIXDocument(try Self.document().data(.init(recipients: [])))
        #expect(try await vault.add(document.entries(), policies: ["rental"]).isEmpty)
        let found = try await vault.key(.numbered(1))
        #expect(found.content.iv == document.keys.first?.iv)
        #expect(found.facts.track == .sd)
        let row = try #require(try await store.rows([.numbered(1)], of: "acme").first)
        #expect(row.periods == [7, .max])
        let exported = try await vault.document(of: try #require(ContentName("movie")))
        #expect(Set(exported.keys) == Set(document.keys))
        #expect(exported.contract.rules.map(\.trackType) == ["SD"])
        #expect(exported.contract.rules.first?.video.first?.pixels.most == 589_824)
        let other = try await Self.vault(MemorySealedKeyStore())
        #expect(try await other.add(try CPIXDocument(exported.data(.init(recipients: []))).entries()).isEmpty)
    }

    private static func vault(_ store: MemorySealedKeyStore) async throws -> TenantVault {
        let wrapping = KeyEncryptionKeys(try KeyEncryptionKey(id: "kek", key: .random(32)))
        return TenantVault(try await TenantSecrets.create("acme", in: store, with: wrapping), store: store)
    }

    // MARK: - Other writers

    private static let namespaces =
        #"xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc" xmlns:enc="http://www.w3.org/2001/04/xmlenc#""#

    private static func text(_ keys: String, _ more: String = "", _ attributes: String = #"contentId="movie""#) -> Data
    {
        Data(
            "<cpix:CPIX \(namespaces) \(attributes)><cpix:ContentKeyList>\(keys)</cpix:ContentKeyList>\(more)</cpix:CPIX>"
                .utf8)
    }

    private static func key(
        _ kid: String = SPEKEStage.kid, _ attributes: String = #"explicitIV="AQEBAQEBAQEBAQEBAQEBAQ==""#,
        _ value: String = "AAAAAAAA AAAAAAAA\nAAAAAA=="
    ) -> String {
        #"<cpix:ContentKey kid="\#(kid)" \#(attributes)><cpix:Data><pskc:Secret><pskc:PlainValue>\#(value)</pskc:PlainValue>"#
            + "</pskc:Secret></cpix:Data></cpix:ContentKey>"
    }

    @Test func `kids are read in any case, values with spaces, keys without scheme`() throws {
        let document = try CPIXDocument(Self.text(Self.key(SPEKEStage.kid.uppercased())))
        #expect(document.keys.map(\.kid) == [try #require(KeyID(SPEKEStage.kid))])
        #expect(document.keys.first?.scheme == nil)
        #expect(document.keys.first?.value == Secret([UInt8](repeating: 0, count: 16)))
        #expect(try document.entries().count == 1)
    }

    @Test func `the leaves of a hierarchy are kept`() throws {
        let leaf = Self.key(
            SPEKEStage.otherKID,
            #"explicitIV="AQEBAQEBAQEBAQEBAQEBAQ==" dependsOnKey="\#(SPEKEStage.kid.uppercased())""#)
        #expect(
            try CPIXDocument(Self.text(Self.key() + leaf)).keys.map(\.kid)
                == [try #require(KeyID(SPEKEStage.otherKID))])
    }

    @Test func `a key without a content has the caller's`() throws {
        let data = Self.text(Self.key(), "", "")
        #expect(try CPIXDocument(data, content: ContentName("here")).keys.first?.content == ContentName("here"))
        #expect(throws: PackagingRefusal.self) { try CPIXDocument(data) }
    }

    @Test func `the content is the document's, else the caller's, or the document's id`() throws {
        func content(_ attributes: String, _ caller: String? = nil) throws -> String? {
            let document = try CPIXDocument(
                Self.text(Self.key(), "", attributes), content: caller.flatMap { ContentName($0) })
            return document.keys.first?.content.text
        }
        #expect(try content(#"contentId="a" id="b""#, "c") == "a")
        #expect(try content(#"contentId="" id="b""#, "c") == "c")
        #expect(try content(#"id="b""#) == "b")
    }

    @Test func `all keys with an unstated IV are named together`() throws {
        let stated = try #require(KeyID(SPEKEStage.kid))
        let zeros = Self.key("\(KeyID.numbered(1))", #"explicitIV="AAAAAAAAAAAAAAAAAAAAAA==""#)
        let error = #expect(throws: PackagingRefusal.self) {
            try CPIXDocument(Self.text(Self.key() + Self.key("\(KeyID.numbered(2))", "") + zeros))
        }
        #expect(error?.status == 422)
        for number in 1...2 { #expect(error?.reason.contains("\(KeyID.numbered(UInt8(number)))") == true) }
        #expect(error?.reason.contains("\(stated)") == false)
    }

    @Test func `a stored IV of zeros is not exported, and its export is not imported again`() throws {
        let zeros = Secret([UInt8](repeating: 0, count: 16))
        let key = try #require(ContentKey(key: Secret([UInt8](repeating: 1, count: 16)), iv: zeros))
        let content = try #require(ContentName("movie"))
        let document = CPIXDocument(keys: [.init(kid: .numbered(1), content: content, key: key, scheme: .cenc)])
        let data = try document.data(.init(recipients: []))
        #expect(!String(decoding: data, as: UTF8.self).contains("explicitIV"))
        #expect(throws: PackagingRefusal.self) { try document.entries() }
        #expect(throws: PackagingRefusal.self) { try CPIXDocument(data) }
    }

    private static let rule =
        #"<cpix:ContentKeyUsageRuleList><cpix:ContentKeyUsageRule kid="%"/></cpix:ContentKeyUsageRuleList>"#

    @Test(arguments: [
        (text(""), "cpixKeys", ""), (text(key("1")), "cpixKID", "ContentKey 1"),
        (text(key() + key(SPEKEStage.kid.uppercased())), "cpixKID", "ContentKey 2"),
        (text(key(SPEKEStage.kid, "", "AAAA")), "cpixValue", "ContentKey 1"),
        (text(key(SPEKEStage.kid, "", "")), "cpixValue", "ContentKey 1"),
        (text(#"<cpix:ContentKey kid="\#(SPEKEStage.kid)"/>"#), "cpixValue", "ContentKey 1"),
        (text(key(SPEKEStage.kid, #"commonEncryptionScheme="rot13""#)), "cpixScheme", "ContentKey 1"),
        (text(key(SPEKEStage.kid, #"commonEncryptionScheme="cbcs""#)), "cpixIV", "ContentKey@explicitIV"),
        (text(key(SPEKEStage.kid, #"commonEncryptionScheme="cenc""#)), "cpixIV", "ContentKey@explicitIV"),
        (text(key(SPEKEStage.kid, "")), "cpixIV", "ContentKey@explicitIV"),
        (text(key(SPEKEStage.kid, #"explicitIV="""#)), "cpixIV", "ContentKey@explicitIV"),
        (text(key(SPEKEStage.kid, #"explicitIV="AAAAAAAAAAAAAAAAAAAAAA==""#)), "cpixIV", "ContentKey@explicitIV"),
        (text(key(SPEKEStage.kid, #"explicitIV="AAAA""#)), "cpixIV", "ContentKey 1"),
        (text(key(SPEKEStage.kid, #"dependsOnKey="\#(SPEKEStage.otherKID)""#)), "cpixHierarchy", "ContentKey 1"),
        (text(key(SPEKEStage.kid, #"dependsOnKey="\#(SPEKEStage.kid)""#)), "cpixHierarchy", "ContentKey 1"),
        (text(key(), rule.replacing("%", with: SPEKEStage.otherKID)), "cpixRules", "ContentKeyUsageRule 1"),
        (text(key(), "", #"contentId="m" version="9""#), "cpixVersion", "CPIX@version"),
        (
            text(key(), #"<cpix:ContentKeyPeriodList><cpix:ContentKeyPeriod id="1"/></cpix:ContentKeyPeriodList>"#),
            "cpixPeriods", "ContentKeyPeriodList"
        ),
        (Data("<a/>".utf8), "cpixRoot", ""), (Data("<a".utf8), "cpixXML", ""),
        (Data("<!DOCTYPE a [<!ENTITY b 'c'>]><a>&b;</a>".utf8), "cpixXML", ""),
    ])
    func `a contradictory document is refused with its place`(
        _ data: Data, _ code: String, _ place: String
    ) throws {
        let error = #expect(throws: PackagingRefusal.self) { try CPIXDocument(data) }
        #expect(error?.code == code)
        #expect([400, 422].contains(error?.status))
        if !place.isEmpty { #expect(error?.place == place) }
    }

    @Test(arguments: [
        text((0..<100_000).map { _ in #"<cpix:ContentKey/>"# }.joined()),
        text((0..<1_001).map { _ in "<cpix:ContentKey/>" }.joined()),
        text(String(repeating: "<a>", count: 40) + String(repeating: "</a>", count: 40)),
        text(key(SPEKEStage.kid, "", String(repeating: "A", count: 300_000))),
        text(key(SPEKEStage.kid, #"explicitIV="\#(String(repeating: "A", count: 5_000))""#)),
    ])
    func `too much of anything is 413`(_ data: Data) {
        let error = #expect(throws: PackagingRefusal.self) { try CPIXDocument(data) }
        #expect(error?.status == 413)
    }

    @Test func `a document cut anywhere is refused without a crash`() throws {
        let data = try Self.document().data(.init(recipients: [[UInt8](Self.credentials[0].certificate.der)]))
        let recipients = [try Self.recipient(0)]
        for count in stride(from: 0, to: data.count - 1, by: 97) {
            #expect(throws: PackagingRefusal.self) { try CPIXDocument(data.prefix(count), recipients: recipients) }
        }
    }

    @Test func `an export signals the systems that support each key and omits the others`() throws {
        let document = try Self.document()
        let all = try Self.signaling(.fitting([.fairPlay, .widevine, .playReady, .clearKey]))
        let tree = try XMLTree(try document.data(.init(recipients: [], signaling: all)))
        // Clear Key's URIs are not configured, and no key is for its scheme.
        #expect(tree.all("DRMSystem").count == 12)
        let systems = Set(tree.all("DRMSystem").compactMap { $0["systemId"] })
        #expect(systems == Set([DRMSystem.fairPlay, .widevine, .playReady].map(\.rawValue)))
        #expect(tree.texts("HLSSignalingData").first?.fromBase64?.contains("skd://keys.test/movie/") == true)
        let none = try Self.signaling(.fitting([.clearKey]))
        #expect(try XMLTree(document.data(.init(recipients: [], signaling: none))).all("DRMSystemList").isEmpty)
    }

    @Test func `a name for tracks gets the filters it stands for`() {
        let rules = { (names: [String]) in
            EncryptionContract(named: names.map { (.numbered(1), $0, []) }).rules
        }
        func pixels(_ rules: [EncryptionContract.Rule]) -> [[String]] {
            rules.map { $0.video.map { "\($0.pixels.least ?? 0)-\($0.pixels.most ?? 0)" } }
        }
        #expect(pixels(rules(["SD", "HD"])) == [["0-589824"], ["589825-0"]])
        #expect(
            pixels(rules(["SD+HD1", "HD2", "UHD"])) == [
                ["0-589824", "589825-921600"], ["921601-2073600"], ["2073601-0"],
            ])
        #expect(pixels(rules(["HD", "UHD1", "UHD2"])) == [["589825-2073600"], ["2073601-8847360"], ["8847361-0"]])
        #expect(pixels(rules(["AUDIO", "mine"])) == [[], []])
        let audio = rules(["ALL", "AUDIO", "STEREO_AUDIO", "MULTICHANNEL_AUDIO_3_6", "mine"]).map {
            $0.audio.map(\.channels)
        }
        #expect(audio.map(\.count) == [1, 1, 1, 1, 0])
        #expect(audio[2].first?.most == 2 && audio[3].first?.least == 3 && audio[3].first?.most == 6)
    }

    @Test func `a system that does not support a scheme is refused`() throws {
        var document = try Self.document()
        document.keys = document.keys.map {
            CPIXDocument.Key(kid: $0.kid, content: $0.content, value: $0.value, iv: $0.iv, scheme: .cenc)
        }
        let signaling = try Self.signaling()
        let error = #expect(throws: PackagingRefusal.self) {
            try document.data(.init(recipients: [], signaling: signaling))
        }
        #expect(error?.code == "cpixSystem")
        #expect(throws: PackagingRefusal.self) { try document.data(.init(recipients: [[1, 2, 3]])) }
    }
}
