import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The sample of "JW Player SDK iOS VUDRM FairPlay Integration" with odd inputs, compared with `vudrm`.
///
/// The model makes the sample's calls (`URL`, `NSURL`, `URLComponents`), in our own words; where the sample would end its
/// process, it sends nothing. It fetches the playlist's first key URI itself; here the key URI is the input.
@Suite(.timeLimit(.minutes(5))) struct JWPlayerVuDRMDocumentTests {
    static let key = "skd://fairplay-license.vudrm.tech/license/movie-1"
    static let inputs =
        OddInput.keys(behind: "skd://fairplay-license.vudrm.tech/license/") + OddInput.tokens(with: key)
        + OddInput.certificates(with: key)

    static func sample(_ input: OddInput) -> Conversation {
        var conversation = Conversation()
        if var address = URLComponents(string: input.certificateURL) {
            address.query = nil
            conversation.askForCertificate(
                address.string ?? "", ["x-vudrm-token": input.token, "Cache-Control": "max-age=0"])
        }
        guard let key = URL(string: input.key), let contentID = NSURL(string: key.absoluteString)?.lastPathComponent,
            let license = URLComponents(
                string: key.absoluteString.replacingOccurrences(of: "skd", with: "https"))?.url
        else { return conversation }
        conversation[.identifier] = key.absoluteString
        let body = [
            "token": input.token, "contentId": contentID, "payload": SampleBytes.spc.base64EncodedString(),
        ]
        conversation.askForLicense(
            license.absoluteString, ["Content-type": "application/json"],
            body: (try? JSONEncoder().encode(body)) ?? Data())
        return conversation
    }

    static let differences: [ListedDifference] = [
        ListedDifference(
            "The sample encodes what no URL contains; the SPC names the key as the playlist has it.",
            [.identifier],
            in: [
                "skd://fairplay-license.vudrm.tech/license/größe", "skd://fairplay-license.vudrm.tech/license/a b",
                "skd://fairplay-license.vudrm.tech/license/100%", "skd://fairplay-license.vudrm.tech/license/%zz",
                "skd://fairplay-license.vudrm.tech/license/a|b", "skd://fairplay-license.vudrm.tech/license/😀",
            ]),
        ListedDifference(
            "The sample rewrites every skd in the URI; only the scheme is one.",
            [.licenseURL],
            in: ["skd://fairplay-license.vudrm.tech/license/skd/skd"]),
        ListedDifference(
            "The sample ends, or declines, at such a URL; Latchkey takes every form of a key URI.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["skd:movie-1", "skd:a/b", "skd:https://h.example/a?cid=1"]),
        ListedDifference(
            "The sample replaces the letters skd alone; a scheme has no letter case, and may be missing.",
            [.licenseURL],
            in: ["SKD://H.example/License/ABC", "movie-1"]),
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.identifier, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["skd://h.example", "skd://h.example?b=1", "skd://FairPlay"]),
        ListedDifference(
            "An empty token is asked for again before anything is sent; the sample sends it.",
            [.identifier, .certificateURL, .certificateHeaders, .licenseURL, .licenseHeaders, .contentType, .body],
            in: ["token \"\""]),
        ListedDifference(
            "A line break in a header would begin another field; it is refused.",
            [.certificateURL, .certificateHeaders],
            in: ["token \"a\\nb\""]),
    ]

    @Test(arguments: inputs)
    func `equal bytes go over the wire, or differences are listed`(input: OddInput) async {
        let profile = ProfileWire(
            .vuDRM, key: KeyURI(input.key), token: input.token,
            ["certificateURL": input.certificateURL, "licenseURL": ""])
        let (theirs, ours) = (Self.sample(input), await Conversation(profile))
        let found = theirs.differences(from: ours)
        #expect(
            found == Self.differences.parts(for: input),
            "the sample:\n\(theirs.text(of: found))\nLatchkey:\n\(ours.text(of: found))")
    }

    @Test func `the list is exact`() {
        #expect(Self.inputs.count >= 40)
        #expect(Self.differences.flaws(for: Self.inputs) == [])
    }

    /// The sample passes on the body of status 200 unchanged, even a web page, and nothing otherwise.
    @Test(arguments: [(200, true), (201, false), (400, false), (403, false), (500, false)])
    func `the player gets the body of status 200`(status: Int, isKey: Bool) throws {
        let wire = ProfileWire(.vuDRM, key: KeyURI(Self.key))
        let license = try? wire.license(ProfileWire.ckc, status: status)
        #expect(license?.ckc.revealed == (isKey ? ProfileWire.ckc : nil))
        #expect(wire.refusal("<html></html>")?.kind == .licenseMalformed)
    }
}
