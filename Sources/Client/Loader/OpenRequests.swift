import LatchkeyCore

/// The key requests that have no answer yet, numbered from 1.
final class OpenRequests: Sendable {
    struct Exchange: Sendable {
        let number: Int
        let open: OpenKeyRequest
    }

    private struct State {
        var last = 0
        var isCancelled = false
        var open: [Int: OpenKeyRequest] = [:]
    }

    private let state = Locked(State())

    /// Whether every request has its answer.
    var isEmpty: Bool { state.withLock { $0.open.isEmpty } }

    /// Takes a request in; where everything has been cancelled, it is answered at once.
    func add(_ request: any PlayerKeyRequest) -> Exchange {
        let open = OpenKeyRequest(request)
        let (number, isCancelled) = state.withLock { state in
            state.last += 1
            if !state.isCancelled { state.open[state.last] = open }
            return (state.last, state.isCancelled)
        }
        if isCancelled { open.giveUp(.cancelled) }
        return Exchange(number: number, open: open)
    }

    func remove(_ exchange: Exchange) { state.withLock { $0.open[exchange.number] = nil } }

    func cancelAll() {
        let requests = state.withLock { state in
            state.isCancelled = true
            defer { state.open = [:] }
            return Array(state.open.values)
        }
        for request in requests { request.giveUp(.cancelled) }
    }
}
