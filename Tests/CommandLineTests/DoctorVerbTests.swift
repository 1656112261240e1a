import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import LatchkeyCommandLine

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite struct DoctorVerbTests {
    @Test(arguments: [
        ["--credentials", "c", "--spc", "s"], ["--key", "skd://a"], ["--credentials", "c", "--key", "skd://a"],
        ["--allow-host", "https://a"],
    ])
    func `options that do not go together are wrong usage`(words: [String]) async {
        let run = await RecordedRun(["doctor", "p.m3u8", "--vendor", "vudrm"] + words, tool: .standard)
        #expect(run.status == .usage)
    }

    @Test(arguments: [("Thu, 01 Jan 2026 00:01:40 GMT", 100.0), ("Wed, 31 Dec 2025 23:58:20 GMT", -100), ("now", nil)])
    func `a server's clock is compared with this machine's`(date: String, ahead: Double?) async throws {
        let watch = ClockWatch(
            FakeTransport { _, _ in .status(200, [("Date", date)]) }, timekeeper: ManualTimekeeper())
        let url = try #require(URL(string: "https://a.example/"))
        _ = try await watch.send(URLRequest(url: url), bodyLimit: 10)
        #expect(watch.aheadByHost["a.example"] == ahead)
    }
}
