import Testing

/// The rule for growing memory.
struct AttackTallyTests {
    @Test(arguments: [
        ([154, 188, 209, 202, 204, 197], true), ([100, 140, 180, 200, 210, 220], true),
        ([100, 120, 140, 160, 180, 200], false), ([100, 160], true), ([100, 165], false), ([], false),
    ])
    func `memory levels off if the last rounds add little`(_ mebibytes: [Int], _ expected: Bool) {
        var tally = AttackRun.Tally()
        tally.memory = mebibytes.map { $0 << 20 }
        #expect(tally.levelsOff(isBrief: false) == expected)
    }

    @Test func `each request of a brief attack may add 4 KiB`() {
        var tally = AttackRun.Tally()
        tally.memory = [92, 115, 120, 127, 135, 140].map { $0 << 20 }
        (tally.attacks, tally.answers) = (12_000, 288)
        #expect(tally.levelsOff(isBrief: true))
        tally.attacks -= 1
        #expect(!tally.levelsOff(isBrief: true))
    }
}
