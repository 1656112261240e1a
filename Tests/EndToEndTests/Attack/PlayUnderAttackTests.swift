import Foundation
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import Testing

/// `latchkey play` against a server that damages playlists, certificates, licenses and segments. Each vendor plays once, and more until a
/// reply was damaged; `Scripts/attack SECONDS` makes it longer.
@Suite(.enabled(if: ToolProcess.isThere, Comment(rawValue: ToolProcess.whyNot)), .timeLimit(.minutes(30)))
struct PlayUnderAttackTests {
    @Test func `every run ends, plays or names the error, and writes no control character`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        let serve = try await ServeProcess("--credentials", folder.path("c"), "--content", DemoAsset.folder.path)
        let port = try #require(serve.address.split(separator: ":").last.flatMap { UInt16($0) })
        let proxy = try HostileProxy(to: port, seed: 1)
        let vendors = ["vudrm", "azure", "axinom", "keyos"]
        let end = AttackTime.end()
        var codes: [String: Int] = [:]
        var plays = 0
        while plays < vendors.count || proxy.damages == 0 || ContinuousClock.now < end {
            let vendor = vendors[plays % vendors.count]
            plays += 1
            let settings = serve.settings(of: vendor).map { word in
                // The token comes from the honest server.
                word.hasPrefix("token=@") ? word : word.replacing(serve.address, with: proxy.address)
            }
            let run = try await ToolProcess.run(
                ["play", "\(proxy.address)/media/\(vendor)/ts/master.m3u8", "--vendor", vendor, "--json"] + settings
                    + ["--credentials", folder.path("c"), "--loopback-http"])
            #expect([0, 1].contains(run.status), "\(vendor): \(run.status) \(run.output)\(run.error)")
            #expect(run.json != nil, "\(vendor): \(run.output)\(run.error)")
            let isClean = (run.output + run.error).unicodeScalars.allSatisfy {
                $0 == "\n" || $0.properties.generalCategory != .control
            }
            #expect(isClean, "\(vendor): \(run.output)\(run.error)")
            codes[run.status == 0 ? "played" : run.errorCode ?? "told", default: 0] += 1
        }
        AttackTime.report(
            "play: \(plays) runs, \(proxy.damages) damaged replies; \(codes.sorted { $0.value > $1.value })")
        _ = await serve.end(by: SIGTERM)
    }
}
