import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFaces
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServer

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Builds a server's state out of a configuration, and finds everything that is wrong with it.
struct ServerBuilder: Sendable {
    let file: ConfigurationFile
    let engines: ServerEngines
    let accounts: AccountBook
    let pool: WorkerPool
    let playbacks: RunningPlaybacks
    let log: ServerLog

    /// How long it may take to read what a token may have to open.
    static let tokenLimit = Duration.seconds(30)

    private var settings: ServerSettings { file.settings }

    /// - Parameter notices: what an operator should read beside what the configuration gives cause for. Defaults to nothing.
    /// - Throws: every problem.
    func state(notices: [String] = []) async throws(ServerProblems) -> ServerState {
        var problems = ServerProblems()
        let licensee = await licensee(&problems)
        let identities = await problems.reading("listeners", on: file.threads) { self.identities(&$0) }
        let policies = await problems.reading("policies", on: file.threads) { self.policies(&$0) }
        let wrapping = await wrapping(&problems)
        var tenants: [String: Tenant] = [:]
        var upkeep: [Task<Void, Never>] = []
        if let wrapping {
            for (name, tenant) in settings.tenants.sorted(by: { $0.key < $1.key }) {
                tenants[name] = await self.tenant(name, tenant, wrapping, policies, &upkeep, &problems)
            }
        }
        if let wrapping, settings.formerKeyEncryptionKey != nil {
            let keys = engines.keys
            _ = await problems.awaiting("keyEncryptionKey") { try await wrapping.rewrap(in: keys) }
        }
        var pages: [String: CORSPolicy] = [:]
        for (name, tenant) in settings.tenants where !tenant.origins.isEmpty {
            pages[name] = problems.collecting("tenants.\(name).origins") {
                try CORSPolicy(
                    tenant.origins.contains("*") ? .any : .listed(tenant.origins),
                    headers: Self.pageHeaders)
            }
        }
        let built = tenants
        let faces =
            await problems.reading("tenants", on: file.threads) { problems in
                built.values.map { ($0, self.faces(of: $0, &problems)) }
            } ?? []
        let proxies = TrustedProxies(settings.trustedProxies)
        let callers = callers(proxies, &problems)
        guard problems.isEmpty, let licensee, let identities, let policies, let wrapping else {
            for task in upkeep { task.cancel() }
            throw problems
        }
        let desk = LicenseDesk(
            module: licensee.module, policies: policies, accounts: accounts, pool: pool, playbacks: playbacks)
        return ServerState(
            settings: settings, licensee: licensee, identities: identities,
            notices: licensee.notices + identities.notices(at: Date()) + notices, policies: policies,
            wrapping: wrapping,
            tenants: tenants,
            players: PlayerFace(desk: desk, accounts: accounts, tenants: tenants),
            vendors: VendorFaces(desk: desk, tenants: faces),
            packagers: PackagerFace(tenants: tenants, callers: callers), proxies: proxies,
            country: settings.countryHeader.map { CountryField(HTTPHeaderName($0)) }, pages: pages,
            upkeep: upkeep)
    }

    private func licensee(_ problems: inout ServerProblems) async -> LicenseeSetup? {
        let (configuration, folder) = (file.licensee, file.folder)
        // Reads files, logs in to tokens and tests the derivation.
        return await problems.reading("licensee", on: file.threads, within: Self.tokenLimit) { problems in
            do throws(LicenseeProblems) {
                return try LicenseeSetup(configuration, folder: folder, at: Date())
            } catch {
                for problem in error.problems { problems.add(.init("licensee.\(problem.place)", problem)) }
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
                problems.add(.init("policies \(problem.place)", problem.what, problem.remedy))
            }
            return set
        } catch {
            for problem in error.problems {
                problems.add(.init("policies \(problem.place)", problem.what, problem.remedy))
            }
            return nil
        }
    }

    private func wrapping(_ problems: inout ServerProblems) async -> KeyEncryptionKeys? {
        guard let source = settings.keyEncryptionKey else {
            guard engines.settings.keys == "memory" else {
                problems.add(
                    .init(
                        "keyEncryptionKey", "Keys are stored, and nothing seals them.",
                        "Name a file of 32 random bytes, as from openssl rand -base64 32."))
                return nil
            }
            return problems.collecting("keyEncryptionKey") {
                KeyEncryptionKeys(try KeyEncryptionKey(id: "memory", key: .random(32)))
            }
        }
        let current = await problems.awaiting("keyEncryptionKey") { try await key(source) }
        var former: KeyEncryptionKey?
        if let source = settings.formerKeyEncryptionKey {
            former = await problems.awaiting("formerKeyEncryptionKey") { try await key(source) }
        }
        return current.map { KeyEncryptionKeys($0, former: [former].compactMap { $0 }) }
    }

    /// A token may have to open it.
    private func key(_ source: ServerSettings.KeySource) async throws -> KeyEncryptionKey {
        let places = file.secrets
        return try await file.threads.run("the key encryption key", within: Self.tokenLimit) {
            try KeyEncryptionKey(source, in: places)
        }
    }

    private func tenant(
        _ name: String, _ settings: TenantSettings, _ wrapping: KeyEncryptionKeys, _ policies: PolicySet?,
        _ upkeep: inout [Task<Void, Never>], _ problems: inout ServerProblems
    ) async -> Tenant? {
        let place = "tenants.\(name)"
        if let policy = settings.policy, let policies, policies[policy] == nil {
            problems.add(
                .init("\(place).policy", "There is no policy “\(policy)”.", "Correct the name, or add the policy."))
        }
        let keys = engines.keys
        let vault = await problems.awaiting("\(place).keys") {
            var vaultSettings = TenantVault.Settings()
            vaultSettings.origin = settings.keys
            let secrets = try await TenantSecrets.create(name, in: keys, with: wrapping)
            return TenantVault(secrets, store: keys, settings: vaultSettings)
        }
        let tokenKeys = await tokenKeys(settings.tokens, "\(place).tokens.keys", &upkeep, &problems)
        let read = await problems.reading(place, on: file.threads) { problems in
            (
                signers: self.signers(of: settings, place, &problems),
                recipients: self.recipients(of: settings, place, &problems),
                callout: settings.callout.flatMap { stated in
                    problems.collecting("\(place).callout") { try self.callout(stated) }
                }
            )
        }
        guard let vault, let read else { return nil }
        return Tenant(
            name, settings, vault: vault, tokenKeys: tokenKeys, signers: read.signers, recipients: read.recipients,
            callout: read.callout)
    }

    private func tokenKeys(
        _ tokens: TenantSettings.Tokens, _ place: String, _ upkeep: inout [Task<Void, Never>],
        _ problems: inout ServerProblems
    ) async -> KeySetSource? {
        guard let keys = tokens.keys else { return nil }
        let log = log
        let report: @Sendable (KeySetSource.Event) -> Void = { event in
            if case .kept(let error) = event { log.write(LogEntry(.configuration, error, level: .warning)) }
        }
        guard keys.hasPrefix("https://") || keys.hasPrefix("http://") else {
            let source = KeySetSource.file(URL(filePath: file.path(keys)), on: file.threads, report: report)
            return await problems.awaiting(place) {
                try await source.reload()
                return source
            }
        }
        guard keys.hasPrefix("https://"), let url = URL(string: keys) else {
            problems.add(
                .init(place, "Key sets are fetched by https only.", "Write an https address, or a file's path."))
            return nil
        }
        let transport = SystemTransport()
        let source = KeySetSource.fetched(report: report) {
            let reply = try await transport.send(URLRequest(url: url), bodyLimit: 64 << 10)
            guard reply.status == 200 else { throw UnexpectedStatus(status: reply.status) }
            return reply.body
        }
        // An address that does not answer now may answer later; until then no token is good.
        upkeep.append(startTask { await source.keepFresh(every: tokens.refresh) })
        return source
    }

    /// Asks by `POST` of `{"user","asset"}`: 200 is yes, with what the claim `latchkey` of a token may say; 403 and 404 are no.
    private func callout(_ stated: TenantSettings.Callout) throws -> EntitlementCallout<Grant> {
        guard let url = URL(string: stated.url), let host = url.host(),
            url.scheme == "https" || (url.scheme == "http" && ["127.0.0.1", "::1", "localhost"].contains(host))
        else {
            throw Diagnosis(
                code: "calloutAddress", reason: "The callout's address is neither https nor on loopback.",
                remedy: "Write the https address of your service.")
        }
        let token = try stated.token.map { try file.secrets.text($0) }
        let transport = SystemTransport()
        // The policy's outage rule decides, for each license.
        return EntitlementCallout(
            EntitlementLimits(timeout: stated.timeout, memory: stated.memory), outage: .allow
        ) { question in
            var request = URLRequest(url: url)
            request.httpMethod = "POST"
            request.httpBody = try JSONEncoder().encode(["user": question.user, "asset": question.asset])
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            if let token { request.setValue("Bearer \(token.revealedText)", forHTTPHeaderField: "Authorization") }
            let reply = try await transport.send(request, bodyLimit: 64 << 10)
            switch reply.status {
            case 200: return .granted(reply.body.isEmpty ? Grant() : try Grant(calloutReply: reply.body))
            case 403, 404: return .denied
            default: throw UnexpectedStatus(status: reply.status)
            }
        }
    }

    private func callers(_ proxies: TrustedProxies, _ problems: inout ServerProblems) -> CallerDirectory {
        var entries: [CallerDirectory.Entry] = []
        for (name, tenant) in settings.tenants {
            for caller in tenant.packagers {
                let kinds: [(CallerCredential.Kind, String?)] = [
                    (.apiKey, caller.apiKey), (.bearer, caller.apiKey), (.certificate, caller.certificate),
                ]
                for (kind, digest) in kinds {
                    guard let credential = digest.flatMap({ CallerCredential(kind, sha256: $0) }) else { continue }
                    entries.append(
                        .init(credential, Caller(name: caller.name, tenant: name, rights: caller.rights)))
                }
            }
        }
        return CallerDirectory(entries, proxies: proxies)
    }
}

/// A service that answered otherwise than it should.
private struct UnexpectedStatus: Error {
    let status: Int
}
