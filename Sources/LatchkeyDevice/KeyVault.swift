public import Foundation
public import LatchkeyCore
import LatchkeyFairPlay

/// Makes and opens a simulated device's persistable keys, the stored form of keys.
///
/// The app stores the persistable key. It is sealed with the device's identifier, and no other device can open it. Opening it
/// needs neither a certificate nor a network.
///
/// With dual expiry, the first start of playback replaces the persistable key with a new one. Like a device, the vault
/// remembers that start and then rejects the old one. It remembers only while it exists: a new vault with the same identifier,
/// like a device after a reset, opens the old one again.
///
/// Safe to use from any thread.
///
/// Source: `Documentation/FairPlay.md` §7 and §13, persistent keys. The format is this project's own.
public final class KeyVault: Sendable {
    /// The maximum number of first starts that are remembered. The oldest is forgotten first.
    public static let rememberedStarts = 10_000

    private let seal: DeviceSeal
    private let timekeeper: any Timekeeper
    private let starts = Locked<(order: [KeyNumber], known: Set<KeyNumber>)>(([], []))

    /// - Parameters:
    ///   - identifier: the device's identifier (HU), 20 bytes, as in its SPCs.
    ///   - timekeeper: its date measures the windows.
    public init(
        identifier: Secret = SimulatedDevice.standardIdentifier, timekeeper: any Timekeeper = SystemTimekeeper()
    ) {
        seal = DeviceSeal(identifier: identifier)
        self.timekeeper = timekeeper
    }

    /// Makes the persistable key of a CKC. Its storage window begins now.
    /// - Parameters:
    ///   - ckc: the CKC's bytes, without any envelope.
    ///   - exchange: the exchange of the SPC that the CKC answers.
    /// - Throws: `notPersistable` if the terms do not allow storage, and the errors of `KeyExchange.open(_:at:)`.
    public func persistableKey(
        from ckc: some Collection<UInt8>, of exchange: KeyExchange
    ) throws(DeviceError) -> Data {
        let key = try exchange.open(ckc, at: timekeeper)
        guard let record = PersistableKeyRecord(key, number: KeyNumber.random()) else {
            throw .notPersistable(key.terms)
        }
        do throws(OpenSSLError) { return try seal.sealed(record) } catch { throw DeviceError(error, .openingCKC) }
    }

    /// Opens a persistable key, without starting playback.
    /// - Throws: the reason for rejecting the key.
    public func open(_ persistableKey: some Collection<UInt8>) throws(DeviceError) -> DeviceKey {
        try opened([UInt8](persistableKey)).key
    }

    /// Starts playback with a persistable key.
    /// - Throws: the reason for rejecting the key.
    public func start(_ persistableKey: some Collection<UInt8>) throws(DeviceError) -> StartedKey {
        var (record, key) = try opened([UInt8](persistableKey))
        guard key.start(at: timekeeper) else { throw .expired(key) }
        guard record.restartsAtFirstPlay else { return StartedKey(key: key) }
        guard remember(record.number) else { throw .superseded }
        record.startedAt = key.startedAt?.date
        do throws(OpenSSLError) {
            return StartedKey(key: key, replacement: try seal.sealed(record))
        } catch {
            throw DeviceError(error, .openingStoredKey)
        }
    }

    private func opened(
        _ bytes: [UInt8]
    ) throws(DeviceError) -> (record: PersistableKeyRecord, key: DeviceKey) {
        let record = try seal.opened(bytes)
        if record.restartsAtFirstPlay, starts.withLock({ $0.known.contains(record.number) }) { throw .superseded }
        let key = record.key(uptime: timekeeper.uptime)
        guard key.canStart(at: timekeeper) else { throw .expired(key) }
        return (record, key)
    }

    /// - Returns: whether this is the first start of the key.
    private func remember(_ number: KeyNumber) -> Bool {
        starts.withLock { starts in
            guard starts.known.insert(number).inserted else { return false }
            starts.order.append(number)
            if starts.order.count > Self.rememberedStarts { starts.known.remove(starts.order.removeFirst()) }
            return true
        }
    }
}

/// A stored key with which playback has started.
public struct StartedKey: Sendable {
    /// The key, with its start recorded.
    public let key: DeviceKey
    /// The persistable key that replaces the started one; `nil` if the started one stays valid.
    ///
    /// The platform delivers it in `didUpdatePersistableContentKey`.
    public let replacement: Data?

    package init(key: DeviceKey, replacement: Data? = nil) {
        self.key = key
        self.replacement = replacement
    }
}
