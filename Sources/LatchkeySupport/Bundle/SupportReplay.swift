import Foundation
@_spi(Adapters) package import Latchkey
package import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// Reproduces the error of a support bundle: a real loader with the bundle's profile, over its exchanges.
package struct SupportReplay: Sendable {
    private let bundle: SupportBundle
    private let timekeeper: any Timekeeper

    /// - Parameter timekeeper: a clock that advances automatically, as waits and deadlines are as long as they were.
    package init(_ bundle: SupportBundle, timekeeper: any Timekeeper) {
        (self.bundle, self.timekeeper) = (bundle, timekeeper)
    }

    /// The errors of the keys, in their order.
    /// - Throws: a `Diagnosis` with `bundleWithoutProfile`.
    package func errors() async throws -> [ContentKeyError] {
        guard let profile = bundle.profile else { throw Diagnosis.bundleWithoutProfile }
        let loader = ContentKeyLoader(
            profile.unchecked, credentials: credentials, configuration: bundle.manifest.configuration.loader,
            transport: transport, timekeeper: timekeeper, generator: { SeededGenerator(seed: 1) })
        defer { loader.cancel() }
        var errors: [ContentKeyError] = []
        for key in bundle.manifest.keys {
            let request = ReplayedKeyRequest(key)
            loader.answer(request)
            if case .failure(let error) = await request.answered() { errors.append(error) }
        }
        return errors
    }

    /// A transport for the playlists of the bundle.
    package var transport: any Transport {
        ReplayTransport(
            bundle.exchanges, numbers: bundle.manifest.keys.map(\.number),
            endsWaiting: bundle.failure?.code == Diagnosis.Kind.deadlineExceeded.rawValue, timekeeper)
    }

    /// The address of the first playlist; `nil` if the bundle has none.
    package var stream: String? { bundle.manifest.stream }

    private var credentials: Credentials {
        let given = bundle.manifest.credentials
        return Credentials { _ in
            guard let given else {
                throw Diagnosis(.credentialsFailed, "The app gave no credentials when this was captured.")
            }
            return CredentialSet(given.mapValues { Secret($0) })
        }
    }
}

/// The player's part: an SPC of the same length, or none.
private final class ReplayedKeyRequest: PlayerKeyRequest {
    let keyURI: KeyURI
    let purpose: KeyPurpose
    private let spcBytes: Int?
    private let answer = AsyncStream.makeStream(of: Result<Data, ContentKeyError>.self)

    init(_ key: SupportManifest.Key) {
        (keyURI, purpose, spcBytes) = (KeyURI(key.uri), key.purpose, key.spcBytes)
    }

    func makeSPC(certificate: Data, contentIdentifier: Data) async throws -> Data {
        guard let spcBytes else {
            throw Diagnosis(.spcFailed, "The player made no SPC when this was captured.")
        }
        return Data(repeating: 0x5a, count: min(max(spcBytes, 0), 1 << 20))
    }

    func answer(_ result: Result<Data, ContentKeyError>) {
        answer.continuation.yield(result)
        answer.continuation.finish()
    }

    func answered() async -> Result<Data, ContentKeyError>? {
        for await result in answer.stream { return result }
        return nil
    }
}
