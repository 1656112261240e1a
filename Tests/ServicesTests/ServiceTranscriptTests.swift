import Testing
import WireTranscripts

/// The service's end of `Tests/Golden/Wires`.
@Suite(.timeLimit(.minutes(5))) struct ServiceTranscriptTests {
    private static let cases = WireTranscript.all.flatMap(\.cases).filter { $0.value("service") != nil }

    @Test(arguments: cases) func `a service takes what the transcript sends, and replies what it shows`(
        _ wire: WireCase
    ) async throws {
        #expect(try await ServicePlayer.differences(wire) == [])
    }

    /// What stands in a transcript can fail: each reply is damaged once.
    @Test(arguments: cases) func `a transcript that is damaged fails`(_ wire: WireCase) async throws {
        var damaged = wire
        for index in wire.steps.indices { damaged.steps[index].damageReply() }
        let count = wire.steps.count(where: Self.isReply)
        #expect(try await ServicePlayer.differences(damaged).count == count)
    }

    private static func isReply(_ step: WireStep) -> Bool { step.word == "<" || step.word == "app" }
}
