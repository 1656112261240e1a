import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

/// A player whose requests are objects that are answered later.
protocol AcmeKeyCall: Sendable {
    var keyURI: KeyURI { get }
    func challenge(certificate: Data, contentIdentifier: Data) throws -> Data
    func finish(_ ckc: Data)
    func fail(_ error: NSError)
    func askAgain() -> Bool
}

struct AcmeKeyRequest: PlayerKeyRequest {
    let call: any AcmeKeyCall

    var keyURI: KeyURI { call.keyURI }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        try call.challenge(certificate: certificate, contentIdentifier: contentIdentifier)
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        switch result {
        case .success(let ckc): call.finish(ckc)
        case .failure(let error): call.fail(error as NSError)
        }
    }

    func renew() -> Bool { call.askAgain() }
}

/// A player that makes SPCs itself and takes completions.
nonisolated final class AcmePlayerKeys: Sendable {
    private let keys: PlayerKeys
    private let onFailure: @Sendable (KeyFailure) -> Void

    init(_ loader: ContentKeyLoader, onFailure: @escaping @Sendable (KeyFailure) -> Void) {
        self.onFailure = onFailure
        keys = PlayerKeys(loader, ended: onFailure)
    }

    func certificate(completion: @escaping @Sendable (Data?) -> Void) {
        keys.certificate { [onFailure] result in
            if case .failure(let error) = result { onFailure(KeyFailure(error)) }
            completion(try? result.get())
        }
    }

    func license(for spc: Data, key: KeyURI, completion: @escaping @Sendable (Data?, _ renewal: Date?) -> Void) {
        keys.license(for: spc, key: key) { [onFailure] result in
            if case .failure(let error) = result { onFailure(KeyFailure(error, key: key)) }
            let license = try? result.get()
            completion(license?.ckc, license?.renewalDate)
        }
    }

    func release() { keys.release() }
}

/// The code of the article "Write an adapter", compiled and run.
@Suite(.timeLimit(.minutes(5))) struct WriteAnAdapterTests {
    private final class Call: AcmeKeyCall {
        let keyURI = key
        private let log = Locked<[String]>([])
        private let done = Gate()

        var ends: [String] { log.withLock { $0 } }
        func challenge(certificate: Data, contentIdentifier: Data) throws -> Data { SampleBytes.spc }
        func finish(_ ckc: Data) { end("finished") }
        func fail(_ error: NSError) { end("\(error.domain)") }
        func askAgain() -> Bool { false }
        func untilEnded() async { await done.wait() }

        private func end(_ words: String) {
            log.withLock { $0.append(words) }
            done.open()
        }
    }

    @Test func `an object answered later gets its key once`() async throws {
        let harness = Harness()
        let call = Call()
        harness.loader.answer(AcmeKeyRequest(call: call))
        await call.untilEnded()
        harness.loader.cancel()
        #expect(call.ends == ["finished"])
    }

    @Test func `a refusal is an error with a domain for the player`() async throws {
        let harness = Harness(post: [.status(403)])
        let call = Call()
        harness.loader.answer(AcmeKeyRequest(call: call))
        await call.untilEnded()
        #expect(call.ends == ["Latchkey.ContentKeyError"])
    }

    @Test func `a player with completions gets a CKC, and its app the failures`() async throws {
        let harness = Harness(post: [.ckc, .status(401)])
        let failures = Locked<[ContentKeyError?]>([])
        let keys = AcmePlayerKeys(harness.loader) { failure in
            failures.withLock { $0.append(failure.loaderError) }
        }
        func license() async -> Data? {
            await withCheckedContinuation { continuation in
                keys.license(for: SampleBytes.spc, key: key) { ckc, _ in continuation.resume(returning: ckc) }
            }
        }
        #expect(await license() == SampleBytes.ckc())
        #expect(await license() == nil)
        #expect(failures.withLock { $0 }.map { $0?.kind } == [.unauthenticated])
        keys.release()
    }
}
