import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The sample of "AVPlayer with Cloud DRM in Swift" with odd inputs, compared with `cloud-drm-legacy`.
///
/// The model makes the sample's calls, in our own words; where the sample gives up, it sends nothing.
@Suite(.timeLimit(.minutes(5))) struct AVPlayerCloudDRMDocumentTests {
    static let brand = "11111111-2222-3333-4444-555555555555"
    static let key = "skd://tenant.la.drm.cloud/acquire-license/fairplay?BrandGuid=a&KID=b&IV=c"
    static let inputs =
        OddInput.keys(behind: "skd://tenant.la.drm.cloud/acquire-license/") + OddInput.tokens(with: key)
        + OddInput.certificates(with: key)

    static func sample(_ input: OddInput) -> Conversation {
        var conversation = Conversation()
        conversation.askForCertificate(URL(string: input.certificateURL)?.absoluteString ?? "")
        let identifier = input.key.replacingOccurrences(of: "skd://", with: "")
        guard let url = URL(string: input.key.replacingOccurrences(of: "skd://", with: "https://")) else {
            return conversation
        }
        conversation[.identifier] = identifier
        conversation.askForLicense(
            url.absoluteString, ["x-drm-brandGuid": brand, "x-drm-usertoken": input.token], body: SampleBytes.spc)
        return conversation
    }

    static let differences: [ListedDifference] = [
        ListedDifference(
            "URLSession calls a body without a type a form; the vendor's newer sample says octet-stream.",
            [.contentType], in: nil,
            except: ["skd://", "skd:", "skd://id:iv", "token \"\"", "token \"a\\nb\""]),
        ListedDifference(
            "The key URI names no key here: an empty id is refused before it is sent.",
            [.identifier, .licenseURL, .licenseHeaders, .body],
            in: ["skd://", "skd:"]),
        ListedDifference(
            "The sample replaces skd:// in these letters alone; a scheme has other forms, and may be missing.",
            [.identifier, .licenseURL],
            in: ["skd:movie-1", "skd:a/b", "SKD://H.example/License/ABC", "skd:https://h.example/a?cid=1"]),
        ListedDifference(
            "The sample replaces skd:// in these letters alone; a scheme has other forms, and may be missing.",
            [.identifier],
            in: ["https://h.example/a?b=1"]),
        ListedDifference(
            "The sample replaces skd:// in these letters alone; a scheme has other forms, and may be missing.",
            [.licenseURL],
            in: ["movie-1"]),
        ListedDifference(
            "An empty token is asked for again before anything is sent; the sample sends it.",
            [.identifier, .licenseURL, .licenseHeaders, .body],
            in: ["token \"\""]),
        ListedDifference(
            "A line break in a header would begin another field; it is refused.",
            [.identifier, .licenseURL, .licenseHeaders, .body],
            in: ["token \"a\\nb\""]),
    ]

    @Test(arguments: inputs)
    func `equal bytes go over the wire, or differences are listed`(input: OddInput) async {
        let profile = ProfileWire(
            .cloudDRMLegacy, key: KeyURI(input.key), token: input.token,
            ["certificateURL": input.certificateURL, "brandGuid": Self.brand])
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

    /// The sample passes on the body of status 200 unchanged; with any other status it never answers the key request.
    @Test(arguments: [(200, true), (201, false), (401, false), (404, false), (500, false)])
    func `the player gets the body of status 200`(status: Int, isKey: Bool) {
        let wire = ProfileWire(.cloudDRMLegacy, key: KeyURI(Self.key))
        let license = try? wire.license(ProfileWire.ckc, status: status)
        #expect(license?.ckc.revealed == (isKey ? ProfileWire.ckc : nil))
    }
}
