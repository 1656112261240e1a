import LatchkeyLicensing
import Testing

@Suite(.timeLimit(.minutes(1))) struct RunningPlaybacksTests {
    @Test func `a playback runs from its license until its lease ends, and longer once renewed`() {
        let playbacks = RunningPlaybacks()
        #expect(!playbacks.runs("ann", at: .zero))
        playbacks.note("ann", until: .seconds(300))
        #expect(playbacks.runs("ann", at: .seconds(299)))
        #expect(!playbacks.runs("ann", at: .seconds(300)))
        #expect(!playbacks.runs("bob", at: .seconds(1)))
        playbacks.note("ann", until: .seconds(600))
        #expect(playbacks.runs("ann", at: .seconds(599)))
    }

    @Test func `a flood of playbacks takes no more memory, and the latest are known`() {
        let playbacks = RunningPlaybacks(most: 100)
        for number in 0..<10_000 { playbacks.note(number, until: .seconds(300)) }
        #expect(playbacks.count <= 100)
        for number in 9_950..<10_000 { #expect(playbacks.runs(number, at: .seconds(1))) }
        #expect(!playbacks.runs(1, at: .seconds(1)))
    }
}
