import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import StandInEngine

/// A correct data source of JWPlayerKit. A test can replace its parts.
final class KitSource: JWDRMContentKeyDataSource, Sendable {
    typealias Answer = (Data?) -> Void
    typealias KeyAnswer = (Data?, Date?, String?) -> Void

    /// The behavior of each call.
    struct Script: Sendable {
        var identifier: @Sendable (URL, @escaping Answer) -> Void
        var certificate: @Sendable (URL, @escaping Answer) -> Void
        var key: @Sendable (Data, @escaping KeyAnswer) -> Void

        init(_ server: KeyServer) {
            identifier = { url, answer in answer(Data(url.absoluteString.utf8)) }
            certificate = { _, answer in answer(server.certificate) }
            key = { spc, answer in answer(try? server.license(for: spc), nil, nil) }
        }
    }

    private let script: Script

    init(_ server: KeyServer, _ change: (inout Script) -> Void = { _ in }) {
        var script = Script(server)
        change(&script)
        self.script = script
    }

    func contentIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
        script.identifier(url, handler)
    }

    func appIdentifierForURL(_ url: URL, completionHandler handler: @escaping (Data?) -> Void) {
        script.certificate(url, handler)
    }

    func contentKeyWithSPCData(
        _ spcData: Data, completionHandler handler: @escaping (Data?, Date?, String?) -> Void
    ) { script.key(spcData, handler) }
}

/// The objects that an app with JWPlayerKit retains.
final class KitApp: Sendable {
    let view = JWPlayerView()
    let source: KitSource

    init(_ source: KitSource) {
        self.source = source
        view.player.contentKeyDataSource = source
    }

    convenience init(_ fixture: StandInFixture, _ change: (inout KitSource.Script) -> Void = { _ in }) {
        self.init(KitSource(fixture.server, change))
    }

    static func configuration(_ address: URL) throws -> JWPlayerConfiguration {
        try JWPlayerConfigurationBuilder()
            .playlist(items: [JWPlayerItemBuilder().file(address).build()])
            .build()
    }

    /// Plays a stream to its end.
    @discardableResult
    func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        try await play(StandInFixture.playlist(of: stream))
    }

    @discardableResult
    func play(_ address: URL) async throws -> StandInPlayback.Result {
        view.player.configurePlayer(with: try Self.configuration(address))
        view.player.play()
        return try await view.standIn.finished()
    }
}
