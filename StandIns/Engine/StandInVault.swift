import Foundation
import LatchkeyCore
import LatchkeyDevice

/// The stored keys of a stage's device.
// Keeps the keys themselves until LatchkeyDevice's vault is here; what apps store is a random name.
final class StandInVault: Sendable {
    private struct Entry {
        var key: DeviceKey
        var isSuperseded = false
    }

    private let timekeeper: any Timekeeper
    private let entries = Locked<[Data: Entry]>([:])

    init(_ timekeeper: any Timekeeper) { self.timekeeper = timekeeper }

    func persistableKey(from ckc: Data, of exchange: KeyExchange) throws -> Data {
        let key: DeviceKey
        do { key = try exchange.open(ckc, at: timekeeper) } catch {
            throw AppleError.status(error.systemNumber, error.reason)
        }
        guard key.terms.isPersistable else { throw AppleError.status(-42668, "The key may not be stored.") }
        return add(key)
    }

    func open(_ stored: Data) throws -> DeviceKey { try entry(stored).key }

    func start(_ stored: Data) throws -> (key: DeviceKey, replacement: Data?) {
        var key = try entry(stored).key
        let isFirst = key.startedAt == nil
        guard key.start(at: timekeeper) else { throw AppleError.status(-42800, "The stored key's time is over.") }
        guard isFirst, case .dualExpiry = key.terms.validity else { return (key, nil) }
        entries.withLock { $0[stored]?.isSuperseded = true }
        return (key, add(key))
    }

    func hasForm(of bytes: Data) -> Bool { bytes.starts(with: "latchkey".utf8) }

    private func add(_ key: DeviceKey) -> Data {
        let name = Data("latchkey\(UUID().uuidString)".utf8)
        entries.withLock { $0[name] = Entry(key: key) }
        return name
    }

    private func entry(_ stored: Data) throws -> Entry {
        guard let entry = entries.withLock({ $0[stored] }), !entry.isSuperseded else {
            throw AppleError.status(-42803, "The stored key is damaged or was replaced.")
        }
        guard entry.key.canStart(at: timekeeper) else {
            throw AppleError.status(-42800, "The stored key's time is over.")
        }
        return entry
    }
}
