import Foundation
import LatchkeyCore
import LatchkeyServer
import LatchkeyStores

/// The stores of a running server. They stay as they are while configurations change.
struct ServerEngines: Sendable {
    let settings: ServerSettings.Stores
    let sessions: any RecordStore
    let keys: any KeyStore
    let audit: any AuditStore
    let changes: @Sendable () throws(StoreError) -> AsyncStream<KeyChange>
    /// What there is to close.
    let opened: [Stores]

    /// Opens the stores; each address once, however often it is named.
    /// - Parameters:
    ///   - file: the configuration.
    ///   - purpose: whether a file of a store may be made or changed. Defaults to yes.
    /// - Throws: `ServerProblems`.
    static func open(
        _ file: ConfigurationFile, for purpose: StorePurpose = .serving
    ) async throws(ServerProblems) -> ServerEngines {
        var problems = ServerProblems()
        var opened: [String: Stores?] = [:]
        let stores = file.settings.stores
        func open(_ text: String, _ place: String) async -> Stores? {
            if let stores = opened[text] { return stores }
            let stores = await problems.awaiting("stores.\(place)") {
                try await Stores.open(
                    StoreAddress(text).below(file.folder), recordLimit: .milliseconds(stores.sessionMilliseconds),
                    for: purpose)
            }
            opened[text] = .some(stores)
            return stores
        }
        let sessions = await open(stores.sessions, "sessions")?.records
        let keys = await open(stores.keys, "keys")
        let audit = await open(stores.audit, "audit")
        let keyStore = keys?.keys ?? (stores.keys == "memory" ? MemorySealedKeyStore() : nil)
        let auditStore = audit?.audit ?? (stores.audit == "memory" ? MemoryAuditStore() : nil)
        if keys != nil, keyStore == nil { problems.add(.keepsRecordsOnly("keys")) }
        if audit != nil, auditStore == nil { problems.add(.keepsRecordsOnly("audit")) }
        guard problems.isEmpty, let sessions, let keyStore, let auditStore, let keys else {
            for stores in opened.values { stores?.close() }
            throw problems
        }
        return ServerEngines(
            settings: stores, sessions: sessions, keys: keyStore, audit: auditStore, changes: keys.changes,
            opened: opened.values.compactMap(\.self))
    }

    /// Ends threads and connections.
    func close() {
        for stores in opened { stores.close() }
    }
}

extension StoreAddress {
    /// The address, with the path of a file relative to a folder.
    fileprivate func below(_ folder: URL) -> StoreAddress {
        guard case .sqlite(let path) = self else { return self }
        return .sqlite(path: URL(filePath: path, relativeTo: folder).absoluteURL.path)
    }
}

extension ServerProblems.Problem {
    fileprivate static func keepsRecordsOnly(_ place: String) -> Self {
        Self(
            "stores.\(place)", "This engine keeps sessions and used tokens only.",
            "Name memory, sqlite:PATH or postgresql://….")
    }
}
