import Foundation
import LatchkeyCore
import LatchkeyEngines
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyOperation
import LatchkeyPolicy
import LatchkeyVault

/// Builds a server's state out of a configuration, and finds everything that is wrong with it.
struct ServerBuilder: Sendable {
    let file: ConfigurationFile
    let engines: ServerEngines
    let accounts: AccountSessions
    let pool: WorkerPool
    let batches: LicenseBatches
    let playbacks: RunningPlaybacks
    let log: ServerLog
    let health: EngineTable
    let timekeeper: any Timekeeper
    /// The configuration that is in force; `nil` at the start.
    var former: ServerState?
    /// Whether it is for a check: it then looks at everything, whatever is wrong, and leaves addresses to the check.
    var isChecking = false

    /// How long it may take to read what a token may have to open.
    static let tokenLimit = Duration.seconds(30)

    package var settings: ServerSettings { file.settings }

    /// - Parameter notices: what an operator should read beside what the configuration gives cause for. Defaults to nothing.
    /// - Throws: every problem.
    func state(notices: [String] = []) async throws(ServerProblems) -> ServerState {
        var problems = ServerProblems()
        if let problem = batches.problem { problems.add(.init("cryptoMB", problem)) }
        let licensee = await licensee(&problems)
        let identities = await problems.reading("listeners", on: file.threads) { self.identities(&$0) }
        let policies = await problems.reading("policies", on: file.threads) { self.policies(&$0) }
        let wrapping = await wrapping(&problems)
        await checkFingerprint(&problems)
        var tenants: [String: Tenant] = [:]
        var backgroundTasks: [Task<Void, Never>] = []
        for (name, tenant) in settings.tenants.sorted(by: { $0.key < $1.key }) {
            tenants[name] = await self.tenant(name, tenant, wrapping, policies, &backgroundTasks, &problems)
        }
        var pages: [String: CORSPolicy] = [:]
        for (name, tenant) in settings.tenants.sorted(by: { $0.key < $1.key }) where !tenant.origins.isEmpty {
            pages[name] = problems.collecting("tenants.\(name).origins") {
                try CORSPolicy(
                    tenant.origins.contains("*") ? .any : .listed(tenant.origins),
                    headers: Self.pageHeaders)
            }
        }
        let stated = settings.tenants.sorted { $0.key < $1.key }
        let apis =
            await problems.reading("tenants", on: file.threads) { problems -> [String: [any VendorAPI]] in
                stated.reduce(into: [:]) { $0[$1.key] = self.apis(of: $1.key, $1.value.vendors, &problems) }
            } ?? [:]
        let built = tenants.values.sorted { $0.name < $1.name }.map { ($0, apis[$0.name] ?? []) }
        let proxies = TrustedProxies(settings.trustedProxies)
        let callers = callers(proxies)
        guard problems.isEmpty, let licensee, let identities, let policies, let wrapping else {
            for task in backgroundTasks { task.cancel() }
            throw problems
        }
        let former = await wrappedByOthers(wrapping)
        let issuer = LicenseIssuer(
            module: licensee.module, policies: policies, accounts: accounts, pool: pool, playbacks: playbacks,
            timekeeper: timekeeper, opening: batches.opening)
        return ServerState(
            settings: settings, licensee: licensee, identities: identities,
            notices: licensee.notices + identities.notices(at: Date()) + notices + former
                + settings.hazards(policies)
                + settings.recordHazards(
                    isProduction: licensee.module.credentials.contains { !$0.certificate.isTestCertificate }),
            policies: policies,
            wrapping: wrapping,
            tenants: tenants,
            players: PlayerAPI(issuer: issuer, accounts: accounts, tenants: tenants, timekeeper: timekeeper),
            vendors: VendorAPIs(issuer: issuer, tenants: built, timekeeper: timekeeper),
            packagers: PackagerAPI(tenants: tenants, callers: callers, timekeeper: timekeeper), proxies: proxies,
            country: settings.countryHeader.map { CountryField(HTTPHeaderName($0)) }, pages: pages,
            backgroundTasks: backgroundTasks)
    }

    private func licensee(_ problems: inout ServerProblems) async -> LicenseeSetup? {
        let (configuration, folder) = (file.licensee, file.folder)
        // Reads files, logs in to tokens and tests the derivation.
        return await problems.reading("licensee", on: file.threads, within: Self.tokenLimit) { problems in
            do throws(LicenseeError) {
                return try LicenseeSetup(configuration, folder: folder, at: Date())
            } catch {
                for problem in error.problems {
                    problems.add(.init("licensee.\(problem.place)", problem.reason, problem.remedy))
                }
                return nil
            }
        }
    }

    private func identities(_ problems: inout ServerProblems) -> ListenerIdentities {
        let (players, packagers, operators) = (settings.players, settings.packagers, settings.operators)
        return ListenerIdentities(
            players: problems.collecting("players") { try file.identity(of: players) } ?? nil,
            packagers: problems.collecting("packagers") { try file.identity(of: packagers) } ?? nil,
            operators: problems.collecting("operators") { try file.identity(of: operators) } ?? nil)
    }

    private func policies(_ problems: inout ServerProblems) -> PolicySet? {
        do throws(JSONProblems) {
            let set: PolicySet
            if let name = settings.policies {
                set = try PolicySet(folder: URL(filePath: file.path(name)))
            } else {
                set = try PolicySet([:])
            }
            for problem in set.check() {
                problems.add(.policies(problem))
            }
            return set
        } catch {
            for problem in error.problems {
                problems.add(.policies(problem))
            }
            return nil
        }
    }

    private func tenant(
        _ name: String, _ settings: TenantSettings, _ wrapping: KeyEncryptionKeys?, _ policies: PolicySet?,
        _ backgroundTasks: inout [Task<Void, Never>], _ problems: inout ServerProblems
    ) async -> Tenant? {
        let place = "tenants.\(name)"
        if let policy = settings.policy, let policies, policies[policy] == nil {
            problems.add(
                .init("\(place).policy", "There is no policy “\(policy)”.", "Correct the name, or add the policy."))
        }
        let keys = engines.keys
        var vault: TenantVault?
        if let wrapping {
            vault = await problems.awaiting("\(place).keys") {
                TenantVault(
                    try await secrets(of: name, wrapping), store: keys, settings: settings.vault,
                    timekeeper: timekeeper)
            }
        }
        let tokenKeys = await tokenKeys(settings.tokens, of: name, &backgroundTasks, &problems)
        let read = await problems.reading(place, on: file.threads) { problems in
            (
                signers: self.signers(of: settings, place, &problems),
                recipients: self.recipients(of: settings, place, &problems),
                callout: settings.callout.flatMap { stated in
                    problems.collecting("\(place).callout") { try self.callout(stated, of: name) }
                }
            )
        }
        guard let vault, let read else { return nil }
        let tenant = Tenant(
            name, settings, vault: vault, tokenKeys: tokenKeys, signers: read.signers, recipients: read.recipients,
            callout: read.callout)
        if let known = former?.tenants[name] { tenant.takeOver(known) }
        return tenant
    }
}

extension ServerProblems.Problem {
    /// A problem of the folder of policies, or of one of them.
    fileprivate static func policies(_ problem: JSONProblem) -> Self {
        Self("policies\(problem.place.isEmpty ? "" : " ")\(problem.place)", problem.what, problem.remedy)
    }
}
