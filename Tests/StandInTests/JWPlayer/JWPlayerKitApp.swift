import Foundation
import JWPlayerKit
import LatchkeyCore
import LatchkeySimulation
import StandInEngine

/// A data source of JWPlayerKit as an app should have it, unless a test puts something else in its place.
final class KitSource: JWDRMContentKeyDataSource, Sendable {
    typealias Answer = (Data?) -> Void
    typealias KeyAnswer = (Data?, Date?, String?) -> Void

    /// What each call does.
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

/// What an app with JWPlayerKit keeps alive.
final class KitApp: Sendable {
    let view = JWPlayerView()
    let source: KitSource

    init(_ source: KitSource) {
        self.source = source
        view.player.contentKeyDataSource = source
    }

    convenience init(_ studio: Studio, _ change: (inout KitSource.Script) -> Void = { _ in }) {
        self.init(KitSource(studio.server, change))
    }

    static func configuration(_ address: URL) throws -> JWPlayerConfiguration {
        try JWPlayerConfigurationBuilder()
            .playlist(items: [JWPlayerItemBuilder().file(address).build()])
            .build()
    }

    /// Plays a stream to its end.
    @discardableResult
    func play(_ stream: DemoAsset = .transportStream) async throws -> StandInPlayback.Result {
        try await play(Studio.playlist(of: stream))
    }

    @discardableResult
    func play(_ address: URL) async throws -> StandInPlayback.Result {
        view.player.configurePlayer(with: try Self.configuration(address))
        view.player.play()
        return try await view.standIn.finished()
    }
}
