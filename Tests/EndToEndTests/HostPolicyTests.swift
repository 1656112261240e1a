import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct HostPolicyTests {
    @Test func `a host that only the playlist names gets no request`() async throws {
        try await withTwoServices { configured, named in
            let report = try await keys(through: configured, of: named, allowed: [])
            #expect((report.failure as? ContentKeyError)?.kind == .hostRefused)
            #expect((report.failure as? ContentKeyError)?.stage == .license)
            #expect(licenses(at: named) == 0)
            #expect(licenses(at: configured) == 0)
        }
    }

    @Test func `a host that the app allows gets the license request`() async throws {
        try await withTwoServices { configured, named in
            let host = HostPolicy.Host(named.address.replacing("http://", with: ""))
            let report = try await keys(through: configured, of: named, allowed: [host])
            #expect(report.failure == nil)
            #expect(licenses(at: named) == 1)
            #expect(licenses(at: configured) == 0)
        }
    }

    @Test(.enabled(if: ToolProcess.isThere, "\(ToolProcess.whyNot)"))
    func `play uses such a host only with --allow-host`() async throws {
        let folder = try TemporaryFolder()
        try LiveServices.writeCredentials(to: folder.file("c"))
        try await withTwoServices { configured, named in
            let profile = configured.configured(.vuDRM)
            let token = configured.service(for: profile).issueToken().revealedText
            let words =
                ["play", named.playlist(.transportStream, for: profile), "--vendor", "vudrm", "--loopback-http"]
                + profile.settings.flatMap { ["--set", "\($0.key)=\($0.value)"] }
                + ["--set", "token=\(token)", "--credentials", folder.path("c")]
            let refused = try await ToolProcess.run(words)
            #expect(refused.status == 1)
            // Nothing advises to allow a host because a playlist named it.
            #expect(refused.output.contains("(hostRefused)") && !refused.output.contains("--allow-host"))
            #expect(licenses(at: named) == 0)

            let host = named.address.replacing("http://", with: "")
            #expect(try await ToolProcess.run(words + ["--allow-host", host]).status == 0)
            #expect(licenses(at: named) == 1)
        }
    }

    private func withTwoServices(_ body: (LiveServices, LiveServices) async throws -> Void) async throws {
        try await LiveServices.with { one in try await LiveServices.with { other in try await body(one, other) } }
    }

    private func licenses(at services: LiveServices) -> Int {
        services.service(for: .vuDRM).requests(at: .license).count
    }

    private func keys(
        through configured: LiveServices, of named: LiveServices, allowed: Set<HostPolicy.Host>
    ) async throws -> StreamReport {
        var configuration = LoaderConfiguration.loopback
        configuration.hosts.allowed = allowed
        let loader = configured.loader(.vuDRM, configuration: configuration)
        return try await configured.player(loader).keys(of: named.playlist(.transportStream, for: .vuDRM))
    }
}
