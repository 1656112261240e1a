import Foundation
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// One of the six integrations that the THEOplayer document lists, as its sample has it, and the matching profile.
struct THEOplayerSample: Sendable, CustomTestStringConvertible {
    let name: String
    let profile: VendorProfile
    var settings: [String: String] = [:]
    /// The sample's behavior; where it would end its process, it sends nothing.
    let run: @Sendable (OddInput) -> Conversation

    var testDescription: String { name }

    /// - Parameters:
    ///   - identify: names the key; `nil` if the sample gives up.
    ///   - certificate: the headers of the certificate request.
    ///   - license: makes the license request.
    private init(
        _ name: String, _ profile: VendorProfile, _ settings: [String: String] = [:],
        identify: @escaping @Sendable (String) -> String?,
        certificate: @escaping @Sendable (OddInput) -> [String: String] = { _ in [:] },
        license: @escaping @Sendable (OddInput, String, inout Conversation) -> Void
    ) {
        (self.name, self.profile, self.settings) = (name, profile, settings)
        run = { input in
            var conversation = Conversation()
            conversation.askForCertificate(input.certificateURL, certificate(input))
            guard let identifier = identify(input.key) else { return conversation }
            conversation[.identifier] = identifier
            license(input, identifier, &conversation)
            return conversation
        }
    }

    func wire(_ input: OddInput) -> ProfileWire {
        let addresses = ["certificateURL": input.certificateURL, "licenseURL": input.licenseURL]
        return ProfileWire(profile, key: KeyURI(input.key), token: input.token, addresses.merging(settings) { $1 })
    }
}

extension THEOplayerSample {
    private static let spc = SampleBytes.spc.base64EncodedString()

    private static func json(_ members: [String: String]) -> Data { (try? JSONEncoder().encode(members)) ?? Data() }

    private static func last(_ text: String, behind separator: String) -> String {
        text.components(separatedBy: separator).last ?? text
    }

    static let vuDRM = THEOplayerSample(
        "VuDRM", .vuDRMTheo, identify: { last($0, behind: "/") },
        certificate: { ["x-vudrm-token": $0.token, "Content-Type": "application/json"] },
        license: { input, identifier, conversation in
            conversation.askForLicense(
                input.licenseURL, ["content-type": "application/json"],
                body: json(["token": input.token, "contentId": identifier, "payload": spc]))
        })

    static let azure = THEOplayerSample(
        "Azure", .azure, identify: { last($0, behind: "?") },
        certificate: {
            ["Authorization": "Bearer \($0.token)", "Content-Type": "application/x-www-form-urlencoded"]
        },
        license: { input, identifier, conversation in
            conversation.askForLicense(
                input.licenseURL,
                ["Authorization": "Bearer \(input.token)", "Content-Type": "application/x-www-form-urlencoded"],
                body: Data("spc=\(spc)&assetId=\(identifier)".utf8))
        })

    static let uplynk = THEOplayerSample(
        "Uplynk", .uplynk,
        identify: { key in URLComponents(string: key)?.queryItems?.first { $0.name == "b" }?.value },
        license: { input, _, conversation in
            conversation.askForLicense(
                input.key.replacingOccurrences(of: "skd://", with: "https://"), body: json(["spc": spc]))
        })

    static let ezdrm = THEOplayerSample(
        "EZDRM", .ezdrmComplete, identify: { last($0, behind: ";") },
        license: { input, _, conversation in
            conversation.askForLicense(
                input.licenseURL, ["Content-Type": "application/octet-stream"], body: SampleBytes.spc)
        })

    static let verimatrix = THEOplayerSample(
        "Verimatrix Core", .verimatrixQuery,
        identify: { key in
            key.components(separatedBy: "?").first?.replacingOccurrences(of: "skd://", with: "")
        },
        license: { input, _, conversation in
            conversation.askForLicense(
                "\(input.licenseURL)?Authorization=\(input.token)",
                ["Content-Type": "application/json", "User-Agent": "ContentProtectionIntegration/0.0.1"],
                body: json(["spc": spc]))
        })

    static let titanium = THEOplayerSample(
        "Titanium", .titaniumTheo, identify: { last($0, behind: "/") },
        license: { input, _, conversation in
            conversation.askForLicense(
                input.licenseURL,
                ["Authorization": "Bearer \(input.token)", "Content-Type": "application/octet-stream"],
                body: SampleBytes.spc)
        })

    static let all = [vuDRM, azure, uplynk, ezdrm, verimatrix, titanium]
}
