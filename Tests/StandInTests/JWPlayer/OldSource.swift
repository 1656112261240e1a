import Foundation
import JWPlayer_iOS_SDK
import LatchkeyCore
import LatchkeySimulation
import StandInEngine
import Testing

/// A correct data source of version 3. A test can replace its answer to SPCs.
final class OldSource: NSObject, JWDrmDataSource, Sendable {
    typealias Answer = (Data, Date?, String?) -> Void

    private let server: KeyServer
    private let key: @Sendable (Data, @escaping Answer) -> Void

    init(_ server: KeyServer, _ key: (@Sendable (Data, @escaping Answer) -> Void)? = nil) {
        self.server = server
        self.key = key ?? { spc, answer in answer((try? server.license(for: spc)) ?? Data(), nil, nil) }
    }

    static func player() throws -> JWPlayerController {
        let address = StandInFixture.playlist(of: .transportStream).absoluteString
        return try #require(JWPlayerController(config: JWConfig(contentURL: address)))
    }

    func play() async throws -> StandInPlayback.Result {
        let player = try Self.player()
        player.drmDataSource = self
        player.play()
        defer { withExtendedLifetime(self) {} }
        return try await player.standIn.finished()
    }

    func fetchContentIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void
    ) { completion(Data(loadingRequestURL.absoluteString.utf8)) }

    func fetchAppIdentifier(
        forRequest loadingRequestURL: URL, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data) -> Void
    ) { completion(server.certificate) }

    func fetchContentKey(
        withRequest requestBytes: Data, for encryption: JWEncryption,
        withCompletion completion: @escaping (Data, Date?, String?) -> Void
    ) { key(requestBytes, completion) }
}
