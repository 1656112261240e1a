import LatchkeySupport

#if os(Linux)
    import Foundation
    import LatchkeyCore
    import LatchkeySimulation
    import LatchkeyTerminal
    import LatchkeyTesting

    @testable import Latchkey
    @testable import LatchkeyBench
    @testable import LatchkeyCommandLine
    @testable import LatchkeyDemo

    /// The pages that programs write into files.
    enum ReportPage: String, Sendable, CaseIterable {
        case trace, doctor, demo, bench

        /// Words that the page shows.
        var words: [String] {
            switch self {
            case .trace:
                [
                    "license: forbidden", "What to do: Ask the vendor.", "Leases and renewals", "Where the time went",
                    "round trip 2 POST license, attempt 2, 200", "All steps",
                ]
            case .doctor: ["token: malformed", "What to do: Mend it.", "Nothing secret was sent", "Expected"]
            case .demo: ["5 of 5 right", "every sample is right", "Where the milliseconds went", "VuDRM · JW Player"]
            case .bench: ["1 of 2 aims met", "Missed aims", "aim ≤ 50 %", "Latest runs", "8 of 12 runs"]
            }
        }

        /// The cause in the page's heading; `nil` for a page of other things.
        var cause: String? {
            switch self {
            case .trace: "license: forbidden"
            case .doctor: "token: malformed"
            case .demo, .bench: nil
            }
        }

        /// The page. The demonstration is played once.
        func data() async throws -> Data {
            switch self {
            case .trace: Self.madeTrace.data(as: .html)
            case .doctor: Data(Self.madeReport.utf8)
            case .demo: try await Self.demonstration.value
            case .bench: Data(Self.madeFigures.utf8)
            }
        }

        private static let date = Date(timeIntervalSince1970: 1_767_225_600)

        /// A key whose license came at the second attempt, its renewals, and one that was refused.
        private static var madeTrace: KeyTrace {
            var trace = KeyTrace(seed: 7)
            func add(_ seconds: Double, _ exchange: Int, _ kind: KeyEvent.Kind) {
                trace.add(
                    KeyEvent(
                        exchange: exchange, key: "skd://license.example.com/a-key-with-a-rather-long-name-for-a-phone",
                        date: date.addingTimeInterval(seconds), kind: kind))
            }
            func request(_ status: Int, _ milliseconds: Double) -> KeyEvent.Kind {
                .exchanged(
                    KeyEvent.HTTPSummary(
                        stage: .license, method: "POST",
                        url: "https://license.example.com/a/rather/long/way/to/a/license",
                        status: status, milliseconds: milliseconds))
            }
            add(0, 1, .requested(.streaming))
            add(0.005, 1, .stageEnded(.spc, took: .milliseconds(3)))
            add(0.045, 1, request(503, 40))
            add(0.045, 1, .retrying(attempt: 1, after: .milliseconds(100), code: "serverTransient"))
            add(0.185, 1, request(200, 40))
            add(0.186, 1, .stageEnded(.license, took: .milliseconds(181)))
            add(0.187, 1, .answered(took: .milliseconds(187)))
            for lease in 0..<4 {
                add(0.187 + Double(lease) * 45, 1, .renewalPlanned(after: .seconds(45), lease: .seconds(60)))
            }
            let refusal = ContentKeyError(
                .forbidden, stage: .license, "The service answered 403.", remedy: "Ask the vendor.")
            add(181, 2, request(403, 40))
            add(181, 2, .failed(refusal, took: .milliseconds(40)))
            return trace
        }

        private static var madeReport: String {
            let report = DoctorReport(
                [
                    .error(.token, "malformed", "The token has 2 parts.", "Mend it."), .ok(.settings, "All are there."),
                    .ok(.identifier, "skd://demo/video is skd://demo/video"),
                ], sentSecrets: false)
            return DoctorPage(report, of: "VuDRM", madeTrace).page
        }

        private static var madeFigures: String {
            func figures(_ share: Double, _ speed: Double) -> [Figure] {
                [
                    Figure(name: "Time to key, new loader", value: share, unit: .share, aim: .atMost(0.5), note: "x"),
                    Figure(
                        name: "Key discovery", value: speed, unit: .megabytesPerSecond, aim: .atLeast(1_000), note: "y"),
                    Figure(name: "Licenses on the clock", value: nil, unit: .share, note: "others use the machine"),
                ]
            }
            let runs = (0..<12).map { number in
                BenchRun(
                    figures(0.4 + Double(number) / 100, 1_500), at: date.addingTimeInterval(Double(number) * 86_400),
                    build: "release")
            }
            let encoder = JSONEncoder()
            encoder.dateEncodingStrategy = .iso8601
            let lines = runs.compactMap { try? encoder.encode($0) }.joined(separator: Data("\n".utf8))
            return BenchPage(figures: figures(0.51, 1_500), history: BenchHistory(Data(lines)), run: runs[11]).page
        }

        /// The five applications of `make demo`, played.
        private static let demonstration = Task { @MainActor in
            let folder = try TemporaryFolder()
            let exchanges = ExchangeWatch()
            let stage = try DemoStage(output: folder.url) { exchanges.note($0) }
            let demonstration = PlayerDemonstration(on: stage, exchanges)
            var page = DemoPage()
            for document in DemoDocument.all {
                for form in document.forms.prefix(1) { page.add(await demonstration.play(form, of: document).row) }
            }
            _ = await stage.close()
            return page.data
        }
    }
#endif
