import Foundation
import Latchkey
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTesting
import LatchkeyTracing
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct TraceTests {
    @Test(arguments: ["trace", "trace.txt", "trace.html.gz", ""])
    func `a file of another ending is wrong usage, before anything is done`(file: String) async {
        for verb in [["play", "--vendor", "vudrm"], ["demo"], ["doctor", "p.m3u8", "--vendor", "vudrm"]] {
            let run = await RecordedRun(verb + ["--trace", file], tool: .standard)
            #expect(run.status == .usage, "\(run.error)")
        }
    }

    @Test(arguments: [("a.html", KeyTrace.Format.html), ("a.JSON", .openTelemetry), ("b.c/a.har", .har)])
    func `the ending says the format`(file: String, format: KeyTrace.Format) {
        #expect(throws: Never.self) { try TraceRecorder(file) }
        #expect(KeyTrace.Format(rawValue: URL(filePath: file).pathExtension.lowercased()) == format)
    }

    @Test func `requests carry a traceparent only where a file is wanted`() throws {
        #expect(TraceRecorder().observing(LoaderConfiguration()).tracing == .off)
        #expect(try TraceRecorder("a.html").observing(LoaderConfiguration()).tracing == .traceparent)
    }

    @Test(arguments: Checkup.Step.allCases)
    func `doctor's page says of each step what was seen, expected, and to be done`(step: Checkup.Step) {
        let report = DoctorReport(
            [.error(step, "someCode", "It is <b>wrong</b>.", "Mend it."), .ok(.clock, "Fine.")], sentSecrets: false)
        let page = DoctorPage(report, of: "VuDRM", KeyTrace()).page
        #expect(page.contains("<h2>\(step.rawValue): someCode</h2>"))
        for words in [
            "It is &lt;b&gt;wrong&lt;/b&gt;.", "Mend it.", "Nothing secret was sent",
            HTML.text(step.expectation).source,
        ] {
            #expect(page.contains(words), "\(words)")
        }
    }

    @Test func `doctor's page of what is right says so`() {
        let page = DoctorPage(DoctorReport([.ok(.clock, "Fine.")], sentSecrets: true), of: "VuDRM", KeyTrace()).page
        #expect(page.contains("Nothing is wrong.") && !page.contains("class=\"problem\""))
    }
}
