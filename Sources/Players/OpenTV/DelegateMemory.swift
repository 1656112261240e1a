#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import Foundation
    import LatchkeyCore

    /// What a license delegate remembers from one call of the SDK to the next; about no key in particular.
    // Sound: everything that changes is touched only while the lock is held.
    final class DelegateMemory: @unchecked Sendable {
        /// How many names of keys are kept; the oldest goes first.
        private static let nameLimit = 256

        private let lock = NSLock()
        private var names: [(identifier: Data, key: KeyURI)] = []
        private var given: Data?

        /// The certificate that the SDK got last.
        var certificate: Data? {
            get { lock.withLock { given } }
            set { lock.withLock { given = newValue } }
        }

        /// The key, where the SDK has asked for one only.
        var onlyKey: KeyURI? { lock.withLock { names.count == 1 ? names.first?.key : nil } }

        /// The key that an identifier was given for.
        func key(named identifier: String) -> KeyURI? {
            lock.withLock { names.last { $0.identifier == Data(identifier.utf8) }?.key }
        }

        func name(_ key: KeyURI, _ identifier: Data) {
            lock.withLock {
                names.removeAll { $0.key == key }
                names = names.suffix(Self.nameLimit - 1) + [(identifier, key)]
            }
        }
    }
#endif
