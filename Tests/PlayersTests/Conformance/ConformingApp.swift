import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySimulation
import LatchkeyVendors
import StandInEngine
import Testing

/// An app under test, and its setup.
struct ConformingApp: Sendable {
    let setup: AppSetup
    let app: AppUnderTest

    init(
        _ player: PlayerUnderTest, on stage: PlayerStage, _ loader: ContentKeyLoader,
        _ stream: DemoAsset = .transportStream, for profile: VendorProfile = .home, folder: URL? = nil
    ) async throws {
        setup = AppSetup(stage: stage, loader: loader, profile: profile, stream: stream, folder: folder)
        app = try await player.make(setup)
    }

    var loader: ContentKeyLoader { setup.loader }
    /// The errors that the adapter reported to the app.
    var errors: [NSError] { setup.failures.errors }
    var renew: (@Sendable () async -> Void)? { app.renew }

    func play() async throws -> StandInPlayback.Result { try await app.play() }
    func leave() { app.leave() }
    func drop() { app.drop() }

    /// Plays, and returns the player's error; `nil` if the stream plays, and right.
    func failure() async -> (any Error)? {
        do {
            #expect(try await app.play().isRight)
            return nil
        } catch {
            return error
        }
    }
}

/// Runs a body with an app of an adapter, and then drops everything. No rule of the player may be broken.
func conform(
    _ player: PlayerUnderTest, _ stream: DemoAsset = .transportStream, behavior: Set<Misbehavior> = [],
    deadline: Duration = .seconds(900), lease: Duration? = nil,
    sourceLocation: SourceLocation = #_sourceLocation,
    _ body: (PlayerStage, ConformingApp) async throws -> Void
) async throws {
    let terms = lease.map { LicenseTerms(.lease($0)) } ?? LicenseTerms()
    try await PlayerStage.with(StandInBehavior(behavior), terms: terms) { stage in
        let loader = stage.loader(.home, deadline: deadline, lease: lease)
        do {
            let app = try await ConformingApp(player, on: stage, loader, stream)
            try await body(stage, app)
            app.leave()
            app.drop()
        }
        // Deallocation may still call back.
        for _ in 0..<10 { await Task.yield() }
        #expect(stage.log.violations.isEmpty, sourceLocation: sourceLocation)
    }
}

extension VendorProfile {
    /// The vendor of all tests that are not about a vendor.
    static let home = VendorProfile.genericRaw
}

extension PlayerStage {
    /// The service of `VendorProfile.home`.
    var home: WatchedService { service(for: .home) }
}

extension NSError {
    /// The code of Latchkey's error; `nil` for any other error.
    var latchkeyCode: String? { userInfo[ContentKeyError.UserInfoKey.code] as? String }

    /// The full text of the error.
    var everything: String { "\(self) \(userInfo)" }
}
