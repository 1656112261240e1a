import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// The work of a running server besides requests. Ends with the task.
extension LicenseServer {
    /// Reloads the configuration when one of its files changed; looks every second, whatever is wrong with the files.
    /// - Parameter timekeeper: the clock. Defaults to the server's.
    func watchFiles(_ timekeeper: (any Timekeeper)? = nil) async {
        let timekeeper = timekeeper ?? shared.timekeeper
        var known = file
        // Without a first look, all files of the next one count as changed.
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
            // The reload logs problems.
            _ = try? await reload()
        }
    }

    /// Looks at the configuration and the files that it names; at the files of the last readable one, if this one cannot be read. The
    /// reload reports the reason.
    private func look(from last: ConfigurationFile) async throws -> (file: ConfigurationFile, files: WatchedFiles) {
        try await last.threads.run(last.path) {
            let file = (try? last.readAgain()) ?? last
            return (file, WatchedFiles(file))
        }
    }

    /// Follows other nodes' changes to keys. Notices may be lost: every half minute all known keys are read again, and every ten minutes
    /// the keys of the node's copy, beginning immediately.
    func followKeys() async {
        await withTaskGroup { group in
            group.addTask { [self] in
                for await change in shared.engines.changes { await apply(change) }
            }
            group.addTask { [self] in
                while (try? await shared.timekeeper.sleep(for: .seconds(30))) != nil { await apply(.everything) }
            }
            group.addTask { [self] in
                repeat { await readCopyAgain() } while (try? await shared.timekeeper.sleep(for: .seconds(600))) != nil
            }
        }
    }

    /// Checks each second whether engines that are away are back, and every five whether the others answer; then they get the changes that
    /// they missed, and changes that were missed here are read.
    func watchEngines() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(1))) != nil { await lookAtEngines() }
    }

    func lookAtEngines() async {
        let engines = shared.engines
        let (wasAway, wasBehind) = (engines.keys.isAway, engines.keys.age?.setback != nil)
        await shared.look(atLeastEvery: .seconds(5))
        if engines.keys.takesChanges, !engines.auditGuard.health.isAway, let pending = engines.pending,
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

    /// Notes each second whether the pool is overloaded, and which lines the log dropped.
    func watchPool() async {
        while (try? await shared.timekeeper.sleep(for: .seconds(1))) != nil {
            shared.saturation.note(isFull: shared.pool.admission.isOverloaded)
            shared.log.tellDropped()
            shared.record?.flushShare()
        }
    }

    /// Asks every twenty seconds whether the operators' sign-in provider answers, so that its health is known even without sign-ins.
    func watchProvider() async {
        repeat {
            do throws(SignOnRefusal) {
                try await current.openID?.answers()
                // Otherwise only the next sign-in would end an outage of the token endpoint.
                if let provider = current.openID, provider.health.isAway { try await provider.declines() }
            } catch {
                // Its health reports it.
            }
        } while (try? await shared.timekeeper.sleep(for: .seconds(20))) != nil
    }

    /// Checks the audit automatically, a part every two minutes, and again from its start after its end.
    func watchAudit() async {
        var walk = AuditWalk()
        while (try? await shared.timekeeper.sleep(for: .seconds(120))) != nil { await checkAudit(&walk) }
    }

    /// Checks up to 10,000 entries of the audit. A store that is away is reported by its health, and asked again the next time; an audit
    /// with unreadable entries is not intact.
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
        // Before everything is read again: keys that another database lacks must not be forgotten.
        if change == .everything { await shared.engines.keys.probe() }
        switch change {
        case .key(let tenant, let kid):
            current.tenants[tenant]?.vault.noteChange(of: kid)
            // The copy learns it too, whether or not the key is requested.
            if shared.engines.keys.copy != nil { _ = try? await shared.engines.keys.rows([kid], of: tenant) }
        case .tenant(let tenant): await refresh(current.tenants[tenant])
        case .blocks: await readBlocks()
        case .everything:
            await readBlocks()
            for tenant in current.tenants.values { await refresh(tenant) }
        }
    }

    /// Known blocks stay if the store does not answer; its health reports that.
    private func readBlocks() async {
        do throws(StoreError) { try await shared.engines.keys.blocks() } catch {
            if error.isOutage { missesChanges.withLock { $0 = true } }
            guard !shared.engines.keys.isAway else { return }
            shared.log.write(LogEntry(.outage, error))
        }
    }

    /// Known keys stay if the store does not answer; its health reports that.
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

    /// Reads the rows of the node's copy again, to get changes from the time when the node did not run or missed notices.
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

    /// Delivers a change that could not reach its store. A change that its store no longer knows is logged and dropped.
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
        case .blocked(let block): try await shared.engines.keys.block(block)
        case .stopped(let tenant, let account, let session, let who, _):
            _ = try await shared.operatorAccounts.stop(session: session, of: account, tenant, by: who)
        case .audit(let text):
            _ = try await shared.audit.append(text: text)
        }
    }
}
