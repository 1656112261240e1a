public import LatchkeyCore
import LatchkeyFairPlay

/// The keys that a simulated device's system keeps outside an app's sessions (advisory keys). A later request for such a key
/// needs no license.
///
/// It is not public how a real system identifies these keys and how long it keeps them. Here, the content identifier
/// identifies a key, which is kept as long as playback may start with it. Safe to use from any thread.
///
/// Source: `Documentation/Players.md` §3.3, `canBeFulfilledWithAdvisoryKey`.
public final class AdvisoryKeys: Sendable {
    /// The maximum number of keys. A new key replaces the oldest one.
    public static let limit = 1_000

    private let timekeeper: any Timekeeper
    private let held = Locked<(order: [ContentIdentifier], keys: [ContentIdentifier: DeviceKey])>(([], [:]))

    /// - Parameter timekeeper: measures the time that keys are valid.
    public init(timekeeper: any Timekeeper = SystemTimekeeper()) { self.timekeeper = timekeeper }

    /// Adds a key. Replaces a key with the same identifier.
    public func hold(_ key: DeviceKey, for identifier: ContentIdentifier) {
        held.withLock { held in
            if held.keys.updateValue(key, forKey: identifier) == nil { held.order.append(identifier) }
            if held.order.count > Self.limit { held.keys[held.order.removeFirst()] = nil }
        }
    }

    /// The key with an identifier; `nil` if absent or if playback may not start with it.
    public func key(for identifier: ContentIdentifier) -> DeviceKey? {
        held.withLock { $0.keys[identifier] }.flatMap { $0.canStart(at: timekeeper) ? $0 : nil }
    }

    /// Removes a key, as `AVContentKey.revoke()` does.
    public func revoke(_ identifier: ContentIdentifier) {
        held.withLock { held in
            held.keys[identifier] = nil
            held.order.removeAll { $0 == identifier }
        }
    }
}

extension SimulatedDevice {
    /// Makes an SPC, unless the system holds the key.
    /// - Parameters:
    ///   - identifier: the content identifier, 2 to 200 bytes.
    ///   - options: the other contents of the SPC.
    ///   - advisory: the keys that the system holds.
    ///   - generator: the source of all random bytes.
    /// - Returns: the exchange; `nil` if the system holds the key and needs no license.
    public func exchange(
        for identifier: ContentIdentifier, options: SPCOptions = SPCOptions(), unlessHeldBy advisory: AdvisoryKeys,
        using generator: inout some RandomNumberGenerator
    ) throws(DeviceError) -> KeyExchange? {
        guard advisory.key(for: identifier) == nil else { return nil }
        return try exchange(for: identifier, options: options, using: &generator)
    }
}
