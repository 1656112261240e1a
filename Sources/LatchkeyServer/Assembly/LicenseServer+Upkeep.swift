import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// What a running server does beside requests. Ends with the task.
extension LicenseServer {
    /// Reads the configuration again when one of its files changed; looks every second, whatever is wrong with the files.
    /// - Parameter timekeeper: the clock. Defaults to the server's.
    func watchFiles(_ timekeeper: (any Timekeeper)? = nil) async {
        let timekeeper = timekeeper ?? shared.timekeeper
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

    /// Follows what other nodes change about keys. Notices may be lost: every half minute all known keys are read again, and every ten
    /// minutes those of the node's copy, beginning at once.
    func followKeys() async {
        await withTaskGroup { group in
            group.addTask { [self] in
                let changes: AsyncStream<KeyChange>
                do throws(StoreError) { changes = try shared.engines.changes() } catch {
                    return shared.log.write(LogEntry(.outage, error))
                }
                for await change in changes { await apply(change) }
            }
            group.addTask { [self] in
                while (try? await shared.timekeeper.sleep(for: .seconds(30))) != nil { await apply(.everything) }
            }
            group.addTask { [self] in
                repeat { await readCopyAgain() } while (try? await shared.timekeeper.sleep(for: .seconds(600))) != nil
            }
        }
    }

    /// Sees each second whether engines that are away are back, and every five whether the others answer; then what they missed reaches
    /// them, and what was missed here is read.
    func watchEngines() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(1))) != nil { await lookAtEngines() }
    }

    func lookAtEngines() async {
        let engines = shared.engines
        let (wasAway, wasBehind) = (engines.keys.isAway, engines.keys.age?.setback != nil)
        await shared.look(atLeastEvery: .seconds(5))
        if !engines.keys.health.isAway, !engines.auditGuard.health.isAway, let pending = engines.pending,
            pending.count > 0
        {
            let count = pending.count
            await pending.deliver(deliver)
            let message = "Changes made while stores were unavailable have reached them: \(count - pending.count)."
            shared.log.write(LogEntry(.info, .outage, message: message))
        }
        let isBack = wasAway && !engines.keys.isAway
        // A license or a packager may have found that it is back, and away, between two looks.
        let hasMissed =
            !engines.keys.isAway
            && missesChanges.withLock { missed in
                defer { missed = false }
                return missed
            }
        if isBack || hasMissed || wasBehind && engines.keys.age?.setback == nil { await apply(.everything) }
        await showCopy()
    }

    /// Notes each second whether there is more work than can be done, and which lines the log dropped.
    func watchPool() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(1))) != nil {
            shared.saturation.note(isFull: shared.pool.admission.isOverloaded)
            shared.log.tellDropped()
            shared.record?.flushShare()
        }
    }

    /// Asks every twenty seconds whether the provider answers at which operators sign in, so that the console's notice is true while nobody
    /// does. That it does not is logged once.
    func watchProvider() async {
        var isTold = false
        repeat {
            do throws(SignOnRefusal) {
                try await current.openID?.answers()
                isTold = false
            } catch {
                if !isTold, !Task.isCancelled { shared.log.write(LogEntry(.admin, error, level: .warning)) }
                isTold = true
            }
        } while (try? await shared.timekeeper.sleep(for: .seconds(20))) != nil
    }

    /// Checks the audit, a part every two minutes, and again from its start behind its end: nobody has to ask for it.
    func watchAudit() async {
        var walk = AuditWalk()
        while (try? await shared.timekeeper.sleep(for: .seconds(120))) != nil { await checkAudit(&walk) }
    }

    /// Checks up to 10,000 entries of the audit. A store that is away is told by its health, and asked again the next time; what it holds and
    /// nobody can read is not intact.
    func checkAudit(_ walk: inout AuditWalk) async {
        do throws(StoreError) {
            for _ in 0..<20 {
                // Known before the entries are read: another one may come meanwhile.
                let known = shared.audit.lastSeen.map { AuditAnchor($0) }
                guard let verdict = try await walk.step(through: shared.engines.audit, knowing: known) else { continue }
                return shared.show(verdict)
            }
        } catch {
            guard error.kind == .damaged else { return }
            shared.metrics.auditIsIntact.set(0)
            shared.log.write(LogEntry(.admin, error))
        }
    }

    /// Notes each minute in the record how many sessions each tenant has.
    func recordViewers() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(60))) != nil {
            guard let record = shared.record else { continue }
            let counts = await shared.sessions.count(current.tenants.keys.sorted())
            record.viewers(counts.filter(\.value.isWhole).mapValues(\.value))
        }
    }

    /// Writes rows of keys that a store did not take when they were made.
    func writePendingKeys() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(5))) != nil {
            for tenant in current.tenants.values { _ = await tenant.vault.writePending() }
        }
    }

    func apply(_ change: KeyChange) async {
        // Before everything is read again: what another database does not have is not to be forgotten.
        if change == .everything { await shared.engines.keys.probe() }
        switch change {
        case .key(let tenant, let kid):
            current.tenants[tenant]?.vault.noteChange(of: kid)
            // The copy learns it too, whether or not somebody asks for the key.
            if shared.engines.keys.copy != nil { _ = try? await shared.engines.keys.rows([kid], of: tenant) }
        case .tenant(let tenant): await refresh(current.tenants[tenant])
        case .everything: for tenant in current.tenants.values { await refresh(tenant) }
        }
    }

    /// What is known stays where the store does not answer; that it does not, its health tells.
    private func refresh(_ tenant: Tenant?) async {
        guard let tenant else { return }
        do throws(VaultError) { try await tenant.vault.refresh() } catch {
            if case .store(let failure) = error, failure.isOutage { missesChanges.withLock { $0 = true } }
            guard !shared.engines.keys.isAway else { return }
            var entry = LogEntry(.outage, error)
            entry.tenant = tenant.name
            shared.log.write(entry)
        }
    }

    /// Reads the rows of the node's copy again, so that it has what changed while the node did not run or did not hear.
    func readCopyAgain() async {
        guard let copy = shared.engines.keys.copy else { return }
        for tenant in current.tenants.keys.sorted() {
            var last: KeyID?
            while !Task.isCancelled, !shared.engines.keys.isAway,
                let kids = try? await copy.kids(of: tenant, after: last, limit: StoreLimits.pageRows), !kids.isEmpty
            {
                _ = try? await shared.engines.keys.rows(kids, of: tenant)
                last = kids.last
            }
        }
    }

    private func showCopy() async {
        let metrics = shared.metrics
        guard let figures = try? await shared.engines.keys.copy?.figures() else { return }
        metrics.copyRows.set(Double(figures.rows))
        metrics.copyBytes.set(Double(figures.bytes))
        metrics.copyKept.set(figures.kept?.timeIntervalSince1970 ?? 0)
    }

    /// Hands a change over that could not reach its store. One that its store does not know any more is told and given up.
    private func deliver(_ change: PendingChange.Kind) async throws {
        switch change {
        case .disabled(let tenant, let name):
            guard let kid = KeyID(name) else { return }
            do throws(VaultError) {
                guard let vault = current.tenants[tenant]?.vault else { throw .unknown(kid) }
                guard try await vault.setDisabled(true, kid) else { throw .store(shared.engines.keys.absence) }
            } catch {
                guard error.isConflict else { throw error }
                shared.log.write(LogEntry(.outage, error, level: .warning))
            }
        case .stopped(let tenant, let account, let session, let who, _):
            _ = try await shared.operatorAccounts.stop(session: session, of: account, tenant, by: who)
        case .audit(let text):
            _ = try await shared.audit.append(text: text)
        }
    }
}
