#if canImport(OPYSDKFPS) || canImport(OPYSDKFPSTv)
    import Foundation
    import Latchkey

    /// What the license delegate keeps from one call of the SDK to the next.
    // Sound: everything that changes is only touched while the lock is held.
    nonisolated final class DelegateMemory: @unchecked Sendable {
        /// How many names and how many handles are kept. The oldest is dropped first.
        private static let limit = 256

        private let lock = NSLock()
        private var names: [(identifier: Data, key: KeyURI)] = []
        private var given: Data?
        private var handles: [(request: DelegateKeyRequest, handle: KeyRequest)] = []

        /// The certificate that the SDK got last; `nil` if it got none.
        var certificate: Data? {
            get { lock.withLock { given } }
            set { lock.withLock { given = newValue } }
        }

        /// The key, if the SDK has asked for one key only.
        var onlyKey: KeyURI? { lock.withLock { names.count == 1 ? names.first?.key : nil } }

        /// The key that has a content identifier.
        func key(named identifier: String) -> KeyURI? {
            lock.withLock { names.last { $0.identifier == Data(identifier.utf8) }?.key }
        }

        /// Notes the content identifier of a key.
        func name(_ key: KeyURI, _ identifier: Data) {
            lock.withLock {
                names.removeAll { $0.key == key }
                names = names.suffix(Self.limit - 1) + [(identifier, key)]
            }
        }
    }

    // MARK: - Handles

    nonisolated extension DelegateMemory {
        /// Keeps the handle of a request, to release its key by. A renewal belongs to the request that brought the key.
        func keep(_ handle: KeyRequest, of request: DelegateKeyRequest) {
            guard request.purpose != .renewal else { return }
            lock.withLock { handles = handles.suffix(Self.limit - 1) + [(request, handle)] }
        }

        /// Drops the handle of a request that brought no key.
        func drop(_ request: DelegateKeyRequest) {
            lock.withLock { handles.removeAll { $0.request === request } }
        }

        func takeHandles() -> [KeyRequest] {
            lock.withLock {
                defer { handles = [] }
                return handles.map(\.handle)
            }
        }
    }
#endif
