public import Dispatch
import Foundation
import LatchkeyCore

extension StandInStage {
    /// Makes a callback on the app's queue, checks that it returns in time, and records it unless there was no delegate.
    /// - Parameters:
    ///   - name: the name in the log.
    ///   - subject: the subject in the log.
    ///   - queue: the app's queue.
    ///   - callback: calls the delegate.
    ///   - afterwards: runs after the callback is recorded.
    public func deliver(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        _ callback: @escaping @Sendable () -> Void, afterwards: @escaping @Sendable (CallbackTaker) -> Void = { _ in }
    ) {
        run(on: queue) { [self] place in
            let taker = watched(name, place, callback)
            if let implementation = taker.implementation {
                log.note(.init(name: name, subject: subject, place: place, implementation: implementation))
            }
            afterwards(taker)
        }
    }

    /// Makes a callback that replaces others if the delegate implements it. Otherwise it is not recorded.
    /// - Parameter alternative: runs if the delegate does not implement it.
    public func offer(
        _ name: String, about subject: String? = nil, on queue: DispatchQueue,
        _ callback: @escaping @Sendable () -> Void, otherwise alternative: @escaping @Sendable () -> Void
    ) {
        run(on: queue) { [self] place in
            guard watched(name, place, callback) == .delegate else { return alternative() }
            log.note(.init(name: name, subject: subject, place: place, implementation: .own))
        }
    }

    private func run(on queue: DispatchQueue, _ work: @escaping @Sendable (String) -> Void) {
        if misbehaves(.callsOnOddThreads) {
            Thread.detachNewThread { work("odd thread") }
        } else if misbehaves(.callsOnMainThread) {
            DispatchQueue.main.async { work(DispatchQueue.main.label) }
        } else {
            queue.async { work(queue.label) }
        }
    }

    /// Makes the call, and records a violation if it does not return in time.
    private func watched(_ name: String, _ place: String, _ callback: () -> Void) -> CallbackTaker {
        let rule = place == DispatchQueue.main.label ? RuleViolation.Rule.blockedMainThread : .blockedCallback
        let watch = CallbackWatch(callbackLimit) { [log] in log.note(rule, name) }
        let probe = CallbackProbe()
        StandInStage.$current.withValue(self) { CallbackProbe.$current.withValue(probe, operation: callback) }
        watch.end()
        return probe.taker
    }
}

/// The handler of a callback.
public enum CallbackTaker: Sendable, Hashable {
    /// The delegate's method.
    case delegate
    /// The stand-in's default.
    case standard
    /// None: the delegate was released.
    case nobody

    var implementation: StandInCallback.Implementation? {
        switch self {
        case .delegate: .own
        case .standard: .standard
        case .nobody: nil
        }
    }
}

/// Determines the handler of a callback.
///
/// `responds(to:)` needs the Objective-C runtime. On Linux, each default records that it ran. To determine whether a delegate
/// has a method, a stand-in calls it and checks.
public final class CallbackProbe: Sendable {
    @TaskLocal static var current: CallbackProbe?

    private let state = Locked(CallbackTaker.delegate)

    var taker: CallbackTaker { state.withLock { $0 } }

    /// Every default of an optional callback calls this.
    public static func noteDefault() { current?.state.withLock { $0 = .standard } }

    /// Called if the delegate was released.
    public static func noteNobody() { current?.state.withLock { $0 = .nobody } }
}

/// Reports something that takes longer than its limit, in real time.
final class CallbackWatch: Sendable {
    private let isOver = Locked(false)

    init(_ limit: Duration, _ late: @escaping @Sendable () -> Void) {
        DispatchQueue.global().asyncAfter(deadline: .now() + limit.inSeconds) { [isOver] in
            if !isOver.withLock({ $0 }) { late() }
        }
    }

    func end() { isOver.withLock { $0 = true } }
}
