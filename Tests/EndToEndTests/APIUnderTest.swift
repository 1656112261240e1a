import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyMedia
import LatchkeyServices
import LatchkeyVendorWire
import LatchkeyVendors
import Testing

/// A vendor's API on the production server, with the client's profile of the vendor and tokens as its customers make them.
struct APIUnderTest: Sendable, CustomTestStringConvertible {
    let profile: VendorProfile
    /// The tenant's member `vendors`.
    let vendors: String
    let secrets: [String: String]
    /// The profile's settings, given where the tenant's addresses begin.
    let settings: @Sendable (String) -> [String: String]
    /// The key URI of a content with one key.
    let keyURI: @Sendable (String, StoredKey) -> String
    /// A token of a viewer in a session.
    let token: @Sendable (Order) throws -> Secret
    /// The app's error for a token with a foreign signature; with the vendor's code, if its replies have one.
    let forged: (kind: Diagnosis.Kind, code: String?)

    var testDescription: String { profile.identifier }

    /// The claims of a token.
    struct Order: Sendable {
        var viewer = "ann"
        var session = "s-1"
        var age = 0.0
        var isForged = false
        var contents: [String: StoredKey] = [:]
        /// The rules for the outputs of the content `video`, in the vendor's form; empty for none.
        var outputs = ""
    }

    static let all = [vuDRM, vuDRMRaw, axinom, doveRunner, drmToday]

    private static let secret = "0123456789abcdef0123456789abcdef"
    private static let another = "another-secret-another-secret-an"

    private static var environment: ServiceEnvironment {
        ServiceEnvironment(
            authority: LicenseAuthority(
                module: KeyServerModule(credentials: [], derivation: InsecureTestDerivation()),
                keys: ContentKeyStore([])))
    }

    private static let vuDRM = vuDRM(.vuDRM)
    private static let vuDRMRaw = vuDRM(.vuDRMRaw)

    private static func vuDRM(_ profile: VendorProfile) -> APIUnderTest {
        APIUnderTest(
            profile: profile, vendors: #"{"vudrm":{"client":"acme","secret":"vudrm.txt"}}"#,
            secrets: ["vudrm.txt": secret + "\n"],
            settings: { base in
                let isRaw = profile == .vuDRMRaw
                var settings = ["certificateURL": "\(base)/vudrm/certificate/acme"]
                settings["licenseURL"] = isRaw ? "\(base)/vudrm/license/video" : "\(base)/vudrm/license"
                return settings
            },
            keyURI: { name, _ in "skd://keys.example/license/\(name)" },
            token: { order in
                let policy = #"{"user_id":"\#(order.viewer)","session_id":"\#(order.session)","n":"\#(UUID())"}"#
                let time = Date(timeIntervalSinceNow: -order.age).formatted(.iso8601)
                let text = "acme|\(time)|\(Data(policy.utf8).base64EncodedString())"
                let key = Secret(order.isForged ? another : secret)
                return Secret("\(text)|\(try #require(VuDRMToken.hash(of: Array(text.utf8), key)).hexString)")
            }, forged: (.unauthenticated, nil))
    }

    static let axinom = APIUnderTest(
        profile: .axinom,
        vendors: #"{"axinom":{"keyId":"69e54088-e9e0-4530-8c1a-1eb6dcd0d14e","key":"axinom.txt"}}"#,
        secrets: ["axinom.txt": Data(secret.utf8).base64EncodedString()],
        settings: {
            [
                "certificateURL": "\($0)/axinom/FPScert/fairplay.cer",
                "licenseURL": "\($0)/axinom/AcquireLicense",
            ]
        },
        keyURI: { _, key in "skd://\(key.id):\(key.content.iv.withUnsafeBytes { $0.hexString })" },
        token: { order in
            var service = AxinomService(environment)
            service.communicationKey = Secret(order.isForged ? another : secret)
            let end = Date(timeIntervalSinceNow: 600 - order.age).formatted(.iso8601)
            let video = order.outputs.isEmpty ? nil : order.contents["video"]?.id
            return service.message(
                for: order.contents.values.map(\.id),
                dates: #"{"expiration_date":"\#(end)","sub":"\#(order.viewer)","sid":"\#(order.session)"}"#,
                policies: video.map { [$0: "video"] } ?? [:],
                usagePolicies: video.map { _ in #"[{"name":"video","fairplay":\#(order.outputs)}]"# } ?? "[]")
        }, forged: (.invalidRequest, nil))

    static let doveRunner = APIUnderTest(
        profile: .doveRunner,
        vendors: #"{"doverunner":{"site":"ACME","accessKey":"access.txt","siteKey":"site.txt","singleUse":true}}"#,
        secrets: ["access.txt": secret, "site.txt": secret],
        settings: {
            [
                "certificateURL": "\($0)/doverunner/ri/fpsKeyManager.do?siteId=ACME",
                "licenseURL": "\($0)/doverunner/ri/licenseManager.do", "siteId": "ACME",
            ]
        },
        keyURI: { name, _ in "skd://\(name)" },
        token: { order in
            var service = DoveRunnerService(environment)
            (service.siteID, service.accessKey) = ("ACME", Secret(order.isForged ? another : secret))
            let rules = order.outputs.isEmpty ? "" : ",\(order.outputs)"
            let policy = try AES256CBC.encrypt(
                Secret(#"{"policy_version":2,"playback_policy":{"persistent":false,"license_duration":120}\#(rules)}"#),
                key: Secret(secret), iv: Array("0123456789abcdef".utf8))
            let time = Date(timeIntervalSinceNow: -order.age).formatted(.iso8601)
            return service.token(
                claims: #"""
                    {"policy":"\#(Data(policy).base64EncodedString())","user_id":"\#(order.viewer)","cid":"video",
                    "timestamp":"\#(time)"}
                    """#)
        }, forged: (.unauthenticated, "7019"))

    static let drmToday = APIUnderTest(
        profile: .drmToday, vendors: #"{"drmtoday":{"merchant":"acme","key":"drmtoday.txt","singleUse":true}}"#,
        secrets: ["drmtoday.txt": secret],
        settings: {
            [
                "certificateURL": "\($0)/drmtoday/license-server-fairplay/cert/acme",
                "licenseURL": "\($0)/drmtoday/license-server-fairplay/", "merchant": "acme", "userId": "ann",
                "sessionId": "s-1",
            ]
        },
        keyURI: { name, key in
            "skd://drmtoday?assetId=\(name)&variantId=&keyId=\(key.id.bytes.hexString)&keyRotationId=0"
        },
        token: { order in
            let options = #"{"userId":"\#(order.viewer)","merchant":"acme","sessionId":"\#(order.session)"}"#
            let claims: [String: JSONValue] = [
                "crt": .text(
                    #"[{"assetId":"video","storeLicense":true\#(order.outputs.isEmpty ? "" : ",\(order.outputs)")}]"#),
                "optData": .text(options),
                "jti": .text(UUID().uuidString),
                "iat": .number((Date().timeIntervalSince1970 - order.age).rounded(.down)),
            ]
            let key = Secret(order.isForged ? another : secret)
            return Secret(JSONWebToken.text(claims: .object(claims), key: key, algorithm: "HS512"))
        }, forged: (.unauthenticated, "3000"))
}
