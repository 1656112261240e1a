import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

extension AdminAPI {
    static let erasureRoutes: [Route<Page>] = [
        .page(
            .get, "/tenants/{tenant}/account/erasure", .security, "The effect of erasing an account",
            query: [name], .json(AccountErasure.form.schema)
        ) { try await $0.erasure(isTrial: true) },
        .page(
            .delete, "/tenants/{tenant}/account", .security,
            "Erase an account; the audit gets its digest, not its name",
            query: [name], isAudited: true, .json(AccountErasure.form.schema)
        ) { call in
            let (tenant, digest) = (try call.tenant().name, try call.erasedDigest())
            return try await call.change(.accountErased, of: tenant, ["digest": digest]) {
                try await call.erasure(isTrial: false)
            }
        },
    ]

    private static let name = AdminQuery("name", "The account's name.", isRequired: true)
}

extension AdminCall {
    private func erasedName() throws(AdminRefusal) -> String {
        let name = try text("name")
        guard !name.isEmpty else { throw AdminRefusal.stated("name", "an account's name") }
        return name
    }

    fileprivate func erasedDigest() throws -> String {
        let name = try erasedName()
        guard let digest = shared.erasures.pseudonym(of: name.storedAccount, at: try tenant().name) else {
            throw AdminRefusal(500, "adminFailed", "libcrypto cannot make a digest.", "Check the server's log.")
        }
        return digest
    }

    fileprivate func erasure(isTrial: Bool) async throws -> HTTPResponse {
        var erasure = AccountErasure(
            shared: shared, account: try erasedName(), tenant: try tenant().name, digest: try erasedDigest(),
            isTrial: isTrial)
        await erasure.run()
        guard isTrial || erasure.failures.isEmpty else { throw erasure.refusal }
        return .admin(AccountErasure.form.json(erasure))
    }
}

/// The erasure of one account everywhere that a node reaches, or a look at its effect. Repeating it is harmless.
///
/// Source: `Documentation/Server/Operators.md` §6.
private struct AccountErasure: Sendable {
    /// A place that may name the account. A number is `nil` if it is unknown.
    struct Place: Sendable {
        let place: String
        let erased, kept: Int?
        let why: String
    }

    let shared: ServerShared
    let account, tenant, digest: String
    let isTrial: Bool
    private(set) var places: [Place] = []
    private(set) var failures: [(place: String, reason: String)] = []

    init(shared: ServerShared, account: String, tenant: String, digest: String, isTrial: Bool) {
        (self.shared, self.account, self.tenant) = (shared, account, tenant)
        (self.digest, self.isTrial) = (digest, isTrial)
    }

    static let form = AnswerForm<AccountErasure>(
        named: "Erasure",
        [
            .value("name") { $0.account }, .value("digest") { $0.digest }, .value("erased") { !$0.isTrial },
            .list("places", of: placeForm) { $0.places },
        ])

    private static let placeForm = AnswerForm<Place>([
        .value("place") { $0.place }, .value("erased") { $0.erased }, .value("kept") { $0.kept },
        .value("why") { $0.why },
    ])

    /// A store that did not answer.
    var refusal: AdminRefusal {
        let done = places.filter { $0.erased ?? 0 > 0 }.map(\.place).joined(separator: "; ")
        let left = failures.map { "\($0.place): \($0.reason)" }.joined(separator: " ")
        return AdminRefusal(
            503, "erasureIncomplete", "Not erased: \(left) Erased: \(done.isEmpty ? "nothing" : done).",
            "Repeat it when the store answers; a repetition is harmless.")
    }

    /// Does everything that can be done, one place after the other.
    mutating func run() async {
        // First: rows that arrive from now on are erased, too.
        await eraseRecord()
        await eraseSessions()
        eraseMemory()
        await keep()
    }

    // MARK: - Erased

    private mutating func eraseRecord() async {
        guard let record = shared.record else {
            return add("record", erased: 0, kept: 0, "The server keeps no record.")
        }
        // Nodes' clocks differ, and requests are in progress.
        let end = RecordRange.milliseconds(shared.timekeeper.date) + 300_000
        let names = [account.storedAccount, shared.pseudonyms.pseudonym(of: account, at: tenant)].compactMap(\.self)
        let digests = shared.erasures
        let erasure = RecordErasure(Set(names), of: tenant, before: end) { digests.pseudonym(of: $0, at: $1) }
        await attempt("record") { [self] () async throws in
            let found = try await record.erase(erasure, isTrial: isTrial)
            let standing = record.spool.standing
            return [
                Place(
                    place: "record", erased: found.rows, kept: found.rows,
                    why:
                        "The rows stay, because bills count them, without account, device, address, session, request, reason and decision."
                ),
                Place(
                    place: "refused rows of \(shared.node)", erased: found.refused, kept: nil,
                    why:
                        "Each node has refused.jsonl in its record.folder, in which only this node's rows are erased: repeat it at nodes that have the file."
                ),
                Place(
                    place: "spools of all nodes", erased: nil, kept: nil,
                    why:
                        "Rows that a node ships within \(RecordErasures.days) days lose the account on arrival, and leave its disk within an hour of it. "
                        + "\(shared.node) still has to ship \(standing.rows.counted("row")) of any account.\(shared.secretNotice)"
                ),
            ]
        }
    }

    private mutating func eraseSessions() async {
        // The players' knowledge first and last: it would be merged into the account, or come from a read in progress.
        let key = RecordKey.account(account, tenant)
        if !isTrial { shared.accounts.forgetMemory(of: key) }
        let found = await shared.operatorAccounts.erase(account, of: tenant, isTrial: isTrial)
        if !isTrial { shared.accounts.forgetMemory(of: key) }
        for (region, outcome) in found {
            await attempt("account" + (region.map { " in \($0)" } ?? "")) { () async throws in
                let state = try outcome.get()
                return [
                    Place(
                        place: "account" + (region.map { " in \($0)" } ?? ""), erased: state == nil ? 0 : 1, kept: 0,
                        why: state.map { "It has \($0.words)." } ?? "The store has nothing of it.")
                ]
            }
        }
    }

    private mutating func eraseMemory() {
        let isOf = { [account, tenant] (record: DecisionRecord) in
            record.facts.request.tenant == tenant && record.facts.grant.account == account
        }
        let count =
            isTrial
            ? shared.decisions.latest(limit: .max, where: isOf).count : shared.decisions.forget(where: isOf)
        add(
            "memory of \(shared.node)", erased: count, kept: nil,
            "Its latest decisions. Verified tokens stay until they expire; other nodes' memory ends with newer requests, or with a restart."
        )
    }

    // MARK: - Kept

    private mutating func keep() async {
        let subject = Block.Subject(.account, account, of: tenant)
        let blocks = shared.engines.keys.blockList.snapshot.blocks.count { $0.subject == subject }
        add(
            "block", erased: 0, kept: blocks,
            "A block stays, with its name, so that erasing lifts none; latchkey-server block lift removes it, and then nodes' copies do."
        )
        let stops = shared.engines.pending?.stops(of: account, tenant).count ?? 0
        add(
            "waiting changes of \(shared.node)", erased: 0, kept: stops,
            "Sessions that were stopped during an outage; they go once the session store has them.")
        add("used tokens", erased: 0, kept: nil, "Digests of tokens with their session, until the token expires.")
        let chain =
            "Its chain shows every change, so that no entry can be removed: stops, forgotten devices and blocks name the account"
        do throws(StoreError) {
            let entries = try await auditEntries()
            let bound = entries.isWhole ? "." : "; only the latest \(Self.mostEntries) entries were counted."
            add("audit", erased: 0, kept: entries.count, chain + bound)
        } catch {
            add("audit", erased: 0, kept: nil, "\(chain). They were not counted: \(error.reason)")
        }
        add(
            "log", erased: 0, kept: nil, "It has a keyed pseudonym of the account; a new nodeSecret makes it anonymous."
        )
        add(
            "backups", erased: 0, kept: nil,
            "Backups, replicas and logs of databases, and rows that PostgreSQL has not vacuumed, end by your schedule.")
    }

    private static let mostEntries = 100_000

    /// How many of the audit's latest entries are about the account.
    private func auditEntries() async throws(StoreError) -> (count: Int, isWhole: Bool) {
        let objects = Set([account, account.storedAccount]).map {
            JSONValue.quoted(AuditEvent.shown("\(tenant)/\($0)"))
        }
        var end = try await shared.engines.audit.last()?.sequence ?? 0
        var (count, looked) = (0, 0)
        while end > 0, looked < Self.mostEntries {
            let first = end > 1_000 ? end - 999 : 1
            let page = try await shared.engines.audit.entries(from: first, limit: Int(end - first + 1))
            count += page.count { entry in objects.contains { entry.text.contains($0) } }
            (looked, end) = (looked + Int(end - first + 1), first - 1)
        }
        return (count, end == 0)
    }

    private mutating func add(_ place: String, erased: Int?, kept: Int?, _ why: String) {
        places.append(Place(place: place, erased: erased, kept: kept, why: why))
    }

    /// Notes the places that a body finds, or why it found none.
    private mutating func attempt(_ place: String, _ body: () async throws -> [Place]) async {
        do {
            let found = try await body()
            places += found
        } catch {
            let known = error as? any DiagnosableError
            let reason = known?.reason ?? "\(type(of: error))"
            failures.append((place, reason))
            add(place, erased: nil, kept: nil, "It was not read: \(reason)")
        }
    }
}

extension AccountState {
    /// Its contents.
    fileprivate var words: String {
        [
            slots.count.counted("session"), devices.count.counted("device"), downloads.count.counted("download"),
            firstPlays.count.counted("rental's first play", "rentals' first plays"),
        ].joined(separator: ", ")
    }
}

extension ServerShared {
    /// The consequence for erasures if the configuration has no `nodeSecret`.
    fileprivate var secretNotice: String {
        hasNodeSecret ? "" : " Without nodeSecret only this process finds the account in them: set it, and repeat this."
    }
}
