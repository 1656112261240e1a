#if canImport(AVFoundation)
    import Foundation
    import LatchkeyCore

    /// A C host's callbacks, and its context pointer.
    // Sound: the host owns the pointer, which is only passed back, on one serial queue. `CInterfaceTests` guard it.
    final class ForeignHost: @unchecked Sendable {
        typealias OnCredentials = @convention(c) (UnsafeMutableRawPointer?, UInt64, UnsafePointer<CChar>) -> Void
        typealias OnOutcome = @convention(c) (UnsafeMutableRawPointer?, UnsafePointer<CChar>) -> Void
        typealias OnEnd = @convention(c) (UnsafeMutableRawPointer?) -> Void

        let queue = DispatchQueue(label: "latchkey.host")
        private let userData: UnsafeMutableRawPointer?
        private let onOutcome: OnOutcome?
        private let onEnd: OnEnd?

        init(_ userData: UnsafeMutableRawPointer?, onOutcome: OnOutcome?, onEnd: OnEnd?) {
            (self.userData, self.onOutcome, self.onEnd) = (userData, onOutcome, onEnd)
        }

        // Every source of callbacks retains this object, so this is the last call.
        deinit {
            guard let onEnd else { return }
            nonisolated(unsafe) let userData = userData
            queue.async { onEnd(userData) }
        }

        func report(_ outcome: HostOutcome) { outcome.json.withCString { onOutcome?(userData, $0) } }

        /// Requests credentials from the host, with a number that its answer repeats.
        func source(_ onCredentials: @escaping OnCredentials) -> PendingCredentials.Source {
            { [self] request, pending in
                let number = ForeignAnswers.add(pending)
                request.json.withCString { onCredentials(userData, number, $0) }
            }
        }
    }

    /// The requests for credentials that wait for an answer from C, by number.
    ///
    /// Numbers are unique in the process rather than per object: a host may answer twice, or after it freed the keys.
    enum ForeignAnswers {
        private struct Table {
            var last: UInt64 = 0
            var waiting: [UInt64: PendingCredentials] = [:]
        }

        private static let table = Locked(Table())

        static func add(_ pending: PendingCredentials) -> UInt64 {
            let number = table.withLock { table in
                table.last += 1
                table.waiting[table.last] = pending
                return table.last
            }
            pending.whenDone { _ = remove(number) }
            return number
        }

        /// Removes and returns the request of a number, so that it gets no second answer; `nil` if it already has one.
        static func remove(_ number: UInt64) -> PendingCredentials? {
            table.withLock { $0.waiting.removeValue(forKey: number) }
        }
    }
#endif
