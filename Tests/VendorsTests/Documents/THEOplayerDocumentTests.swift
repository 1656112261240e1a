import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import Testing

/// The integrations of THEOplayer's "Creating a custom DRM integration" with odd inputs, compared with their profiles.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerDocumentTests {
    static let key = "skd://keys.example/movie-1?b=9"
    static let inputs =
        OddInput.keys(behind: "skd://keys.example/path/") + OddInput.tokens(with: key)
        + OddInput.certificates(with: key)

    @Test(arguments: THEOplayerSample.all, inputs)
    func `equal bytes go over the wire, or differences are listed`(sample: THEOplayerSample, input: OddInput) async {
        let (theirs, ours) = (sample.run(input), await Conversation(sample.wire(input)))
        let found = theirs.differences(from: ours)
        #expect(
            found == (THEOplayerDifferences.all[sample.name] ?? []).parts(for: input),
            "the sample:\n\(theirs.text(of: found))\nLatchkey:\n\(ours.text(of: found))")
    }

    @Test(arguments: THEOplayerSample.all)
    func `the list is exact`(sample: THEOplayerSample) {
        #expect(Self.inputs.count >= 40)
        #expect((THEOplayerDifferences.all[sample.name] ?? []).flaws(for: Self.inputs) == [])
    }

    /// The document's example: a token in a custom header, certificate and license bodies unchanged.
    @Test func `a custom header and unchanged bodies need a short profile`() async throws {
        var profile = VendorProfile.genericRaw
        profile.license.headers = [.init("x-token", .credential("token"))]
        let wire = ProfileWire(profile, key: "skd://content")
        #expect(
            try await wire.licenseRequest() == """
                POST https://l.example/fps
                content-type: application/octet-stream
                x-token: TOKEN

                fbff0001
                """)
        #expect(try await wire.certificateRequest() == "GET https://c.example/fps.cer")
        #expect(try wire.license(ProfileWire.ckc).ckc.revealed == ProfileWire.ckc)
    }

    private static let json = Data(#"{"ckc":"\#(ProfileWire.ckcText)"}"#.utf8)
    private static let tagged = Data("<ckc>\(ProfileWire.ckcText)</ckc>".utf8)
    private static let base64 = Data(ProfileWire.ckcText.utf8)
    private static let replies: [(THEOplayerSample, Data)] = [
        (.vuDRM, ProfileWire.ckc), (.azure, tagged), (.azure, base64), (.uplynk, json), (.ezdrm, ProfileWire.ckc),
        (.verimatrix, json), (.titanium, ProfileWire.ckc),
    ]

    /// How each sample unwraps its service's reply, and the bytes that the player gets.
    @Test(arguments: replies)
    func `the player gets the license that the sample unwraps`(sample: THEOplayerSample, body: Data) throws {
        let wire = sample.wire(OddInput(label: "", key: Self.key))
        #expect(try wire.license(body).ckc.revealed == ProfileWire.ckc)
    }
}
