import LatchkeyLicensing

extension ServerSettings {
    /// The members that differ from the settings at the process's start and that only a restart brings into force. A listener's new
    /// certificate does not count; adding or removing one does.
    func waitingForRestart(since start: ServerSettings) -> [String] {
        let listeners = [
            ("players", start.players, players), ("packagers", start.packagers, packagers),
            ("operators", start.operators, operators),
        ]
        let members = listeners.flatMap { name, start, listener in
            [
                ("\(name).address", start.address != listener.address), ("\(name).port", start.port != listener.port),
                ("\(name).certificate", (start.certificate == nil) != (listener.certificate == nil)),
                ("\(name).privateKey", (start.privateKey == nil) != (listener.privateKey == nil)),
            ]
        }
        let others = [
            ("stores.sessions", start.stores.sessions != stores.sessions),
            ("stores.regions", start.stores.regions != stores.regions),
            ("stores.region", start.stores.region != stores.region), ("stores.keys", start.stores.keys != stores.keys),
            ("stores.audit", start.stores.audit != stores.audit),
            ("stores.copy", start.stores.copy != stores.copy),
            ("stores.copyRows", start.stores.copyRows != stores.copyRows),
            ("stores.sessionMilliseconds", start.stores.sessionMilliseconds != stores.sessionMilliseconds),
            ("health", start.health != health), ("node", start.node != node),
            ("nodeSecret", start.nodeSecret != nodeSecret),
            ("threads", start.threads != threads),
            ("cryptoMB", start.cryptoMB != cryptoMB), ("record", start.record != record),
            ("drainDelay", start.drainDelay != drainDelay),
        ]
        return (members + others).filter(\.1).map(\.0)
    }
}
