import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import StandInEngine
import Testing

/// One adapter in the conformance suite: its name, its capabilities, and how an app is built on it.
struct PlayerUnderTest: Sendable, CustomTestStringConvertible {
    let name: String
    let capabilities: Set<Capability>
    /// The callback in the log that asks for a license.
    let licenseCallback: String
    /// How long the SPC of one key may delay other keys; `nil` if it never does.
    let spcTimeout: Duration?
    let make: @Sendable (AppSetup) async throws -> AppUnderTest

    init(
        _ name: String, can capabilities: Set<Capability>, asksBy licenseCallback: String,
        spcTimeout: Duration? = nil, make: @escaping @Sendable (AppSetup) async throws -> AppUnderTest
    ) {
        self.name = name
        self.capabilities = capabilities
        self.licenseCallback = licenseCallback
        self.spcTimeout = spcTimeout
        self.make = make
    }

    /// Capabilities that some adapters lack. An adapter that declares a capability is tested for it; one that does not is tested for its
    /// substitute, if it has one.
    enum Capability: String, Sendable, CaseIterable {
        /// The loader sends the requests, with its deadline and its events. Otherwise the player sends them.
        case loaderRequests
        /// The loader holds the keys: it renews them, and open requests can be ended. Otherwise it is asked for one license after another,
        /// and an open request ends with its answer or its deadline.
        case loaderHolds
        /// The callback for a license returns immediately. Otherwise it waits, on a thread that may wait.
        case returnsAtOnce
        /// Licenses of several keys are requested at the same time. Otherwise the player asks for one after another.
        case keysInParallel
        /// The player's error holds the adapter's.
        case tellsPlayer
        /// Open requests end when the app drops the adapter's objects. Otherwise the player holds the objects, or a waiting thread does.
        case endsWithItsObjects
        /// A key's lease can be renewed.
        case renewal
        /// Keys are stored, and play without a network.
        case storedKeys
        /// A key's URI may be any text. Otherwise it must be a URL.
        case anyURI
    }

    var testDescription: String { name }

    func can(_ capability: Capability) -> Bool { capabilities.contains(capability) }

    /// The adapter's error in a player's report; `nil` if the player has no room for it.
    static func cause(of error: any Error) -> NSError? {
        var next: NSError? = error as NSError
        while let error = next {
            if error.domain == ContentKeyError.errorDomain { return error }
            next = error.userInfo[NSUnderlyingErrorKey] as? NSError
        }
        return nil
    }
}

/// The parts that an app is built from.
struct AppSetup: Sendable {
    let stage: PlayerStage
    let loader: ContentKeyLoader
    let profile: VendorProfile
    let stream: DemoAsset
    /// The folder of keys for adapters that do not use the loader's store; `nil` if no keys are stored.
    var folder: URL?
    /// The adapter's reports to the app.
    let failures = FailureLog()

    var playlist: URL { stage.playlist(stream, for: profile) }
}

/// An app with one adapter and one stream.
struct AppUnderTest: Sendable {
    /// Plays from the start to the end.
    let play: @Sendable () async throws -> StandInPlayback.Result
    /// Leaves for something else, so that open requests end.
    let leave: @Sendable () -> Void
    /// Drops the adapter's objects without another word to them.
    let drop: @Sendable () -> Void
    /// Makes the player ask for a renewal, if it does not do so automatically.
    var renew: (@Sendable () async -> Void)?
    /// Has keys stored before they play.
    var store: (@Sendable () async throws -> Void)?
}

/// An object that the app holds until it drops it.
// Sound: the object is only touched while the lock is held, and used by one task at a time, as players are in an app.
final class Kept<Object>: @unchecked Sendable {
    private let lock = NSLock()
    private var held: Object?

    init(_ object: Object) { held = object }

    var object: Object? { lock.withLock { held } }

    func drop() {
        // It is deallocated after the lock, because that may do much.
        let object = lock.withLock {
            defer { held = nil }
            return held
        }
        withExtendedLifetime(object) {}
    }
}
