import Foundation
import Latchkey
import Testing

/// The README's example, compiled and run. A change here is a change there.
@Suite struct ReadmeExampleTests {
    struct PlayerRequest: PlayerKeyRequest {
        let keyURI: KeyURI
        let finish: @Sendable (Result<Data, ContentKeyError>) -> Void

        func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data { Data([1]) }
        func answer(_ result: Result<Data, ContentKeyError>) { finish(result) }
    }

    @Test func `the example of the README gets its one answer`() async throws {
        let certificateURL = try #require(URL(string: "https://127.0.0.1:1/certificate/demo-client"))
        let loader = ContentKeyLoader(
            .vuDRM(certificate: certificateURL),
            credentials: .token { reason in "a fresh token, \(reason)" },
            configuration: LoaderConfiguration(retry: .never))
        let result = await withCheckedContinuation { continuation in
            loader.answer(
                PlayerRequest(keyURI: "skd://127.0.0.1:1/license/movie") { continuation.resume(returning: $0) })
        }
        guard case .failure(let error) = result else {
            Issue.record("nobody listens on port 1")
            return
        }
        #expect(error.code == "cannotConnect")
        #expect(error.stage == .certificate)
    }
}
