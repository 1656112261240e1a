import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors
import Testing

@Suite(.timeLimit(.minutes(5))) struct RedirectTests {
    @Test func `a certificate elsewhere is fetched without the credential`() async throws {
        try await LiveServices.with { live in
            let certificate = try #require(live.configured(.vuDRM).settings["certificateURL"])
            try await withRedirect(to: certificate) { address, seen in
                let (report, events) = try await keys(live, certificate: "\(address)/certificate")

                #expect(report.failure == nil)
                #expect(seen.withLock { $0.map { $0.headers["x-vudrm-token"] != nil } } == [true])
                let fetched = live.service(for: .vuDRM).requests(at: .certificate)
                #expect(fetched.count == 1)
                #expect(fetched.allSatisfy { $0.headers["x-vudrm-token"] == nil })
                #expect(events.contains { $0.redirect == true })
            }
        }
    }

    @Test func `a license request with a token in its body is not sent elsewhere`() async throws {
        try await LiveServices.with { live in
            try await withRedirect(to: "\(live.address)/vudrm/license/video") { address, seen in
                let (report, _) = try await keys(live, license: "\(address)/license")
                #expect((report.failure as? ContentKeyError)?.kind == .redirectRefused)
                #expect(seen.withLock { $0.count } == 1)
                #expect(live.service(for: .vuDRM).requests(at: .license).isEmpty)
            }
        }
    }

    @Test func `a redirect loop ends at the limit`() async throws {
        try await LiveServices.with { live in
            try await withRedirect(to: "/again") { address, seen in
                let (report, _) = try await keys(live, certificate: "\(address)/certificate")
                let error = try #require(report.failure as? ContentKeyError)
                #expect(error.kind == .redirectRefused)
                #expect(error.stage == .certificate)
                #expect(seen.withLock { $0.count } == 1 + LoaderConfiguration().redirectLimit)
            }
        }
    }

    private func keys(
        _ live: LiveServices, certificate: String? = nil, license: String? = nil
    ) async throws -> (StreamReport, [KeyEvent]) {
        let profile = live.configured(.vuDRM)
        let service = live.service(for: profile)
        let loader = ContentKeyLoader(
            profile.setting("certificateURL", to: certificate ?? profile.settings["certificateURL"])
                .setting("licenseURL", to: license).unchecked,
            credentials: Credentials { _ in CredentialSet(["token": service.issueToken()]) },
            configuration: LoaderConfiguration(
                hosts: HostPolicy(
                    allowed: [HostPolicy.Host(live.address.replacing("http://", with: ""))], loopback: .http),
                certificateFetch: .withFirstKey))
        let events = loader.events()
        let report = try await live.player(loader).keys(of: live.playlist(.transportStream, for: profile))
        return (report, await events.untilAnswer())
    }

    private func withRedirect(
        to target: String, _ body: (_ address: String, _ seen: Locked<[HTTPRequest]>) async throws -> Void
    ) async throws {
        let seen = Locked<[HTTPRequest]>([])
        let server = HTTPServer { request in
            seen.withLock { $0.append(request) }
            return HTTPResponse(status: 307, headers: ["Location": target])
        }
        let port = try server.start()
        let result: Result<Void, any Error>
        do { result = .success(try await body("http://127.0.0.1:\(port)", seen)) } catch { result = .failure(error) }
        await server.stop(within: .zero)
        try result.get()
    }
}

extension KeyEvent {
    /// Whether a redirect dropped the credentials; `nil` for other events.
    fileprivate var redirect: Bool? {
        guard case .redirected(_, let credentialsDropped) = kind else { return nil }
        return credentialsDropped
    }
}

extension AsyncStream<KeyEvent> {
    /// The events until a key's answer.
    fileprivate func untilAnswer() async -> [KeyEvent] {
        var events: [KeyEvent] = []
        for await event in self {
            events.append(event)
            switch event.kind {
            case .answered, .failed: return events
            default: continue
            }
        }
        return events
    }
}
