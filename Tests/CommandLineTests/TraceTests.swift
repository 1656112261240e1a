import Foundation
import Latchkey
import LatchkeySimulation
import LatchkeySupport
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal

@Suite(.timeLimit(.minutes(5))) struct TraceTests {
    @Test(arguments: ["trace", "trace.txt", "trace.html.gz", ""])
    func `a wrong file extension is wrong usage, before anything is done`(file: String) async {
        for verb in [["play", "--vendor", "vudrm"], ["demo"], ["doctor", "p.m3u8", "--vendor", "vudrm"]] {
            let run = await RecordedRun(verb + ["--trace", file], tool: .standard)
            #expect(run.status == .usage, "\(run.error)")
        }
    }

    @Test(arguments: [("a.html", KeyTrace.Format.html), ("a.JSON", .openTelemetry), ("b.c/a.har", .har)])
    func `extensions set the format`(file: String, format: KeyTrace.Format) {
        #expect(throws: Never.self) { try TraceRecorder(file) }
        #expect(KeyTrace.Format(rawValue: URL(filePath: file).pathExtension.lowercased()) == format)
    }

    @Test func `requests carry a traceparent only if a file is requested`() throws {
        #expect(TraceRecorder().observing(LoaderConfiguration()).tracing == .off)
        #expect(try TraceRecorder("a.html").observing(LoaderConfiguration()).tracing == .traceparent)
    }

    @Test(arguments: Checkup.Step.allCases)
    func `doctor's page shows each step's result, expectation and remedy`(step: Checkup.Step) {
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

    @Test func `doctor's page reports a good result`() {
        let right = DoctorReport(
            [Checkup.Step.playlist, .certificate, .license].map { .ok($0, "Fine.") }, sentSecrets: true)
        let page = DoctorPage(right, of: "VuDRM", KeyTrace()).page
        #expect(page.contains("Nothing is wrong.") && !page.contains("class=\"problem\""))
    }

    @Test func `doctor's page of an incomplete recording says once how to complete it, and nothing of sent secrets`() {
        let unseen = ["One", "One", "Two"].map { Checkup.unseen(.playlist, "\($0) is missing.", "Save it again.") }
        let report = DoctorReport(unseen, sentSecrets: false, isRecorded: true)
        let page = DoctorPage(report, of: "VuDRM", KeyTrace()).page
        let top = page.components(separatedBy: "<h2>Steps</h2>")[0]
        #expect(top.contains("<h2>Not enough was seen</h2><p>One is missing. Two is missing."))
        #expect(top.components(separatedBy: "Save it again.").count == 2)
        #expect(!page.contains("secret") && !page.contains("class=\"legend\""))
    }

    @Test func `of many unseen parts, an unseen license is stated first`() {
        let playlists = (1...3).map { Checkup.unseen(.playlist, "Playlist \($0) is missing.", "Save it again.") }
        let checks = playlists + [.unseen(.license, "The license was sealed.", "Look.")]
        let unseen = DoctorReport(checks, sentSecrets: false).unseen
        #expect(unseen.hasPrefix("The license was sealed. Playlist 1 is missing. Playlist 2 is missing."))
    }

    @Test(arguments: Checkup.Step.allCases)
    func `an all-clear includes every needed step`(step: Checkup.Step) {
        let checks = Checkup.Step.allCases.filter { $0 != step }.map { Checkup.ok($0, "Fine.") }
        let report = DoctorReport(checks, sentSecrets: false)
        let isNeeded = [.playlist, .certificate, .license].contains(step)
        #expect(report.verdict == (isNeeded ? .unknown : .right) && report.healthy == !isNeeded)
        #expect(report.status == (isNeeded ? .unknown : .yes))
        let page = DoctorPage(report, of: "VuDRM", KeyTrace()).page
        #expect(page.contains("Nothing is wrong") == !isNeeded && page.contains("Not enough was seen") == isNeeded)
        let unseen = DoctorReport(
            checks + [.ok(step, "Fine."), .unseen(step, "Two are missing.", "Look.")], sentSecrets: false)
        #expect(unseen.verdict == .unknown && unseen.headline.contains("Two are missing."))
    }
}
