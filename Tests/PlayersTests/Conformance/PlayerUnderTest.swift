import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// One adapter in the conformance suite: what it is called, what it can do, and how an app is built on it.
struct PlayerUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    /// The adapter's files, or the folders that hold them, below `Sources/Players`.
    let sources: [String]
    let capabilities: Set<Capability>
    /// The callback in the log that asks for a license.
    let licenseCallback: String
    /// How long the adapter lets one key's SPC keep other keys waiting; nil where it never does.
    let patience: Duration?
    let make: @Sendable (AppSetup) async throws -> AppUnderTest

    init(
        _ name: String, in sources: [String], can capabilities: Set<Capability>, asksBy licenseCallback: String,
        patience: Duration? = nil, make: @escaping @Sendable (AppSetup) async throws -> AppUnderTest
    ) {
        self.name = name
        self.sources = sources
        self.capabilities = capabilities
        self.licenseCallback = licenseCallback
        self.patience = patience
        self.make = make
    }

    /// What not every adapter can do. One that declares a capability is tested for it; one that does not is tested for
    /// what it does instead, where it does something.
    enum Capability: String, Sendable, CaseIterable {
        /// The loader sends the requests: its deadline, its events. Otherwise the player sends them.
        case loaderRequests
        /// The loader holds the keys: it renews them, and what is open can be ended. Otherwise it is asked for one license after
        /// the other, and an open one ends with its answer or its deadline.
        case loaderHolds
        /// The callback for a license returns at once. Otherwise it waits, on a thread that may wait.
        case returnsAtOnce
        /// Licenses of several keys are got at the same time. Otherwise the player asks for one after the other.
        case keysInParallel
        /// The app's own handler hears why a key did not come.
        case tellsApp
        /// The player's error holds the adapter's.
        case tellsPlayer
        /// When its objects go away, what is open ends. Otherwise the player holds them, or what waits for an answer does.
        case endsWithItsObjects
        /// A key's lease can be renewed.
        case renewal
        /// Keys are stored, and play without a network.
        case storedKeys
        /// A key's URI may be any text. Otherwise it has to be a URL.
        case anyURI
    }

    var testDescription: String { name }

    func can(_ capability: Capability) -> Bool { capabilities.contains(capability) }

    /// The adapter's error in what a player reported; nil where the player has no room for it.
    static func cause(of error: any Error) -> NSError? {
        var next: NSError? = error as NSError
        while let error = next {
            if error.domain == ContentKeyError.errorDomain { return error }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return nil
    }
}

/// What an app is built of.
struct AppSetup: Sendable {
    let stage: PlayerStage
    let loader: ContentKeyLoader
    let profile: VendorProfile
    let stream: DemoAsset
    /// Where adapters store keys that do not use the loader's store; nil where none are to be stored.
    var folder: URL?
    /// What the app's own handler hears.
    let errors = ErrorLog()

    var playlist: URL { stage.playlist(stream, for: profile) }
}

/// An app with one adapter and one stream.
struct AppUnderTest: Sendable {
    /// Plays from the start to the end.
    let play: @Sendable () async throws -> StandInPlayback.Result
    /// Goes on to something else: what is open ends.
    let leave: @Sendable () -> Void
    /// Lets the adapter's objects go, and says nothing.
    let drop: @Sendable () -> Void
    /// Has the player ask for a renewal, where it does not by itself.
    var renew: (@Sendable () -> Void)?
    /// Has keys stored before they play.
    var store: (@Sendable () async throws -> Void)?
}

/// An object that the app holds until it lets go of it.
final class Kept<Object: Sendable>: Sendable {
    private let held: Locked<Object?>

    init(_ object: Object) { held = Locked(object) }

    var object: Object? { held.withLock { $0 } }

    func drop() {
        // It goes when the lock is free: it may do much while it goes.
        let object = held.withLock { held in
            defer { held = nil }
            return held
        }
        withExtendedLifetime(object) {}
    }
}
