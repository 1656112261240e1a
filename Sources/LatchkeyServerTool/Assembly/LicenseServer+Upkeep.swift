import LatchkeyCore
import LatchkeyServer

/// What a running server does beside requests. Ends with the task.
extension LicenseServer {
    /// Reads the configuration again when one of its files changed; looks every second, whatever is wrong with the files.
    func watchFiles(_ timekeeper: any Timekeeper = SystemTimekeeper()) async {
        var known = file
        // Without a first look, what is there at the next one counts as changed.
        var seen = try? await look(from: known).files
        var isTold = false
        while (try? await timekeeper.sleep(for: .seconds(1))) != nil {
            let now: WatchedFiles
            do {
                (known, now) = try await look(from: known)
                isTold = false
            } catch {
                guard !Task.isCancelled, !(error is CancellationError) else { return }
                // Once for each time that the files hang.
                if !isTold, let error = error as? any DiagnosableError {
                    shared.log.write(LogEntry(.configuration, error, level: .warning))
                }
                isTold = true
                continue
            }
            guard now != seen else { continue }
            seen = now
            // What is wrong is logged there.
            _ = try? await reload()
        }
    }

    /// Looks at the configuration and the files that it names; at those of the last one that could be read, if this one cannot. Why it cannot
    /// is told by the reload.
    private func look(from last: ConfigurationFile) async throws -> (file: ConfigurationFile, files: WatchedFiles) {
        try await last.threads.run(last.path) {
            let file = (try? last.readAgain()) ?? last
            return (file, WatchedFiles(file))
        }
    }

    /// Follows what other nodes change about keys; everything every half minute, as notices may be lost.
    func followKeys(_ timekeeper: any Timekeeper = SystemTimekeeper()) async {
        await withTaskGroup { group in
            group.addTask { [self] in
                guard let changes = try? shared.engines.changes() else { return }
                for await change in changes { await apply(change) }
            }
            group.addTask { [self] in
                while (try? await timekeeper.sleep(for: .seconds(30))) != nil { await apply(.everything) }
            }
        }
    }

    /// Notes each second whether there is more work than can be done.
    func watchPool(_ timekeeper: any Timekeeper = SystemTimekeeper()) async {
        while (try? await timekeeper.sleep(for: .seconds(1))) != nil {
            shared.saturation.note(isFull: shared.pool.admission.isOverloaded)
        }
    }

    /// Writes rows of keys that a store did not take when they were made.
    func writePendingKeys(_ timekeeper: any Timekeeper = SystemTimekeeper()) async {
        while (try? await timekeeper.sleep(for: .seconds(5))) != nil {
            for tenant in current.tenants.values { _ = await tenant.vault.writePending() }
        }
    }

    private func apply(_ change: KeyChange) async {
        switch change {
        case .key(let tenant, let kid): current.tenants[tenant]?.vault.invalidate(kid)
        case .tenant(let tenant): await current.tenants[tenant]?.vault.follow()
        case .everything: for tenant in current.tenants.values { await tenant.vault.follow() }
        }
    }
}
