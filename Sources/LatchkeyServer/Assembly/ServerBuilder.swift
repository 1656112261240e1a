import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault
import LatchkeyVendorWire

/// Builds a server's state from a configuration, and finds all problems of the configuration.
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
    /// The key of the digests of members that all nodes must have alike; `nil` where each node makes its own secret.
    let digestKey: Secret?
    /// How much of their limits tenants use, whatever the configuration.
    let usages: TenantUsages
    /// Counts the work of a tenant's module, or of the server's.
    let moduleObserver: @Sendable (_ tenant: String) -> ModuleObserver
    /// The configuration that is in force; `nil` at the start.
    var former: ServerState?
    /// Whether it is for a check, which then looks at everything despite problems, and asks addresses itself.
    var isChecking = false

    /// How long reading may take if a token may have to open the file.
    static let tokenLimit = Duration.seconds(30)

    package var settings: ServerSettings { file.settings }

    /// - Parameter notices: further notices to operators, besides the configuration's. Defaults to none.
    /// - Throws: every problem.
    func state(notices: [String] = []) async throws(ServerProblems) -> ServerState {
        var problems = ServerProblems()
        if let problem = batches.problem { problems.add(.init("cryptoMB", problem)) }
        let licensee = await licensee(&problems)
        let licensees = await licensees(&problems)
        let identities = await problems.reading("listeners", on: file.threads) { self.identities(&$0) }
        let policies = await problems.reading("policies", on: file.threads) { self.policies(&$0) }
        let wrapping = await wrapping(&problems)
        await checkFingerprint(&problems)
        var tenants: [String: Tenant] = [:]
        var backgroundTasks: [Task<Void, Never>] = []
        for (name, tenant) in settings.tenants.sorted(by: { $0.key < $1.key }) {
            tenants[name] = await self.tenant(
                name, tenant, licensees[name], wrapping, policies, &backgroundTasks, &problems)
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
        let openID = await problems.reading("operators.openID", on: file.threads) { self.openID(&$0) } ?? nil
        let callers = callers(proxies)
        guard problems.isEmpty, let licensee, let identities, let policies, let wrapping else {
            for task in backgroundTasks { task.cancel() }
            throw problems
        }
        let former = await wrappedByOthers(wrapping)
        let issuer = LicenseIssuer(
            module: licensee.module, licenseeModule: licensee.licenseeModule, policies: policies, accounts: accounts,
            pool: pool, playbacks: playbacks, timekeeper: timekeeper, opening: batches.opening)
        return ServerState(
            settings: settings, licensee: licensee, licensees: licensees, identities: identities,
            notices: (licensee.notices + identities.notices(at: Date()) + notices + former + settings.hazards(policies)
                + settings.recordHazards(
                    isProduction: ([licensee] + licensees.values).contains {
                        $0.licenseeModule != nil || $0.credentials.contains { !$0.isTestCertificate }
                    }))
                .map { Notice($0) } + Self.notices(of: licensees, beside: licensee),
            policies: policies,
            wrapping: wrapping,
            tenants: tenants,
            players: PlayerAPI(
                issuer: issuer, accounts: accounts, tenants: tenants, callers: callers, timekeeper: timekeeper),
            vendors: VendorAPIs(issuer: issuer, tenants: built, timekeeper: timekeeper),
            packagers: PackagerAPI(tenants: tenants, callers: callers, timekeeper: timekeeper), proxies: proxies,
            country: settings.countryHeader.map { CountryField(HTTPHeaderName($0)) }, openID: openID,
            pages: pages, digests: await digests() ?? [:], backgroundTasks: backgroundTasks)
    }

    private func digests() async -> [String: String]? {
        guard let digestKey else { return nil }
        return try? await file.threads.run("tenants") { file.digests(keyedBy: digestKey) }
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
        _ name: String, _ settings: TenantSettings, _ licensee: LicenseeSetup?, _ wrapping: KeyEncryptionKeys?,
        _ policies: PolicySet?,
        _ backgroundTasks: inout [Task<Void, Never>], _ problems: inout ServerProblems
    ) async -> Tenant? {
        let place = "tenants.\(name)"
        if let policy = settings.policy, let policies, policies[policy] == nil {
            problems.add(
                .init(
                    "\(place).policy", "The policy “\(policy)” does not exist.", "Correct the name, or add the policy.")
            )
        }
        let keys = engines.keys
        let usage = usages.of(name)
        var vaultSettings = settings.vault
        vaultSettings.whenFull = { usage.countRefusal(.keys) }
        let stated = vaultSettings
        var vault: TenantVault?
        if let wrapping {
            vault = await problems.awaiting("\(place).keys") {
                TenantVault(
                    try await secrets(of: name, wrapping), store: keys, settings: stated,
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
            callout: read.callout, module: licensee?.module, licenseeModule: licensee?.licenseeModule, usage: usage)
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
