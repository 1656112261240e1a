import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyLicensing
import LatchkeyVault

/// Makes rows from the outcomes of requests.
///
/// Source: `Documentation/Server/Record.md` §1.
struct RecordRows: Sendable {
    /// The most bytes of a decision in a row.
    private static let decisionBytes = 64 << 10
    private static let reasonLength = 300

    let settings: ServerSettings.Record
    let pseudonyms: UserPseudonyms
    private let digests = Locked<[String: (policy: Policy, digest: String)]>([:])

    init(_ settings: ServerSettings.Record, _ pseudonyms: UserPseudonyms) {
        (self.settings, self.pseudonyms) = (settings, pseudonyms)
    }

    /// The name of an account as rows have it: as sessions are stored, so that none is too long for an index.
    func name(of account: String, at tenant: String) -> String {
        guard settings.accounts == .pseudonyms, !account.isEmpty else { return account.storedAccount }
        // Without memory for a digest, the account is not named.
        return pseudonyms.pseudonym(of: account, at: tenant) ?? "unknown"
    }

    /// The rows of a request: its own, and one for each session that it ended.
    /// - Parameters:
    ///   - report: the outcome.
    ///   - viewer: the viewer's facts.
    ///   - date: now.
    ///   - uptime: now, by the uptime clock.
    func rows(
        of report: LicenseReport, _ viewer: LicenseRequestFacts, at date: Date, _ uptime: Duration
    ) -> [LicenseRecordRow] {
        guard let (event, cause) = Self.event(of: report) else { return [] }
        var row = LicenseRecordRow(event, time: Int64(saturating: date.timeIntervalSince1970 * 1_000))
        row.cause = cause
        (row.tenant, row.api, row.requestID) = (report.tenant ?? "", report.endpoint.name, report.requestID)
        row.address = viewer.address.map { "\(AddressCut.logs.range(of: $0))" } ?? ""
        row.country = viewer.country ?? ""
        row.kid = report.kid.map { "\($0)" } ?? ""
        row.microseconds = Int(saturating: ((uptime - report.began) / .microseconds(1)).rounded())
        var account = report.account ?? ""
        row.session = (report.session ?? "").storedName()
        if let refusal = report.refusal, event == .refusal || event == .end {
            row.code = report.tokenError?.code ?? refusal.code
            row.reason = String((report.reason ?? "").onOneLine.prefix(Self.reasonLength))
        }
        guard let record = report.record else { return [named(row, account)] }
        let facts = record.facts
        account = facts.grant.account
        row.content = facts.key.content
        row.device = (facts.grant.device ?? facts.request.device ?? "").storedName()
        row.session = (facts.grant.session ?? "").storedName()
        var replaced: [LicenseRecordRow] = []
        if let (policy, decision) = record.made {
            (row.policy, row.policyDigest) = (policy.name ?? "", digest(of: policy))
            if let slot = decision.change.slot { row.session = slot.session }
            if case .release(let session) = decision.change { row.session = session }
            if let terms = decision.terms { (row.kind, row.seconds) = terms.validity.inShort }
            if row.event == .license, decision.isRenewal(facts) { row.event = .renewal }
            replaced = decision.change.stopping.map { session in
                var end = row
                (end.event, end.cause, end.session) = (.end, .replaced, session)
                (end.kind, end.seconds, end.device) = ("", nil, "")
                return named(end, account)
            }
        }
        if settings.decisions == .all || settings.decisions == .refusals && event == .refusal {
            row.decision = decision(record, account, row.tenant)
        }
        return [named(row, account)] + replaced
    }

    /// A row of a session that an operator or another service ended.
    func end(
        _ session: String, of account: String, at tenant: String, _ cause: LicenseRecordRow.Cause, _ date: Date
    ) -> LicenseRecordRow {
        var row = LicenseRecordRow(.end, time: Int64(saturating: date.timeIntervalSince1970 * 1_000))
        (row.cause, row.tenant, row.session) = (cause, tenant, session)
        return named(row, account)
    }

    /// The record's event for a request; `nil` for one without a row: a certificate, a heartbeat of a running session, an unknown path.
    private static func event(
        of report: LicenseReport
    ) -> (LicenseRecordRow.Event, LicenseRecordRow.Cause?)? {
        switch (report.endpoint, report.outcome) {
        case (_, .license): return (.license, nil)
        case (_, .acknowledge), (.session, .ok): return (.end, .released)
        case (_, .ok): return nil
        case (.heartbeat, .refused(.slotEnded)), (.session, .refused(.slotEnded)): return (.end, .ended)
        case (.heartbeat, .refused), (.session, .refused): return (.refusal, nil)
        case (.none, .refused(let refusal)):
            return refusal.isOfLimits ? (.refusal, nil) : nil
        case (_, .refused(.noSuchPath)): return nil
        case (let endpoint, .refused): return endpoint.isLicense ? (.refusal, nil) : nil
        }
    }

    private func digest(of policy: Policy) -> String {
        let name = policy.name ?? ""
        let known = digests.withLock { $0[name] }
        if let known, known.policy == policy { return known.digest }
        let digest = policy.digest
        digests.withLock { digests in
            // Contents may have separate policies; they are few.
            if digests.count > 1_000 { digests = [:] }
            digests[name] = (policy, digest)
        }
        return digest
    }

    private func named(_ row: LicenseRecordRow, _ account: String) -> LicenseRecordRow {
        var row = row
        row.account = name(of: account, at: row.tenant)
        guard settings.accounts == .pseudonyms, !account.isEmpty else { return row }
        row.session = row.session.replacing(name: account, by: row.account)
        row.reason = row.reason.replacing(name: account, by: row.account)
        row.device = row.device.replacing(name: account, by: row.account)
        row.requestID = row.requestID.replacing(name: account, by: row.account)
        return row
    }

    /// The decision as it may be kept: with the address as it is cut, and without a name where accounts are pseudonyms.
    private func decision(_ record: DecisionRecord, _ account: String, _ tenant: String) -> String? {
        let cut = record.cutting { AddressCut.logs.range(of: $0) }
        var json = JSONValue(cut.canonicalJSON)
        if settings.accounts == .pseudonyms {
            let name = name(of: account, at: tenant)
            json = json?.removing(["profile", "label", "by", "userAgent"]).mappingTexts {
                account.isEmpty ? $0 : $0.replacing(name: account, by: name)
            }
        }
        return json.map(\.canonicalText).flatMap { $0.utf8.count <= Self.decisionBytes ? $0 : nil }
    }
}

extension LicenseTerms.Validity {
    /// The kind of a license, and for how many seconds it holds.
    fileprivate var inShort: (kind: String, seconds: Int?) {
        func seconds(_ duration: Duration) -> Int { Int(saturating: duration.inSeconds.rounded(.down)) }
        return switch self {
        case .unlimited: ("unlimited", nil)
        case .lease(let lease): ("lease", seconds(lease))
        case .rental(let rental): ("rental", seconds(rental))
        case .leaseAndRental(let lease, _): ("leaseAndRental", seconds(lease))
        case .persistent: ("persistent", nil)
        case .persistentFor(let storage): ("persistent", seconds(storage))
        case .dualExpiry(let storage, _): ("dualExpiry", seconds(storage))
        }
    }
}

extension Decision {
    /// Whether the license is for a running playback, or for a key that the device has.
    fileprivate func isRenewal(_ facts: Facts) -> Bool {
        if case .renew = change { return true }
        return facts.request.purpose == .renewStored || facts.request.playback == .leaseExpiring
    }
}

extension LicenseRefusal {
    /// Whether it turned a request away before it was read.
    fileprivate var isOfLimits: Bool { kind == .overloaded || kind == .policy(.rateLimit) }
}

extension String {
    /// The text with a name replaced where it is a whole word.
    func replacing(name: String, by other: String) -> String {
        guard self != name else { return other }
        guard contains(name) else { return self }
        var (result, rest) = ("", self[...])
        while let range = rest.range(of: name) {
            let before = range.lowerBound > startIndex ? self[index(before: range.lowerBound)] : " "
            let after = range.upperBound < endIndex ? self[range.upperBound] : " "
            let isWhole = !(before.isLetter || before.isNumber || after.isLetter || after.isNumber)
            result += rest[..<range.lowerBound] + (isWhole ? other[...] : rest[range])
            rest = rest[range.upperBound...]
        }
        return result + rest
    }
}

extension JSONValue {
    /// The value without some members, wherever they are.
    fileprivate func removing(_ names: Set<String>) -> JSONValue {
        switch self {
        case .array(let values): .array(values.map { $0.removing(names) })
        case .object(let members):
            .object(members.filter { !names.contains($0.key) }.mapValues { $0.removing(names) })
        default: self
        }
    }

    /// The value with each text, and each member's name, as a function gives it.
    fileprivate func mappingTexts(_ map: (String) -> String) -> JSONValue {
        switch self {
        case .text(let text): .text(map(text))
        case .array(let values): .array(values.map { $0.mappingTexts(map) })
        case .object(let members):
            .object(
                members.reduce(into: [:]) { $0[map($1.key)] = $1.value.mappingTexts(map) })
        default: self
        }
    }
}
