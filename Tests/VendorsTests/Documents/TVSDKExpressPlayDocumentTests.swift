import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The sample of "Apple FairPlay in TVSDK applications" with odd inputs, compared with the ExpressPlay profiles.
///
/// The certificate is in the app's bundle. How the sample gets the asset id from the URL is left to the reader; the vendor's Safari
/// sample takes the host, and so does this model. The SPC is sent unchanged, as ExpressPlay's API expects.
@Suite(.timeLimit(.minutes(5))) struct TVSDKExpressPlayDocumentTests {
    static let key = "skd://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=AQAA"
    static let keys = OddInput.keys(behind: "skd://fp.service.expressplay.com/hms/")
    /// The token is in the URL.
    static let tokenURLs = [
        "A+B/C==", "A%2BB%2FC%3D%3D", "A&x=1", "A#f", "a b", "größe", "A%20B", "A;b", "",
    ].map { text in
        OddInput(
            label: "token URL \(text)", key: "skd://movie-1",
            licenseURL: "https://fp.service.expressplay.com:80/hms/fp/rights/?ExpressPlayToken=\(text)")
    }

    /// Use case 3: the key URI is the token URL.
    static func direct(_ input: OddInput) -> Conversation {
        // The SDK's own URL; the loader accepts it only with this spelling of the scheme.
        guard let url = URL(string: input.key), url.scheme == "skd" else { return Conversation() }
        return posting(to: url.absoluteString.replacingOccurrences(of: "skd://", with: "https://"), for: url)
    }

    /// The first of the document's options: a token URL in the app's code.
    static func hardCoded(_ input: OddInput) -> Conversation {
        guard let url = URL(string: input.key), url.scheme == "skd" else { return Conversation() }
        return posting(to: input.licenseURL, for: url)
    }

    private static func posting(to address: String, for key: URL) -> Conversation {
        var conversation = Conversation()
        guard let url = URL(string: address), ["http", "https"].contains(url.scheme), url.host?.isEmpty == false else {
            return conversation
        }
        conversation[.identifier] = key.host ?? ""
        conversation.askForLicense(
            url.absoluteString, ["Content-Type": "application/octet-stream"], body: SampleBytes.spc)
        return conversation
    }

    static let differences: [ListedDifference] = [
        ListedDifference(
            "The sample ends, or declines, at such a URL; Latchkey takes every form of a key URI.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: [
                "skd:movie-1", "skd:a/b", "SKD://H.example/License/ABC", "skd:https://h.example/a?cid=1",
                "https://h.example/a?b=1", "movie-1",
            ])
    ]
    static let hardCodedDifferences: [ListedDifference] = []

    @Test(arguments: keys)
    func `with the token URL in the key URI equal bytes are sent, or differences are listed`(
        input: OddInput
    ) async {
        let wire = ProfileWire(.expressPlay, key: KeyURI(input.key), token: nil, ["certificate": "MIIB"])
        await compare(Self.direct(input), wire, Self.differences.parts(for: input))
    }

    @Test(arguments: tokenURLs)
    func `with a token URL in the app equal bytes are sent, or differences are listed`(
        input: OddInput
    ) async {
        let settings = ["certificate": "MIIB", "tokenURL": input.licenseURL]
        let wire = ProfileWire(.expressPlay, key: KeyURI(input.key), token: nil, settings)
        await compare(Self.hardCoded(input), wire, Self.hardCodedDifferences.parts(for: input))
    }

    private func compare(_ theirs: Conversation, _ wire: ProfileWire, _ listed: Set<Conversation.Part>) async {
        var ours = await Conversation(wire)
        (ours[.certificateURL], ours[.certificateHeaders]) = (nil, nil)
        let found = theirs.differences(from: ours)
        #expect(
            found == listed, "the sample:\n\(theirs.text(of: found))\nLatchkey:\n\(ours.text(of: found))")
    }

    @Test func `the lists are exact`() {
        #expect(Self.keys.count + Self.tokenURLs.count >= 40)
        #expect(Self.differences.flaws(for: Self.keys) == [])
        #expect(Self.hardCodedDifferences.flaws(for: Self.tokenURLs) == [])
    }

    /// Use case 2: the asset id goes to the entitlement server, whose answer is the token URL.
    @Test func `the entitlement server gives the token URL for the SPC`() async throws {
        var wire = ProfileWire(
            .expressPlayEntitlement, key: "skd:0a1b", token: nil,
            ["certificate": "MIIB", "entitlementURL": "https://10.0.248.85:8080/sees/SEESServlet"])
        let request = try await wire.lookupRequest()
        #expect(request?.hasPrefix("POST https://10.0.248.85:8080/sees/SEESServlet\n") == true)
        #expect(request?.contains(#""contentID":"0a1b""#) == true)
        wire.lookup = try wire.lookup(
            #"{"messageID":"MESSAGE-ID","version":1,"isAllowed":true,"epTokenURL":"https://fp.example:80/r/?T=1"}"#)
        #expect(try await wire.licenseRequest().hasPrefix("POST https://fp.example:80/r/?T=1\n"))
    }

    /// The sample finishes with the data if there is any, and otherwise with the error.
    @Test(arguments: [(200, true), (201, false), (400, false), (401, false), (500, false)])
    func `the player gets the body of a good reply`(status: Int, isKey: Bool) {
        let wire = ProfileWire(.expressPlay, key: KeyURI(Self.key), token: nil)
        let license = try? wire.license(ProfileWire.ckc, status: status)
        #expect(license?.ckc.revealed == (isKey ? ProfileWire.ckc : nil))
    }
}
