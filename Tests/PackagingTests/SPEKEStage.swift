import Foundation
import LatchkeyCore
import LatchkeyHTTP
import Testing

@testable import LatchkeyPackaging
@testable import LatchkeyVault

/// A tenant's exchange with fixed seeds, and requests to it.
struct SPEKEStage {
    static let kid = "12345678-9abc-def0-1234-56789abcdef0"
    static let otherKID = "00000000-0000-4000-8000-000000000002"

    var rules = SPEKEExchange.Rules()
    var policy: @Sendable (PackagedKey) -> PackagingPolicy = { _ in PackagingPolicy() }
    var clearKey: String? = "https://keys.test/clear/{contentId}/{kid}"
    var seed: UInt8 = 7
    var source: (any ContentKeySource)?

    func exchange() throws -> SPEKEExchange {
        let settings = SignalingSettings(
            fairPlay: try KeyURITemplate("skd://keys.test/{contentId}/{kid}"),
            clearKey: try clearKey.map { try KeyURITemplate($0) },
            widevineProvider: "acme")
        return SPEKEExchange(
            source: try source ?? keys(), settings: settings, rules: rules, policy: policy,
            generator: { SeededGenerator(seed: 1) })
    }

    func keys() throws -> DerivedKeys {
        let seeds = [SeedVersion(1): Secret([UInt8](repeating: seed, count: 32))]
        return DerivedKeys(KeyDerivation(try TenantSeeds(tenant: "acme", seeds: seeds, current: SeedVersion(1))))
    }

    func key(_ content: String, _ kid: String = kid) throws -> ContentKey {
        let address = KeyAddress(content: try #require(ContentName(content)), kid: try #require(KeyID(kid)))
        return try #require(try keys().keys(for: [KeyDemand(address)])[address])
    }

    func answer(_ document: String, version: String? = "2.0") async throws -> SPEKEExchange.Outcome {
        var headers: HTTPHeaders = [.contentType: "application/xml", "X-Amz-Date": "20261122T000000Z"]
        headers[.spekeVersion] = version
        return try await exchange().answer(headers, body: Data(document.utf8))
    }

    /// The status and the text of a refusal.
    func refusal(_ document: String, version: String? = "2.0") async throws -> [String] {
        let response = try await answer(document, version: version).response
        return ["\(response.status)", String(decoding: response.bytes ?? Data(), as: UTF8.self)]
    }

    /// The reply's document.
    func filled(_ document: String, version: String? = "2.0") async throws -> XMLTree {
        let response = try await answer(document, version: version).response
        #expect(response.status == 200, "\(String(decoding: response.bytes ?? Data(), as: UTF8.self))")
        return try XMLTree(try #require(response.bytes))
    }
}

/// A SPEKE request in parts, each of which a test may replace.
struct SPEKERequest {
    var attributes = #"contentId="movie" version="2.3""#
    var keys = #"<cpix:ContentKey kid="\#(SPEKEStage.kid)" commonEncryptionScheme="cbcs"/>"#
    var systems = system(.fairPlay, #"<cpix:HLSSignalingData playlist="media"/>"#)
    var periods = ""
    var rules = rule("ALL", "<cpix:VideoFilter/><cpix:AudioFilter/>")
    var deliveries = ""

    static func system(_ system: DRMSystem, _ children: String, kid: String = SPEKEStage.kid) -> String {
        #"<cpix:DRMSystem kid="\#(kid)" systemId="\#(system.rawValue)">\#(children)</cpix:DRMSystem>"#
    }

    static func key(_ scheme: String, kid: String = SPEKEStage.kid, _ more: String = "") -> String {
        #"<cpix:ContentKey kid="\#(kid)" commonEncryptionScheme="\#(scheme)"\#(more)/>"#
    }

    static func rule(_ type: String, _ filters: String, kid: String = SPEKEStage.kid) -> String {
        #"<cpix:ContentKeyUsageRule kid="\#(kid)" intendedTrackType="\#(type)">\#(filters)</cpix:ContentKeyUsageRule>"#
    }

    var text: String {
        let lists = [("DRMSystemList", systems), ("ContentKeyPeriodList", periods), ("ContentKeyUsageRuleList", rules)]
        let rest = lists.filter { !$0.1.isEmpty }.map { "  <cpix:\($0.0)>\($0.1)</cpix:\($0.0)>\n" }.joined()
        return """
            <?xml version="1.0" encoding="UTF-8"?>
            <cpix:CPIX \(attributes) xmlns:cpix="urn:dashif:org:cpix" xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc">
            \(deliveries)  <cpix:ContentKeyList>\(keys)</cpix:ContentKeyList>
            \(rest)</cpix:CPIX>
            """
    }
}

extension XMLTree {
    /// The texts of all elements of a name, anywhere, in order.
    func texts(_ local: String) -> [String] { all(local).map(\.text) }

    /// All elements of a name, anywhere, in order.
    func all(_ local: String) -> [Element] { Self.all(local, root) }

    private static func all(_ local: String, _ element: Element) -> [Element] {
        (element.name.local == local ? [element] : []) + element.elements.flatMap { all(local, $0) }
    }
}

extension String {
    /// The text in base64.
    var fromBase64: String? { Data(base64Encoded: self).map { String(decoding: $0, as: UTF8.self) } }
}

extension KeyID {
    static let none = numbered(0)

    static func numbered(_ number: UInt8) -> KeyID {
        guard let id = KeyID(bytes: [UInt8](repeating: number, count: 16)) else { preconditionFailure("16 bytes") }
        return id
    }
}
