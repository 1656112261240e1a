import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySupport
import LatchkeyTesting
import Testing

@testable import LatchkeyBench

@Suite struct FigureTests {
    @Test(arguments: [
        (Figure.Aim.atLeast(2), 2.0, true), (.atLeast(2), 1.9, false), (.atMost(2), 2, true), (.atMost(2), 2.1, false),
        (.below(2), 1.9, true), (.below(2), 2, false),
    ])
    func `an aim is met up to its limit`(_ aim: Figure.Aim, _ value: Double, _ isMet: Bool) {
        #expect(Figure(name: "x", value: value, unit: .allocations, aim: aim).isMet == isMet)
    }

    @Test func `an unmeasured figure is neither met nor missed, and says why`() {
        let figure = Figure(name: "x", value: nil, unit: .share, aim: .atLeast(0.9), note: "There is no openssl.")
        #expect(figure.isMet == nil)
        #expect(figure.cells == ["x", "not measured", "≥ 90 %", "–", "There is no openssl."])
    }

    @Test(arguments: [
        (Figure.Unit.share, 0.9314, "93.1 %"), (.microseconds, 7.04, "7 µs"), (.milliseconds, 104.36, "104.4 ms"),
        (.allocations, 44.1, "44.1"), (.megabytesPerSecond, 1955.4, "1955 MB/s"),
    ])
    func `a number is shown with its unit`(_ unit: Figure.Unit, _ value: Double, _ text: String) {
        #expect(unit.text(value) == text)
    }

    @Test func `json has the number, the aim and the verdict`() throws {
        let figure = Figure(name: "x", value: 0.5, unit: .share, aim: .atMost(0.4), note: "n")
        let json = try JSONSerialization.jsonObject(with: JSONEncoder().encode(figure)) as? [String: Any]
        #expect(json?["value"] as? Double == 0.5)
        #expect(json?["isMet"] as? Bool == false)
        #expect(json?["aim"] as? [String: Double] == ["atMost": 0.4])
        #expect(json?["unit"] as? String == "share")
    }

    @Test func `a share is the median of the ratios, not the ratio of the medians`() {
        let pairs: [(own: Double, other: Double)] = [(1, 2), (30, 40), (9, 10)]
        let figure = Figure.share("x", pairs) { "\($0) of \($1)" }
        #expect(figure.value == 0.75)
        #expect(figure.note == "9 of 10")
    }

    @Test func `a busy machine spoils the clock, not the processor time`() {
        let license = Throughput(pieces: 80, seconds: 1, processTime: 1)
        let half = Throughput(pieces: 50, seconds: 1, processTime: 0.5)
        let figures = Figure.licenses("x", [(own: license, other: half)], cores: 1, aim: .atMost(30))
        #expect(figures.map { $0.value?.shown(places: 3) } == ["2500", "0.8", nil])
        let whole = Throughput(pieces: 100, seconds: 1, processTime: 0.95)
        let mixed = Figure.licenses(
            "x", [(own: license, other: half), (own: license, other: whole)], cores: 1, aim: .atMost(30))
        #expect(mixed.map(\.value).last == 0.8)
    }

    @Test(arguments: [([], nil), ([3], 3), ([9, 1, 4], 4), ([8, 1, 2, 4], 3)] as [([Double], Double?)])
    func `the median is in the middle`(_ numbers: [Double], _ median: Double?) {
        #expect(numbers.median == median)
    }
}

@Suite struct LargePlaylistTests {
    @Test func `it is the corpus's playlist, byte for byte`() throws {
        let bytes = try LargePlaylist.bytes()
        #expect(bytes.count == 1_163_764)
        let digest = try MessageDigest.sha256(Array(bytes))
        #expect(Data(digest).hexString == "97a231f1c4ff9f776e1896ff1c53ac0c52b05564eb0d23a80492f663aadd9c3e")
    }

    @Test func `readers find all its keys`() throws {
        let bench = try DiscoveryBench()
        #expect(try bench.discovery(seconds: 0) > 0)
        #expect(try bench.lineScan(seconds: 0) > 0)
    }
}

@Suite struct OpenSSLSpeedTests {
    private static let output = """
        +DTP:2048:private:rsa:1
        +R1:1696:1024:0.14
        +F2:1:1024:12114.285714:206453.846154
        +F2:2:2048:4075.000000:60913.333333:1:2

        """

    @Test(arguments: [(1024, 12_114.285714), (2048, 4_075), (4096, nil)] as [(Int, Double?)])
    func `a key size's private operations are found`(_ bits: Int, _ rate: Double?) {
        #expect(OpenSSLSpeed.privateOperations(in: Self.output, bits: bits) == rate)
    }

    @Test(arguments: ["", "+F2", "+F2:1:1024", "+F2:1:1024:fast:slow", "+F2:1:1024:0.0:0.0", "+F2:1:1024:nan:1"])
    func `other output has no rate`(_ output: String) {
        #expect(OpenSSLSpeed.privateOperations(in: output, bits: 1024) == nil)
    }
}

@Suite struct ToolRunTests {
    @Test func `a program's output and its environment`() throws {
        let shell = try ToolRun.find("sh")
        #expect(
            try ToolRun.output(of: shell, ["-c", "printf %s \"$NAME\""], environment: ["NAME": "value"]) == "value")
    }

    @Test func `a signal that the program expects reaches it`() throws {
        let shell = try ToolRun.find("sh")
        #expect(
            try ToolRun.output(of: shell, ["-c", "trap 'echo woken; exit' ALRM; kill -ALRM $$; echo deaf"]) == "woken\n"
        )
    }

    @Test func `a failure and a missing program are named`() throws {
        let shell = try ToolRun.find("sh")
        #expect { try ToolRun.output(of: shell, ["-c", "exit 3"]) } throws: {
            ($0 as? Diagnosis)?.code == "toolFailed" && ($0 as? Diagnosis)?.reason.contains("3") == true
        }
        #expect { try ToolRun.find("no-such-program-anywhere") } throws: { ($0 as? Diagnosis)?.code == "toolMissing" }
    }
}

@Suite(.timeLimit(.minutes(5))) struct HeldKeysBenchTests {
    @Test func `keys are renewed as often as their lease asks, and all live`() async throws {
        let day = try await HeldKeysBench(keys: 3, day: .seconds(3_600)).live()
        // Each 390 to 450 s.
        #expect((3 * 8...3 * 9).contains(day.renewals))
        #expect(day.timePerRenewal > 0 && day.timePerRequest > 0)
        _ = try await HeldKeysBench().bytesPerKey(keys: 50)
    }
}

@Suite(.timeLimit(.minutes(5))) struct RecordingBenchTests {
    @Test func `a license is requested with a record and without`() async throws {
        let bench = RecordingBench()
        // With concurrent tests, whose processor time is the process's, too, the figures prove nothing.
        _ = try await bench.timePerRequest(.off, requests: 2)
        _ = try await bench.timePerRequest(.support, requests: 2)
        #expect(try await bench.timePerBundle() > 0)
    }

    @Test func `a failed part says why, and the others are measured`() async {
        let figure = Figure(name: "x", value: 1, unit: .bytes)
        let figures = await Bench.figures(of: [("a", { throw Diagnosis.keyLost }), ("b", { [figure] })])
        #expect(figures.map(\.hasFailed) == [true, false] && figures.last == figure)
        #expect(figures.first?.note.hasPrefix("failed: ") == true)
    }
}

@Suite struct KeyServerBenchTests {
    @Test(arguments: [1024, 2048]) func `each SPC is answered whole and in steps`(_ bits: Int) throws {
        let bench = try KeyServerBench(bits: bits)
        #expect(Set(bench.spcs).count == 64)
        for number in 0..<2 { try bench.answer(number) }
        #expect(try bench.timeBesideRSA(seconds: 0) > 0 && bench.rate(seconds: 0) > 0)
    }

    @Test func `without the counter nothing is counted`() {
        #expect { try Bench.ownCount() } throws: { ($0 as? Diagnosis)?.code == "toolFailed" }
    }
}

#if os(Linux)
    @Suite(.timeLimit(.minutes(5))) struct AllocationTests {
        @Test func `a program's allocations and their bytes are counted`() throws {
            let folder = try TemporaryFolder()
            let counter = try AllocationCounter(in: URL(filePath: folder.path("counter")))
            #expect { try counter.count() } throws: { ($0 as? Diagnosis)?.code == "toolFailed" }
            let shell = try ToolRun.find("sh")
            let text = String(repeating: "x", count: 100_000)
            _ = try ToolRun.output(of: shell, ["-c", "true"], environment: counter.environment)
            let short = try counter.count()
            _ = try ToolRun.output(of: shell, ["-c", "y=\(text)$y"], environment: counter.environment)
            let long = try counter.count() - short
            #expect(short.allocations > 0 && short.bytes > short.allocations)
            #expect(long.bytes > short.bytes + 100_000)
        }

        @Test(arguments: [(10.0, 100.0, [true, true]), (11, 100, [false, true]), (10, 101, [true, false])])
        func `a request that allocates more than its budget misses its aim`(
            _ allocations: Double, _ bytes: Double, _ met: [Bool]
        ) {
            let budget = AllocationBudget(name: "x", allocations: 10, bytes: 100)
            let count = AllocationCount(allocations: allocations, bytes: bytes)
            #expect(budget.figures(count, of: "release").map(\.isMet) == met)
            #expect(budget.figures(count, of: "debug").map(\.isMet) == [nil, nil])
        }

        @Test(arguments: [(1.0, 1.0, [true, true]), (1, 1.2, [true, false]), (2, 2, [false, false])])
        func `reading that takes more for each KB of a longer capture misses its aim`(
            _ allocations: Double, _ bytes: Double, _ met: [Bool]
        ) {
            let short = AllocationCount(allocations: 1, bytes: 1)
            let count = CaptureCount(short: short, long: AllocationCount(allocations: allocations, bytes: bytes))
            #expect(count.figures.suffix(2).map(\.isMet) == met)
        }
    }
#endif
