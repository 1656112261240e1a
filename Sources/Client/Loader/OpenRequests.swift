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
        var handles: [Int: KeyRequestHandle] = [:]
    }

    private let state = Locked(State())

    func add(_ request: any PlayerKeyRequest) -> Exchange {
        let open = OpenKeyRequest(request)
        return state.withLock { state in
            state.last += 1
            state.open[state.last] = open
            return Exchange(number: state.last, open: open)
        }
    }

    /// Makes the request's task cancellable; at once where everything has been cancelled.
    func attach(_ handle: KeyRequestHandle, to exchange: Exchange) {
        let isCancelled = state.withLock { state in
            if !state.isCancelled, state.open[exchange.number] != nil { state.handles[exchange.number] = handle }
            return state.isCancelled
        }
        if isCancelled { handle.cancel() }
    }

    func remove(_ exchange: Exchange) {
        state.withLock { state in
            state.open[exchange.number] = nil
            state.handles[exchange.number] = nil
        }
    }

    func cancelAll() {
        let (requests, handles) = state.withLock { state in
            state.isCancelled = true
            defer {
                state.open = [:]
                state.handles = [:]
            }
            return (Array(state.open.values), Array(state.handles.values))
        }
        for request in requests { request.answer(.failure(.cancelled)) }
        for handle in handles { handle.cancel() }
    }
}
