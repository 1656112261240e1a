import LatchkeyCore
import LatchkeyEngines
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyStores
import LatchkeyVault

extension ServerEngines {
    /// Opens the stores for a check, which makes and changes nothing, and looks at each whether it can be used. In memory stands what
    /// cannot be opened, so that the check can go on.
    static func checking(
        _ file: ConfigurationFile, _ problems: inout ServerProblems, _ notices: inout [String]
    ) async -> ServerEngines {
        let stores = file.settings.stores
        var opened: [String: Stores?] = [:]
        let uses: [(use: StoreUse, text: String)] = [
            (.sessions, stores.sessions), (.keys, stores.keys), (.audit, stores.audit),
        ]
        for (use, text) in uses where opened[text] == nil {
            let place = "stores.\(use.rawValue)"
            let address = problems.collecting(place) { try StoreAddress(text).below(file.folder) }
            guard let address else {
                opened[text] = .some(nil)
                continue
            }
            let one = await problems.awaiting(place) {
                try await Stores.open(
                    address, recordLimit: .milliseconds(stores.sessionMilliseconds), for: .checking)
            }
            opened[text] = .some(one)
            guard one != nil else { continue }
            for finding in await Stores.findings(at: address, for: Set(uses.filter { $0.text == text }.map(\.use))) {
                if finding.isFault {
                    problems.add(.init(place, finding.reason, finding.remedy))
                } else {
                    notices.append("\(place): \(finding.reason) \(finding.remedy)")
                }
            }
        }
        _ = problems.collecting("stores.copy") { try file.checkCopy() }
        let (keys, audit) = (opened[stores.keys] ?? nil, opened[stores.audit] ?? nil)
        if let keys, keys.keys == nil, stores.keys != "memory" { problems.add(.keepsRecordsOnly("keys")) }
        if let audit, audit.audit == nil, stores.audit != "memory" { problems.add(.keepsRecordsOnly("audit")) }
        let probe: @Sendable () async throws(StoreError) -> Void = { () throws(StoreError) in try await keys?.probe() }
        return ServerEngines(
            settings: stores, sessions: (opened[stores.sessions] ?? nil)?.records ?? MemoryRecordStore(),
            keys: GuardedKeyStore(
                keys?.keys ?? MemorySealedKeyStore(), health: EngineHealth("keyStore"), expected: stores.fingerprint,
                question: probe),
            audit: audit?.audit ?? MemoryAuditStore(), changes: { AsyncStream { $0.finish() } },
            standsInForKeys: keys?.keys == nil && stores.keys != "memory",
            closing: { [opened] in for stores in opened.values { stores?.close() } })
    }
}

extension ConfigurationFile {
    /// Looks whether the node's own copy could be kept.
    fileprivate func checkCopy() throws {
        guard let text = settings.stores.copy else { return }
        guard case .sqlite(let path) = try StoreAddress(text).below(folder) else { throw Diagnosis.copyAddress }
        try Stores.checkCopy(at: path)
    }
}
