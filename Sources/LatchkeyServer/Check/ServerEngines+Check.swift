import LatchkeyCore
import LatchkeyLicensing
import LatchkeyStores
import LatchkeySystem
import LatchkeyVault

extension ServerEngines {
    /// Opens the stores for a check, which makes and changes nothing, and checks whether each can be used. A store in memory replaces one
    /// that cannot be opened or read, so that the check can continue.
    static func checking(
        _ file: ConfigurationFile, _ problems: inout ServerProblems, _ notices: inout [String]
    ) async -> ServerEngines {
        let stores = file.settings.stores
        var (opened, out) = ([String: Stores?](), [String: Set<EngineRole>]())
        let regions = stores.regions.sorted { $0.key < $1.key }.map {
            (place: "regions.\($0.key)", use: StoreUse.sessions, text: $0.value)
        }
        let uses: [(place: String, use: StoreUse, text: String)] =
            (regions.isEmpty ? [("sessions", .sessions, stores.sessions)] : regions)
            + [("keys", .keys, stores.keys), ("audit", .audit, stores.audit)]
        for (member, use, text) in uses where opened[text] == nil {
            let place = "stores.\(member)"
            let address = problems.collecting(place) { try StoreAddress(text).below(file.folder) }
            guard let address else {
                opened[text] = .some(nil)
                continue
            }
            let one = await problems.awaiting(place) {
                // A far region is to say how far it is.
                let limit = member == use.rawValue ? Duration.milliseconds(stores.sessionMilliseconds) : .seconds(5)
                return try await Stores.open(address, recordLimit: limit, for: .checking)
            }
            opened[text] = .some(one)
            guard one != nil else { continue }
            let findings = await Stores.findings(at: address, for: Set(uses.filter { $0.text == text }.map(\.use)))
            for finding in findings {
                if finding.isFault {
                    problems.add(.init(place, finding.reason, finding.remedy))
                } else {
                    notices.append("\(place): \(finding.reason) \(finding.remedy)")
                }
            }
            out[text] = Set(findings.compactMap(\.outage))
            guard member != use.rawValue, let time = await one?.records.quickest()?.wholeMilliseconds,
                time > stores.sessionMilliseconds
            else { continue }
            notices.append(
                "\(place): A call takes \(time) ms from here, and sessionMilliseconds is \(stores.sessionMilliseconds): the policies' outage rules will always apply to accounts whose home is there. Set it to \(min(10_000, Int(time) * 2)) or more."
            )
        }
        let known = problems.collecting("stores.copy") { try file.checkCopy() } ?? nil
        func answering(_ role: EngineRole, _ text: String) -> Stores? {
            out[text, default: []].contains(role) ? nil : opened[text] ?? nil
        }
        let (keys, audit) = (answering(.keyStore, stores.keys), answering(.auditStore, stores.audit))
        // An audit that cannot be read is named where the stores are looked at.
        var setbacks: [StoreError] = []
        if let audit = audit?.audit, let setback = try? await known?.seen.setback(of: audit, ending: audit.last()) {
            setbacks.append(setback)
        }
        for store in stores.marked(opened) {
            let setback = try? await store.setback(behind: known?.marks[store.name], accepting: .acceptance())
            if let setback { setbacks.append(setback) }
        }
        for setback in setbacks { problems.add(.init("stores.copy", setback.reason, setback.remedy)) }
        if let keys, keys.keys == nil, stores.keys != "memory" { problems.add(.keepsRecordsOnly("keys")) }
        if let audit, audit.audit == nil, stores.audit != "memory" { problems.add(.keepsRecordsOnly("audit")) }
        return ServerEngines(
            settings: stores, sessions: (opened[stores.sessions] ?? nil)?.records ?? MemoryRecordStore(),
            keys: GuardedKeyStore(
                keys?.keys ?? MemorySealedKeyStore(), health: EngineHealth("keyStore"), expected: stores.fingerprint
            ) { operation throws(StoreError) in try await keys?.probe(.keyStore, operation) },
            audit: audit?.audit ?? MemoryAuditStore(),
            standsInForKeys: keys?.keys == nil && stores.keys != "memory",
            closing: { [opened] in for stores in opened.values { stores?.close() } })
    }
}

extension RecordStore {
    /// How long the quickest of three calls takes; `nil` if one fails.
    fileprivate func quickest() async -> Duration? {
        let (clock, nothing) = (ContinuousClock(), RecordKey(.account, tenant: "-", name: "-"))
        var quickest: Duration?
        for _ in 0..<3 {
            let began = clock.now
            // The findings say why it fails.
            guard (try? await read(nothing)) != nil else { return nil }
            quickest = min(quickest ?? .seconds(60), clock.now - began)
        }
        return quickest
    }
}

extension ConfigurationFile {
    /// Checks whether the node's own copy could be kept.
    /// - Returns: the newest entry of the audit and the marks that the node has seen.
    fileprivate func checkCopy() throws -> (seen: AuditAnchor?, marks: [String: StoreMark])? {
        guard let text = settings.stores.copy else { return nil }
        guard case .sqlite(let path) = try StoreAddress(text).below(folder) else { throw Diagnosis.copyAddress }
        return try Stores.checkCopy(at: path)
    }
}
