public import Foundation
public import LatchkeyCore
import LatchkeyFairPlay

/// Where a simulated device turns keys into their stored form, the persistable key, and takes them out of it again.
///
/// The app keeps the persistable key; it is sealed for the device's identifier, and no other device opens it. It needs
/// neither a certificate nor a network to be opened.
///
/// With dual expiry the first start of playback gives a new persistable key in place of the old one. The vault remembers
/// that start, as a device does, and takes the old one no more. It remembers as long as it lives: a new vault of the same
/// identifier, like a device that was wiped, opens the old one again.
///
/// Safe to use from any thread.
///
/// Source: `fps-protocol.md` §7 and §13, persistent keys; the form itself is this project's own.
public final class KeyVault: Sendable {
    /// How many first starts are remembered; the oldest is forgotten.
    public static let rememberedStarts = 10_000

    private let seal: DeviceSeal
    private let timekeeper: any Timekeeper
    private let starts = Locked<(order: [KeyNumber], known: Set<KeyNumber>)>(([], []))

    /// - Parameters:
    ///   - identifier: the device's identifier (HU), 20 bytes, as its SPCs have it.
    ///   - timekeeper: its date counts down the windows.
    public init(
        identifier: Secret = SimulatedDevice.standardIdentifier, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        seal = DeviceSeal(identifier: identifier)
        self.timekeeper = timekeeper
    }

    /// Makes the persistable key of a CKC.
    ///
    /// The time of storage counts from here.
    /// - Parameters:
    ///   - ckc: the CKC's bytes, free of any envelope.
    ///   - exchange: the exchange of the SPC that the CKC answers.
    /// - Throws: `notPersistable` for terms that do not allow storing, and as `KeyExchange.open(_:at:)`.
    public func persistableKey(
        from ckc: some Collection<UInt8>, of exchange: KeyExchange
    ) throws(CKCRejection) -> Data {
        let key = try exchange.open(ckc, at: timekeeper)
        guard let record = PersistableKeyRecord(key, number: KeyNumber.random()) else {
            throw .notPersistable(key.terms)
        }
        do throws(OpenSSLError) { return try seal.sealed(record) } catch { throw CKCRejection(error) }
    }

    /// Opens a persistable key, without starting playback.
    /// - Throws: why the device does not take it.
    public func open(_ persistableKey: some Collection<UInt8>) throws(PersistableKeyRejection) -> DeviceKey {
        try opened([UInt8](persistableKey)).key
    }

    /// Starts playback with a persistable key.
    /// - Throws: why the device does not take it.
    public func start(_ persistableKey: some Collection<UInt8>) throws(PersistableKeyRejection) -> StartedKey {
        var (record, key) = try opened([UInt8](persistableKey))
        guard key.start(at: timekeeper) else { throw .expired(key) }
        guard record.restartsAtFirstPlay else { return StartedKey(key: key) }
        guard remember(record.number) else { throw .superseded }
        record.startedAt = key.startedAt?.date
        do throws(OpenSSLError) {
            return StartedKey(key: key, replacement: try seal.sealed(record))
        } catch {
            throw PersistableKeyRejection(error)
        }
    }

    private func opened(
        _ bytes: [UInt8]
    ) throws(PersistableKeyRejection) -> (record: PersistableKeyRecord, key: DeviceKey) {
        let record = try seal.opened(bytes)
        if record.restartsAtFirstPlay, starts.withLock({ $0.known.contains(record.number) }) { throw .superseded }
        let key = record.key(uptime: timekeeper.uptime)
        guard key.canStart(at: timekeeper) else { throw .expired(key) }
        return (record, key)
    }

    /// - Returns: whether the key had not been started before.
    private func remember(_ number: KeyNumber) -> Bool {
        starts.withLock { starts in
            guard starts.known.insert(number).inserted else { return false }
            starts.order.append(number)
            if starts.order.count > Self.rememberedStarts { starts.known.remove(starts.order.removeFirst()) }
            return true
        }
    }
}

/// A stored key that plays.
public struct StartedKey: Sendable {
    /// The key, started.
    public let key: DeviceKey
    /// The persistable key to store in place of the one that was started; nil where that one stays good.
    ///
    /// The platform delivers it in `didUpdatePersistableContentKey`.
    public let replacement: Data?

    package init(key: DeviceKey, replacement: Data? = nil) {
        self.key = key
        self.replacement = replacement
    }
}
