import Foundation
import LatchkeyCore
import LatchkeySystem
import LatchkeyTesting
import LatchkeyTransport
import Testing

@testable import LatchkeyForms
@testable import LatchkeyLicensing
@testable import LatchkeyServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How often the provider is asked.
@Suite(.timeLimit(.minutes(1))) struct OpenIDProviderTests {
    /// Answers with a provider's document, or with 503, when it is let.
    private final class HeldTransport: Transport {
        let requests = Locked(0)
        let isAway: Bool
        private let gate = Promise<Void, Never>()

        init(isAway: Bool) { self.isAway = isAway }

        func letGo() { gate.resolve(.success(())) }

        func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
            requests.withLock { $0 += 1 }
            try await gate.value
            let document = """
                {"issuer":"https://login.example","authorization_endpoint":"https://login.example/a",
                 "token_endpoint":"https://login.example/t","jwks_uri":"https://login.example/k"}
                """
            return HTTPReply(status: isAway ? 503 : 200, body: Data(document.utf8))
        }
    }

    @Test(arguments: [true, false]) func `of many concurrent sign-ins one asks the provider`(_ isAway: Bool)
        async throws
    {
        var settings = ServerSettings.OpenID()
        settings.issuer = "https://login.example"
        let transport = HeldTransport(isAway: isAway)
        let provider = OpenIDProvider(
            settings, secret: nil, transport: transport, health: EngineHealth("openID"), timekeeper: ManualTimekeeper())
        let begun = Locked(0)
        let sent = await withTaskGroup(of: Bool.self) { group in
            for _ in 0..<20 {
                group.addTask {
                    begun.withLock { $0 += 1 }
                    return (try? await provider.authorization(state: "s", nonce: "n", challenge: "c")) != nil
                }
            }
            while begun.withLock({ $0 }) < 20 { await Task.yield() }
            for _ in 0..<1_000 { await Task.yield() }
            transport.letGo()
            return await group.reduce(into: []) { $0.append($1) }
        }
        #expect(sent == Array(repeating: !isAway, count: 20))
        #expect(transport.requests.withLock { $0 } == 1)
        #expect(provider.health.isAway == isAway)
    }
}
