import Testing
import WireTranscripts

/// The service's end of `Tests/Golden/Wires`.
@Suite(.timeLimit(.minutes(5))) struct ServiceTranscriptTests {
    private static let cases = WireTranscript.all.flatMap(\.cases).filter { $0.value("service") != nil }

    /// Each part of each reply is damaged once, too, to prove that every line of a transcript can fail.
    @Test(arguments: cases) func `a service accepts a transcript's requests and sends its replies`(
        _ wire: WireCase
    ) async throws {
        #expect(try await ServicePlayer.differences(wire) == [])
    }
}
