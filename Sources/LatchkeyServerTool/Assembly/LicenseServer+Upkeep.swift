import LatchkeyCore
import LatchkeyServer

/// What a running server does beside requests. Ends with the task.
extension LicenseServer {
    /// Reads the configuration again when one of its files changed; looks every second.
    func watchFiles(_ timekeeper: any Timekeeper = SystemTimekeeper()) async {
        guard let file = try? file.readAgain() else { return }
        var seen = WatchedFiles(file)
        while (try? await timekeeper.sleep(for: .seconds(1))) != nil {
            // A file that cannot be read is told by the reload.
            let file = (try? file.readAgain()) ?? file
            let now = WatchedFiles(file)
            guard now != seen else { continue }
            seen = now
            _ = try? await reload()
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
