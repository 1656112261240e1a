package import LatchkeyHTTP

extension ServerMetrics {
    /// Shows a pool: counts waiting and refused work from now on.
    package func show(_ pool: WorkerPool) {
        pool.observe(
            AdmissionObserver(
                waited: { [poolWait] in poolWait.observe($0) },
                refused: { [shed] in shed[$0.lane.name, $0.why.rawValue].add() }))
        beforeText { [weak pool, poolWaiting, poolLimit, poolBusyThreads] in
            guard let state = pool?.admission else { return }
            poolWaiting.set(Double(state.waiting))
            poolLimit.set(Double(state.limit))
            poolBusyThreads.set(Double(state.busyThreads))
        }
    }
}
