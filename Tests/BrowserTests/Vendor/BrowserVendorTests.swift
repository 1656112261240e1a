import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

extension InChromium {
    /// The two interpreters of vendors' profiles, Swift's and the browser's, written apart and compared byte for byte.
    @Suite(.timeLimit(.minutes(10))) struct BrowserVendorTests {
        @Test func `the browser's requests are those of the client, for every profile, setting and key URI`()
            async throws
        {
            try await VendorPage.with { page in
                for profile in VendorProfile.all {
                    let exchanges = VendorExchange.all(profile)
                    let made = try await page.requests(exchanges)
                    try #require(made.count == exchanges.count)
                    for (exchange, made) in zip(exchanges, made) {
                        let right = await exchange.requests()
                        #expect(made == right, "\(profile.identifier) \(exchange.key.raw)")
                    }
                }
            }
        }

        @Test func `the browser reads every reply as the client does`() async throws {
            try await VendorPage.with { page in
                for profile in VendorProfile.all {
                    let exchange = VendorExchange(profile: profile)
                    let replies = SampleReplies.all(profile)
                    let licenses = try await page.replies("license", replies, exchange)
                    let certificates = try await page.replies("certificate", replies, exchange)
                    try #require(licenses.count == replies.count && certificates.count == replies.count)
                    let right = zip(exchange.licenses(replies), exchange.certificates(replies))
                    for (index, right) in right.enumerated() {
                        let body = String(decoding: replies[index].body.prefix(80), as: UTF8.self)
                        let place = "\(profile.identifier) \(replies[index].status) \(body)"
                        #expect(licenses[index] == right.0, "\(place)")
                        #expect(certificates[index] == right.1, "\(place)")
                    }
                }
            }
        }

        @Test func `Chromium sends what it is given, but for what a page may not set`() async throws {
            try await VendorPage.with { page in
                var changed: [String: [String]] = [:]
                for profile in VendorProfile.all {
                    let changes = try await page.changes(VendorExchange.all(profile)[0])
                    if !changes.isEmpty { changed[profile.identifier] = changes }
                }
                #expect(changed == [:])
            }
        }
    }
}

/// Replies in every usual form, and refusals, for a profile's rules.
private enum SampleReplies {
    static func all(_ profile: VendorProfile) -> [HTTPReply] {
        let codes =
            profile.errors.codes.keys.sorted() + [
                "4711", "a secret of more than sixty-four characters, which nobody may see at all",
            ]
        let refusals = codes.flatMap { code in
            [
                #"{"errorCode":"\#(code)","code":"\#(code)","message":"no","error":{"code":"\#(code)"}}"#,
                "<html><title>Error \(code)</title></html>", "MDRM-\(code) refused", "no \(code)!",
            ]
        }
        let bodies = bodies + refusals.map { Data($0.utf8) }
        return [200, 201, 403, 412, 503].flatMap { status in
            bodies.map { HTTPReply(status: status, headers: [], body: $0) }
                + codes.prefix(3).map { code in
                    let headers = profile.errors.code.compactMap {
                        if case .header(let name) = $0 { name } else { nil }
                    }
                    return HTTPReply(
                        status: status, headers: (headers + ["x-error-code"]).map { ($0, code) },
                        body: SampleBytes.ckc())
                }
        }
    }

    private static let ckc = SampleBytes.ckc(0xfb)
    private static let text = ckc.base64EncodedString()
    private static let certificate = SampleBytes.certificate.base64EncodedString()
    private static let urlSafe = text.replacing("+", with: "-").replacing("/", with: "_").replacing("=", with: "")
    private static let texts = [
        text, " \(text)\n", urlSafe, "<ckc>\(text)</ckc>", #"{"ckc":"\#(text)"}"#,
        #"{"CkcMessage":"\#(text)","sessionToken":"S"}"#,
        #"{"License":"<ckc>\#(text)</ckc>"}"#, #" {"license":"\#(text)","ckc":"\#(urlSafe)"}"#, #"{"ckc":null}"#,
        #"{"ckc":""}"#,
        #"{"ckc":"no key for you"}"#, "", " \n", "Not authorized", "[1]", "{", "AAAAAQ==", "\u{feff}<html>",
        "<?xml version=\"1.0\"?>",
        "<!DOCTYPE html><title>Sorry</title>", certificate, #"{"certificate":"\#(certificate)"}"#,
        "-----BEGIN CERTIFICATE-----\n\(certificate)\n-----END CERTIFICATE-----\n",
        "-----BEGIN PRIVATE KEY-----\nAA==\n",
    ]
    private static let bodies: [Data] =
        [ckc, ckc.prefix(27), SampleBytes.ckc(cutting: 1), ckc + Data([0]), SampleBytes.certificate]
        + texts.map { Data($0.utf8) }
        + [
            SampleBytes.certificate.dropLast(), Data([0x30, 0x82, 0x01, 0x00, 0x02, 0x01, 0x03]) + Data(count: 253),
            Data(count: 127), Data(repeating: 7, count: 128),
        ]
}
