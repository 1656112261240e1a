import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// A profile with values for what it reads, and what both of its interpreters are asked.
struct VendorExchange {
    /// Something at every place where a profile looks for an identifier, and what packagers really write.
    static let keys: [KeyURI] = [
        "skd://YWI/YWJj?b=1&cid=2&kid=3&KID=4&contentId=5&keyId=6&playbackId=7&assetId=8",
        "skd://h.example/license/abc",
        "SKD://H.example/License/ABC", "skd:h.example/abc", "skd://h.example/abc\r\n", "skd://h.example/a b",
        "skd://h.example/a%20b c", "skd://h.example/100%", "skd://h.example/%zz|", "skd://h.example/a;b=1;c",
        "skd://h.example/MTIz+4/5=", "skd://h.example/id:iv", "skd://h.example/abc?x=1&x=2&&y", "skd://h.example/abc?",
        "skd://h.example/größe?cid=ü", "skd://h.example/a#b", "skd://", "", "skd://a b/c", "skd://?x",
        "MTIzNDU2Nzg5MA==",
        "skd://11111111-2222-3333-4444-555555555555:ffff", "data:text/plain;base64,QUJD", "skd:https://e.example?cid=1",
        "skd://Zm9v/\"\\\t\u{1}?CID=%41&kid", "skd://h.example//a//b%2Fc/?%F0%9F%94%91#?z",
    ]

    let profile: VendorProfile
    var key = keys[0]

    var credentials: [String: String] {
        Dictionary(profile.parameters.filter(\.isCredential).map { ($0.name, $0.example) }) { $1 }
    }
    var session: [String: String] { (profile.session?.values ?? [:]).mapValues { _ in "SESSION" } }
    var lookup: [String: String] { (profile.lookup?.values ?? [:]).mapValues { _ in "https://lookup.example/" } }

    /// The profile with an example for each setting, and with each of them missing.
    static func all(_ profile: VendorProfile) -> [VendorExchange] {
        let settings = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let whole = profile.with(Dictionary(settings) { $1 })
        return keys.map { VendorExchange(profile: whole, key: $0) }
            + settings.map { VendorExchange(profile: whole.setting($0.0, to: nil)) }
    }

    /// What a script is given.
    var json: JSON {
        get throws {
            let profile = try JSON(JSONEncoder().encode(profile)) ?? .null
            return .object([
                "profile": profile, "keyURI": .text(key.raw), "credentials": .texts(credentials),
                "session": .texts(session), "lookup": .texts(lookup),
            ])
        }
    }
}

extension VendorExchange {
    static let spc = Data([0xfb, 0xff, 0x00, 0x01])
    private var vendor: ConfiguredVendor { profile.unchecked }
    private var secrets: CredentialSet { CredentialSet(credentials.mapValues { Secret($0) }) }

    /// All requests as text, or the kind of error for one that cannot be made, by their names.
    func requests() async -> [String: String] {
        let (secrets, key) = (secrets, key)
        var sent: [String: String] = [:]
        sent["certificate"] = await Self.text {
            let lookup = lookup.mapValues { Secret($0) }
            return try await vendor.certificateRequest(CertificateContext(lookup: lookup) { secrets })
        }
        sent["lookup"] = await Self.text {
            try await vendor.lookupRequest(LookupContext(keyURI: key, messageID: "MESSAGE") { secrets })
        }
        for purpose in [KeyPurpose.streaming, .persistable, .renewal] {
            sent[purpose.rawValue] = await Self.text { try await license(purpose) }
        }
        for step in SessionStep.allCases where profile.session != nil {
            sent[step.rawValue] = await Self.text {
                let session = session.mapValues { Secret($0) }
                return try await vendor.sessionRequest(
                    step, SessionContext(session: session, messageID: "MESSAGE") { secrets })
            }
        }
        return sent
    }

    private func license(_ purpose: KeyPurpose) async throws -> URLRequest {
        let secrets = secrets
        let context = LicenseContext(
            keyURI: key, contentIdentifier: try profile.contentIdentifier(for: key), purpose: purpose,
            lookup: lookup.mapValues { Secret($0) }, session: session.mapValues { Secret($0) }, messageID: "MESSAGE"
        ) { secrets }
        return try await vendor.licenseRequest(for: SPCMessage(Self.spc), context)
    }

    /// What replies hold, in the replies' order: `ckc` and side values, or the kind and code of an error.
    func licenses(_ replies: [HTTPReply]) -> [String] {
        replies.map { reply in
            do {
                let exchange = HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply)
                let license = try vendor.license(from: exchange, LicenseContext(keyURI: key, contentIdentifier: "id"))
                let side = license.sideValues.map { "\($0.key)=\($0.value.revealedText)" }.sorted()
                return (["ckc \(license.ckc.revealed.hexString)"] + side).joined(separator: " ")
            } catch { return Self.text(error) }
        }
    }

    /// The certificates that replies hold, or the kind and code of an error.
    func certificates(_ replies: [HTTPReply]) -> [String] {
        replies.map { reply in
            do {
                let exchange = HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply)
                return try vendor.certificate(from: exchange).bytes.hexString
            } catch { return Self.text(error) }
        }
    }

    private static func text(_ error: any Error) -> String {
        guard let error = error as? IntegrationError else { return "\(error)" }
        return "\(error.kind.rawValue) \(error.service?.code ?? "-")"
    }

    private static func text(_ make: () async throws -> URLRequest?) async -> String {
        do { return try await make()?.sent ?? "none" } catch { return text(error) }
    }
}

extension URLRequest {
    /// Method and URL, header fields by name, and the body; bytes that are no text in hexadecimal digits.
    fileprivate var sent: String {
        let headers = (allHTTPHeaderFields ?? [:]).map { "\($0.key.lowercased()): \($0.value)" }.sorted()
        let body = httpBody.map { ["", String(data: $0, encoding: .utf8) ?? $0.hexString] } ?? []
        return (["\(httpMethod ?? "-") \(url?.absoluteString ?? "-")"] + headers + body).joined(separator: "\n")
    }
}

extension JSON {
    static func texts(_ texts: [String: String]) -> JSON { .object(texts.mapValues { .text($0) }) }
}
