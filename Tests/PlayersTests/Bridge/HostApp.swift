import AVFoundation
import Foundation
import Latchkey
import LatchkeyBridge
import LatchkeyCore
import LatchkeySimulation
import StandInEngine

/// An app outside Swift, as a test plays one: the requests and reports that it got.
final class HostLog: Sendable {
    private struct State {
        var outcomes: [HostOutcome] = []
        var requests: [HostCredentialRequest] = []
        var watchers: [(condition: @Sendable ([HostOutcome]) -> Bool, continuation: CheckedContinuation<Void, Never>)] =
            []
    }

    private let state = Locked(State())

    var outcomes: [HostOutcome] { state.withLock { $0.outcomes } }
    var requests: [HostCredentialRequest] { state.withLock { $0.requests } }
    var failures: [HostOutcome] { outcomes.filter { $0.kind == "failure" } }

    func add(_ request: HostCredentialRequest) { state.withLock { $0.requests.append(request) } }

    func add(_ outcome: HostOutcome) {
        let met = state.withLock { state in
            state.outcomes.append(outcome)
            let outcomes = state.outcomes
            defer { state.watchers.removeAll { $0.condition(outcomes) } }
            return state.watchers.filter { $0.condition(outcomes) }.map(\.continuation)
        }
        for continuation in met { continuation.resume() }
    }

    /// Waits until a number of outcomes have a kind and a code.
    func until(_ kind: String, _ code: String, times: Int = 1) async {
        let condition: @Sendable ([HostOutcome]) -> Bool = { outcomes in
            outcomes.count { $0.kind == kind && $0.code == code } >= times
        }
        await withCheckedContinuation { continuation in
            let isMet = state.withLock { state in
                let isMet = condition(state.outcomes)
                if !isMet { state.watchers.append((condition, continuation)) }
                return isMet
            }
            if isMet { continuation.resume() }
        }
    }
}

extension PlayerStage {
    /// Keys for a host, of VuDRM's service.
    func hostKeys(
        _ log: HostLog, lease: Duration? = nil, answer: @escaping @Sendable (@escaping HostKeys.Answer) -> Void
    ) -> HostKeys {
        HostKeys(
            configured(.vuDRM).unchecked,
            configuration: LoaderConfiguration(
                retry: RetryPolicy(maximumAttempts: 1, attemptTimeout: .seconds(300), deadline: .seconds(900)),
                hosts: HostPolicy(loopback: .http), leases: LeasePolicy(jitter: 0, assumedLease: lease),
                certificateFetch: .withFirstKey),
            timekeeper: time, queue: DispatchQueue(label: "host"),
            credentials: { request, pending in
                log.add(request)
                answer { pending.take($0, $1) }
            }, outcomes: log.add)
    }

    /// The host's answer.
    func token(for profile: VendorProfile = .vuDRM) -> [String: String] {
        ["token": String(decoding: service(for: profile).issue(nil).revealed, as: UTF8.self)]
    }
}
