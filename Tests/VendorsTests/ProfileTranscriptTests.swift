import LatchkeyVendors
import Testing
import WireTranscripts

/// The client's end of `Tests/Golden/Wires`.
@Suite(.timeLimit(.minutes(5))) struct ProfileTranscriptTests {
    private static let cases = WireTranscript.all.flatMap(\.cases).filter { $0.steps.contains(where: \.isClients) }

    @Test(arguments: cases) func `a profile matches the transcript in requests and results`(
        _ wire: WireCase
    ) async throws {
        var player = try ProfilePlayer(wire)
        #expect(await player.differences() == [])
    }

    @Test(arguments: cases) func `each damaged expectation fails`(_ wire: WireCase) async throws {
        for index in wire.steps.indices where wire.steps[index].isClients {
            var damaged = wire
            damaged.steps[index].damage()
            var player = try ProfilePlayer(damaged)
            #expect(await player.differences().count == 1, "line \(wire.steps[index].line)")
        }
    }

    @Test(arguments: VendorProfile.all) func `a transcript shows each profile's license request and its reply`(
        _ profile: VendorProfile
    ) {
        let steps = Self.cases.filter { $0.value("profile") == profile.identifier }.flatMap(\.steps)
        #expect(steps.contains { $0.word == ">" && $0.value.hasPrefix("license") && !$0.text.isEmpty })
    }
}

/// Lines that no end would read are refused.
@Suite struct WireTranscriptTests {
    private static let good = "profile azure\n## One\n> license\nPOST https://h/{a}\n\n| a |\n| b |\n"

    @Test func `every transcript of the repository is played`() {
        #expect(WireTranscript.flaws == [])
        #expect(WireTranscript.all.map(\.name) == VendorProfile.vendorIdentifiers.sorted())
    }

    @Test(arguments: [
        ("profile azure\n> license\nPOST https://h/", "no case"), ("", "no case"),
        (good.replacing("## One\n", with: "## One\nhost h\n"), "“host” is unknown"),
        (good.replacing("profile azure\n", with: "profil azure\n"), "“profil” is unknown"),
        (good.replacing("| a |\n| b |", with: "| a |"), "a table without rows"),
        (good.replacing("| b |", with: "| b | c |"), "2 cells"), (good.replacing("{a}", with: "a"), "the column a"),
        ("## One\nprofile azure\n", "nothing happens"), ("## One\n> license\n\n## Two\nid a\n", "expects nothing"),
        ("## One\n< license 200\n\n{ckc}\n", "expects nothing"), ("## One\nid\n", "expects nothing"),
        ("## One\nbundled\n", "expects nothing"), ("## One\napp\n", "expects nothing"),
        ("## One\nsecret\n", "expects nothing"), ("## One\n= ckc\n", "“=” is unknown"),
        ("## One\n> request\nGET /\n", "a request without a reply"),
    ])
    func `a transcript with an unread part is refused`(_ text: String, _ words: String) throws {
        #expect(try WireTranscript(Self.good, name: "good").cases.map(\.steps.count) == [1])
        let flaw = #expect(throws: WireFlaw.self) { try WireTranscript(text, name: "flawed") }
        #expect(flaw?.description.contains(words) == true, "\(flaw?.description ?? "")")
    }

    @Test(arguments: [
        ("set nothing=1", "has no setting"), ("profile none", "no profile"),
    ])
    func `a transcript that no client can play fails`(_ line: String, _ words: String) throws {
        let wire = try #require(
            try WireTranscript("profile azure\n## One\n\(line)\nid kid=1\n", name: "odd").cases.first)
        let trouble = #expect(throws: WireTrouble.self) { try ProfilePlayer(wire) }
        #expect(trouble?.description.contains(words) == true)
    }
}
