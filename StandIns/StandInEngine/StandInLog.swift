import Foundation
import LatchkeyCore

/// A callback of a stand-in, recorded when it returned.
public struct StandInCallback: Sendable, Hashable {
    /// The name of the callback. Each stand-in documents its names.
    public let name: String
    /// The subject of the callback, such as a key's identifier; `nil` without one.
    public let subject: String?
    /// The label of the queue it ran on; `odd thread` if the player misbehaved.
    public let place: String
    /// The code that ran.
    public let implementation: Implementation

    /// The code that a callback ran.
    public enum Implementation: String, Sendable, Hashable {
        /// The app's.
        case own
        /// The stand-in's default: the delegate does not have the method or misspells it.
        case standard
    }

    /// - Parameters:
    ///   - name: the name of the callback.
    ///   - subject: the subject of the callback.
    ///   - place: the label of the queue it ran on.
    ///   - implementation: the code that ran.
    public init(name: String, subject: String? = nil, place: String, implementation: Implementation = .own) {
        self.name = name
        self.subject = subject
        self.place = place
        self.implementation = implementation
    }
}

/// The events on a stage: the callbacks in the order of their returns, and the violations.
public final class StandInLog: Sendable {
    /// The contents of a log.
    public struct Contents: Sendable {
        /// The callbacks in the order of their returns.
        public var callbacks: [StandInCallback] = []
        /// The violations in the order of their detection.
        public var violations: [RuleViolation] = []

        /// The names of the callbacks.
        public var names: [String] { callbacks.map(\.name) }

        /// The number of callbacks with a name.
        public func count(of name: String) -> Int { callbacks.count { $0.name == name } }
    }

    private struct Watcher {
        let condition: @Sendable (Contents) -> Bool
        let served: Promise<Void, Never>
    }

    private struct State {
        var contents = Contents()
        var watchers: [Watcher] = []
    }

    private let state = Locked(State())

    /// Makes an empty log.
    public init() {}

    /// The current contents.
    public var contents: Contents { state.withLock { $0.contents } }
    /// The callbacks in the order of their returns.
    public var callbacks: [StandInCallback] { contents.callbacks }
    /// The names of the callbacks.
    public var names: [String] { contents.names }
    /// The violations.
    public var violations: [RuleViolation] { contents.violations }
    /// The violated rules, without details.
    public var brokenRules: [RuleViolation.Rule] { violations.map(\.rule) }

    /// Records a callback.
    public func note(_ callback: StandInCallback) { change { $0.callbacks.append(callback) } }

    /// Records a violation.
    public func note(_ rule: RuleViolation.Rule, _ detail: String) {
        change { $0.violations.append(RuleViolation(rule, detail)) }
    }

    /// Waits until a condition holds, or the waiting task is cancelled.
    public func until(_ condition: @escaping @Sendable (Contents) -> Bool) async {
        let served = Promise<Void, Never>()
        let holds = state.withLock { state in
            let holds = condition(state.contents)
            if !holds { state.watchers.append(Watcher(condition: condition, served: served)) }
            return holds
        }
        if !holds { try? await served.value }
        state.withLock { $0.watchers.removeAll { $0.served === served } }
    }

    /// Waits until a callback has returned a number of times.
    public func untilCallback(_ name: String, times: Int = 1) async {
        await until { $0.count(of: name) >= times }
    }

    /// Waits until callbacks have each returned a number of times. A player's reaction to an answer may come first.
    public func untilCallbacks(_ names: [String], times: Int = 1) async {
        await until { contents in names.allSatisfy { contents.count(of: $0) >= times } }
    }

    /// Waits until a rule is violated.
    public func untilViolation(_ rule: RuleViolation.Rule) async {
        await until { $0.violations.contains { $0.rule == rule } }
    }

    private func change(_ body: (inout Contents) -> Void) {
        let served = state.withLock { state in
            body(&state.contents)
            let contents = state.contents
            let served = state.watchers.filter { $0.condition(contents) }
            state.watchers.removeAll { $0.condition(contents) }
            return served.map(\.served)
        }
        for watcher in served { watcher.resolve(.success(())) }
    }
}
