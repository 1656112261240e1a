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

    /// What stands in a transcript can fail: each part of each reply is damaged once.
    @Test(arguments: cases) func `a transcript that is damaged fails`(_ wire: WireCase) async throws {
        for part in WireStep.ReplyPart.allCases {
            for index in wire.steps.indices {
                var damaged = wire
                guard damaged.steps[index].damageReply(part) else { continue }
                #expect(
                    try await ServicePlayer.differences(damaged).count == 1, "\(part), line \(wire.steps[index].line)")
            }
        }
    }
}
