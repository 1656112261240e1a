package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyFairPlay
package import LatchkeyHTTP
package import LatchkeyLicensees
import LatchkeyPackaging
import LatchkeyVault

/// Answers one license request: token, SPC, key, decision, CKC, in this order.
///
/// Checks that need no RSA come first. The slot is taken after the SPC is open, and given back if the CKC fails.
///
/// Source: `Documentation/LicenseServer.md` §1 rule 4.
package struct LicenseIssuer: Sendable {
    private let module: KeyServerModule
    private let licenseeModule: LicenseeModule?
    private let policies: PolicySet
    let accounts: AccountSessions
    let pool: WorkerPool
    private let playbacks: RunningPlaybacks
    let timekeeper: any Timekeeper
    private let randomness: Randomness
    private let opening: Opening?

    /// Opens several SPCs together.
    package typealias Opening = BatchedWork<KeyServerModule.Opening, Result<ServerPlaybackContext, KSMRefusal>>

    /// - Parameters:
    ///   - module: the KSM with the credentials and derivation of the server's licensee, for tenants without their own.
    ///   - licenseeModule: that licensee's own module, which makes the CKCs. Defaults to none.
    ///   - policies: all policies.
    ///   - accounts: sessions, devices and used tokens.
    ///   - pool: the threads for RSA.
    ///   - playbacks: the running playbacks, whose requests go first. Defaults to the playbacks that this issuer licensed.
    ///   - timekeeper: the time. Defaults to the machine's.
    ///   - randomness: makes the generator for one CKC, or says why it cannot. Defaults to one of libcrypto's for all.
    ///   - opening: opens waiting SPCs in batches, also across issuers that share it. Defaults to none: one by one.
    package init(
        module: KeyServerModule, licenseeModule: LicenseeModule? = nil, policies: PolicySet, accounts: AccountSessions,
        pool: WorkerPool,
        playbacks: RunningPlaybacks = RunningPlaybacks(), timekeeper: any Timekeeper = SystemTimekeeper(),
        randomness: Randomness? = nil, opening: Opening? = nil
    ) {
        (self.module, self.licenseeModule) = (module, licenseeModule)
        self.policies = policies
        self.accounts = accounts
        self.pool = pool
        self.playbacks = playbacks
        self.timekeeper = timekeeper
        self.opening = opening
        let shared = SharedGenerator()
        self.randomness = randomness ?? { shared }
    }

    /// Makes the generator for one CKC.
    package typealias Randomness = @Sendable () throws(KSMRefusal) -> any RandomNumberGenerator

    /// The application certificate that a tenant's apps get; `nil` without credentials.
    package func certificate(of tenant: Tenant) -> FairPlayCertificate? {
        module(of: tenant).credentials.first?.certificate
    }

    /// The KSM that opens a tenant's SPCs. It knows only this tenant's certificate; all others are unknown to it.
    func module(of tenant: Tenant) -> KeyServerModule { tenant.module ?? module }

    /// The licensee's module that makes a tenant's CKCs; `nil` where the KSM does.
    private func licenseeModule(of tenant: Tenant) -> LicenseeModule? {
        tenant.module == nil ? licenseeModule : tenant.licenseeModule
    }

    /// An SPC with the data that accompanies it.
    package struct Request: Sendable {
        package let spc: Data
        /// The viewer's token; `nil` without one.
        package let token: String?
        /// The viewer's facts known without the SPC: purpose, address, country, stop codes.
        package let viewer: LicenseRequestFacts
        /// The key URI, for an SPC that only a licensee's module can read; `nil` if the request does not state it.
        package let keyURI: String?

        package init(spc: Data, token: String?, viewer: LicenseRequestFacts, keyURI: String? = nil) {
            self.spc = spc
            self.token = token
            self.viewer = viewer
            self.keyURI = keyURI
        }
    }

    /// A license.
    package struct License: Sendable {
        package let ckc: Secret
        package let terms: LicenseTerms
        /// When to renew; `nil` if the player need not.
        package let renewAfter: Duration?
        /// The token for heartbeats and for ending the session; `nil` where sessions are not counted.
        package let heartbeatToken: String?
        /// How often the player sends it; `nil` if sessions live by leases.
        package let heartbeat: Duration?
        let taken: TakenRoom
    }

    /// Answers a request.
    /// - Parameter report: the outcome, for logs and metrics.
    /// - Returns: the license; `nil` for a player that says that it stopped, and needs none.
    package func license(
        _ request: Request, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> License? {
        let grant = try await self.grant(request.token, of: tenant, &report)
        let spc = try await opened(request, grant, of: tenant)
        report.end(.open, at: timekeeper.uptime)
        let key = try await self.key(spc.assetID, of: tenant, &report)
        var facts = try self.facts(request.viewer, spc, grant, key.facts, tenant)
        if let callout = tenant.callout { try await entitle(&facts, callout) }
        return try await license(spc, key, facts, tenant, &report)
    }

    /// Decides about a key, and makes the CKC.
    func license(
        _ spc: RequestedSPC, _ key: VaultKey, _ facts: Facts, _ tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> License? {
        // Before the decision, so that no slot is taken. Clear Key takes its IVs from the media.
        if let kid = key.facts.id, !key.content.hasStatedIV { throw LicenseRefusal(VaultError.ivMissing(kid)) }
        try checkFacts(facts, of: spc, key.facts, tenant)
        let taken = TakenRoom(accounts)
        let outcome = try await decision(facts, tenant, taken, &report)
        do throws(LicenseRefusal) {
            switch spc {
            case .opened(let context): return try license(by: outcome, context, key.content, taken, &report)
            case .forModule(let spc): return try await license(by: outcome, spc, key, taken, &report)
            }
        } catch {
            await taken.giveBack()
            throw error
        }
    }

    @inline(never) private func checkFacts(
        _ facts: Facts, of spc: RequestedSPC, _ key: KeyFacts, _ tenant: Tenant
    ) throws(LicenseRefusal) {
        if case .forModule(let spc) = spc { try spc.checkFacts(facts, for: policy(for: key, of: tenant)) }
    }

    @inline(never) private func license(
        by outcome: BookedDecision, _ spc: ModuleSPC, _ key: VaultKey, _ taken: TakenRoom,
        _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> License? {
        // Stays empty if no license was decided on.
        var ckc = Secret([])
        if case .license(let terms, _, _, _, _) = outcome.decision { ckc = try await spc.ckc(key, terms) }
        return try license(by: outcome, taken, &report) { _ in ckc }
    }

    // Apart, so that nothing of it is in the frame of a task.
    @inline(never) private func license(
        by outcome: BookedDecision, _ context: ServerPlaybackContext, _ key: ContentKey, _ taken: TakenRoom,
        _ report: inout LicenseReport
    ) throws(LicenseRefusal) -> License? {
        try license(by: outcome, taken, &report) { terms throws(LicenseRefusal) in try ckc(context, key, terms) }
    }

    /// The license that was decided on.
    private func license(
        by outcome: BookedDecision, _ taken: TakenRoom, _ report: inout LicenseReport,
        ckc: (LicenseTerms) throws(LicenseRefusal) -> Secret
    ) throws(LicenseRefusal) -> License? {
        switch outcome.decision {
        case .refuse(let refusal, _, _): throw refusal
        case .acknowledge: return nil
        case .license(let terms, _, let renewAfter, _, _):
            let ckc = try ckc(terms)
            report.end(.answer, at: timekeeper.uptime)
            note(terms, of: outcome.origin.facts.grant, &report)
            return License(
                ckc: ckc, terms: terms, renewAfter: renewAfter, heartbeatToken: outcome.heartbeatToken,
                heartbeat: outcome.heartbeat, taken: taken)
        }
    }

    /// Notes a running playback, whose requests go first.
    func note(_ terms: LicenseTerms, of grant: Grant, _ report: inout LicenseReport) {
        guard let lease = terms.lease else { return }
        report.lease = lease
        playbacks.note(grant.session ?? grant.account, until: timekeeper.uptime + lease)
    }
}

extension LicenseIssuer {
    func grant(
        _ token: String?, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> Grant {
        let date = timekeeper.date
        defer { report.end(.token, at: timekeeper.uptime) }
        do throws(UngrantedToken) {
            let grant =
                if let known = try tenant.grant(token, at: date) { known } else {
                    try await tenant.grantAfterFetch(token, at: date)
                }
            report.account = grant.account
            return grant
        } catch {
            report.tokenError = error.cause
            throw error.refusal
        }
    }

    /// Opens an SPC on a thread of the pool, unless the server has more work than it can do in time.
    func opened(
        _ request: Request, _ grant: Grant, of tenant: Tenant
    ) async throws(LicenseRefusal) -> RequestedSPC {
        guard !request.spc.isEmpty else { throw .emptySPC }
        if let module = licenseeModule(of: tenant) { return try await read(request, grant, of: tenant, for: module) }
        if let opened = openedHere(request.spc, of: tenant) { return try opened.get() }
        return try await openedInTurn(request, grant, of: tenant)
    }

    /// Opens an SPC on this thread, if it is the pool's and nothing else waits.
    // Apart, so that nothing of it is in the frame of a task.
    @inline(never) private func openedHere(
        _ spc: Data, of tenant: Tenant
    ) -> Opened? {
        pool.runHere { () -> Opened in module(of: tenant).opened(spc).map { .opened($0) } }
    }

    private func openedInTurn(
        _ request: Request, _ grant: Grant, of tenant: Tenant
    ) async throws(LicenseRefusal) -> RequestedSPC {
        let (lane, session) = lane(of: request, grant)
        let opened =
            if let opening { await opened(request.spc, of: tenant, lane, session, with: opening) } else {
                await openedAlone(request.spc, of: tenant, lane, session)
            }
        return try opened.get()
    }

    /// The lane in the pool, and the session that spreads refused clients.
    func lane(of request: Request, _ grant: Grant) -> (AdmissionLane, session: String) {
        let session = grant.session ?? grant.account
        let lane: AdmissionLane =
            request.viewer.purpose != .stream
            ? .stored : playbacks.runs(session, at: timekeeper.uptime) ? .renewal : .start
        return (lane, session)
    }

    private typealias Opened = Result<RequestedSPC, LicenseRefusal>

    // Each has only its own frame of a task.
    @inline(never) private func opened(
        _ spc: Data, of tenant: Tenant, _ lane: AdmissionLane, _ session: String, with opening: Opening
    ) async -> Opened {
        let input = KeyServerModule.Opening(module: module(of: tenant), spc: [UInt8](spc))
        return await pool.run(lane, session: session, tenant: tenant.name, opening, input)
            .mapError(\.refusal).flatMap { $0.mapError { LicenseRefusal($0) } }.map { .opened($0) }
    }

    @inline(never) private func openedAlone(
        _ spc: Data, of tenant: Tenant, _ lane: AdmissionLane, _ session: String
    ) async -> Opened {
        let module = module(of: tenant)
        return await pool.run(lane, session: session, tenant: tenant.name) { () -> Opened in
            module.opened(spc).map { .opened($0) }
        }
        .mapError(\.refusal).flatMap { $0 }
    }

    func key(
        _ identifier: ContentIdentifier, of tenant: Tenant, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> VaultKey {
        guard let reading = KeyURIReading(identifier, template: tenant.settings.keyURI) else {
            throw .unknownKey(identifier.description)
        }
        report.kid = reading.kid
        let key =
            if let known = try tenant.knownKey(reading.kid, content: reading.content) { known } else {
                try await tenant.key(reading.kid, content: reading.content)
            }
        report.found(key)
        report.end(.key, at: timekeeper.uptime)
        return key
    }

    @inline(never) func facts(
        _ viewer: LicenseRequestFacts, _ spc: RequestedSPC, _ grant: Grant, _ key: KeyFacts, _ tenant: Tenant
    ) throws(LicenseRefusal) -> Facts {
        var request = viewer
        switch spc {
        case .opened(let context):
            request.take(context, device: try Self.digest(of: context.deviceIdentifier, tenant))
        case .forModule(let spc):
            guard let statements = spc.statements else { break }
            let device = try statements.deviceIdentifier.map { device throws(LicenseRefusal) in
                try Self.digest(of: device, tenant)
            }
            request.take(statements, device: device)
        }
        request.tenant = tenant.name
        var facts = Facts()
        (facts.request, facts.grant, facts.key) = (request, grant, key)
        return facts
    }

    /// The first 16 bytes of the SHA-256 of tenant and device identifier, as hexadecimal digits: enough to distinguish an account's
    /// devices, and not comparable with another tenant's digests.
    static func digest(of device: Secret, _ tenant: Tenant) throws(LicenseRefusal) -> String {
        do throws(OpenSSLError) {
            let bytes = device.withUnsafeBytes { Array("latchkey/device/1\0\(tenant.name)\0".utf8) + $0 }
            return try MessageDigest.sha256(bytes).prefix(16).hexString
        } catch {
            throw LicenseRefusal(.policy(.storeUnavailable), reason: error.reason)
        }
    }

    /// Asks the operator's own service, if there is one. If it does not answer, the policy's outage rule decides.
    func entitle(
        _ facts: inout Facts, _ callout: EntitlementCallout<Grant>
    ) async throws(LicenseRefusal) {
        let question = EntitlementQuestion(user: facts.grant.account, asset: facts.key.content)
        switch try? await callout.verdict(on: question) {
        case .granted(let grant): facts.grant.narrow(to: grant)
        case .refused(let refusal): throw refusal
        case .unchecked, nil: facts.account.outages.insert(.callout)
        }
    }

    func decision(
        _ facts: Facts, _ tenant: Tenant, _ taken: TakenRoom, _ report: inout LicenseReport
    ) async throws(LicenseRefusal) -> BookedDecision {
        let policy = try policy(for: facts.key, of: tenant)
        let limits = TenantBound(tenant.usage, tenant.settings.limits, at: timekeeper.date)
        defer { report.end(.policy, at: timekeeper.uptime) }
        do throws(TenantBound.Excess) {
            let outcome = try await accounts.decide(facts, by: policy, requestID: report.requestID, within: limits)
            note(outcome, within: limits, taken, &report)
            return outcome
        } catch {
            throw tenant.usage.refusal(error.limit, wait: error.wait)
        }
    }

    // Apart, so that nothing of both is in the frame of a task.
    @inline(never) private func policy(for key: KeyFacts, of tenant: Tenant) throws(LicenseRefusal) -> Policy {
        do throws(Diagnosis) {
            return try policies.policy(for: key, tenant: tenant.settings.policy)
        } catch {
            throw LicenseRefusal(.policy(.storeUnavailable), reason: error.reason, remedy: error.remedy)
        }
    }

    @inline(never) private func note(
        _ outcome: BookedDecision, within limits: TenantBound, _ taken: TakenRoom, _ report: inout LicenseReport
    ) {
        report.record = outcome.record
        taken.add(outcome, within: limits)
    }

    func ckc(
        _ context: ServerPlaybackContext, _ key: ContentKey, _ terms: LicenseTerms
    ) throws(LicenseRefusal) -> Secret {
        do throws(KSMRefusal) {
            var generator = try randomness()
            return Secret(try module.contentKeyContext(for: context, key: key, terms: terms, using: &generator))
        } catch {
            throw LicenseRefusal(error)
        }
    }
}

extension KeyServerModule {
    fileprivate func opened(_ spc: Data) -> Result<ServerPlaybackContext, LicenseRefusal> {
        do throws(KSMRefusal) { return .success(try open(spc)) } catch { return .failure(LicenseRefusal(error)) }
    }
}
