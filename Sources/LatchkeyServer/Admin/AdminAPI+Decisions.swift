import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

extension AdminAPI {
    static let decisionRoutes: [Route<Page>] = [
        .page(
            .get, "/decisions", .viewer, "The last 10,000 decisions of this node, newest first",
            query: [
                .tenant,
                AdminQuery("outcome", "`license`, `acknowledge`, `refused` for all refusals, or a refusal's code."),
                .before, .limit,
            ], .json(["decisions": [RecentDecisions.Kept.form.schema], "next?": .count])
        ) { try $0.decisions() },
        .page(.get, "/requests/{request}", .viewer, "Explain a request's outcome", .json(AdminCall.whySchema)) {
            try await $0.why()
        },
        .page(
            .get, "/tenants/{tenant}/decisions/{request}", .viewer,
            "A decision's record: everything that it depended on",
            .json(.object)
        ) { HTTPResponse.admin(bytes: try await $0.record().canonicalJSON) },
        .page(
            .post, "/tenants/{tenant}/decisions/{request}/again", .viewer,
            "Evaluate another policy on the same facts; changes nothing",
            body: OpenAPI.body("application/json", Policy.schema),
            .json(["before": .text, "after": .text, "explanation": .text, "record": .object])
        ) { try await $0.decideAgain() },
    ]
}

extension AdminCall {
    /// The latest decisions of this node: `?tenant=…&outcome=…&before=NUMBER&limit=50`. An outcome is `license`, `acknowledge`,
    /// `refused` for all refusals, or a refusal's code.
    fileprivate func decisions() throws -> HTTPResponse {
        let (tenant, outcome, before, limit) = (
            try text("tenant"), try text("outcome"), try number("before"), try limit()
        )
        let kept = shared.decisions.latest(limit: limit, before: before) { record in
            guard tenants.covers(record.facts.request.tenant),
                tenant.isEmpty || record.facts.request.tenant.equalsByteForByte(tenant)
            else { return false }
            if outcome == "refused" { return !["license", "acknowledge"].contains(record.word) }
            return outcome.isEmpty || record.word.equalsByteForByte(outcome)
        }
        return .admin(
            .members([
                "decisions": .array(kept.map(RecentDecisions.Kept.form.json)),
                "next": kept.count < limit ? nil : kept.last.map { .number(Double($0.number)) },
            ]))
    }

    /// The decision of a request: of this node's recent ones, or of the record.
    fileprivate func record() async throws -> DecisionRecord {
        let (request, tenant) = (path["request"], path["tenant"])
        if let record = shared.decisions.record(of: request, at: tenant) { return record }
        guard shared.recordQueries.canBeAsked else { throw AdminRefusal.unknownDecision }
        let (own, standing) = try await shared.recordQueries.rows(ofRequest: request, of: .listed([tenant]))
        if let record = own.lazy.compactMap(\.decisionRecord).first { return record }
        guard own.isEmpty else { throw AdminRefusal.undecided }
        throw AdminRefusal.notInRecord(request, standing, by: shared.node)
    }

    fileprivate static let whySchema: JSONSchema = {
        func source(_ name: String, _ members: [String: JSONSchema], optional: [String] = []) -> JSONSchema {
            let common = ["source": JSONSchema.always(.text(name)), "node": .text, "tenant": .text]
            let all = common.merging(members) { one, _ in one }
            return .object(all, required: all.keys.filter { !optional.contains($0) })
        }
        return .oneOf([
            source("decisions", ["record": .object]),
            source("refusals", ["refusal": OperatorFeed.refusalSchema], optional: ["tenant"]),
            source(
                "record", ["rows": [LicenseRecordRow.schema], "asOf": .date, "record": .object], optional: ["record"]),
        ])
    }()

    /// Explains a request's outcome, for any of the operator's tenants: `record` if a policy decided, `refusal` if it was refused before,
    /// `rows` if it comes from the record. `source` names the source: this node's recent `decisions` or `refusals`, or the `record`.
    fileprivate func why() async throws -> HTTPResponse {
        let request = path["request"]
        if let record = shared.decisions.record(of: request, in: tenants) {
            return .admin(
                .members([
                    "tenant": .text(record.facts.request.tenant), "record": JSONValue(record.canonicalJSON),
                    "node": .text(shared.node), "source": .text("decisions"),
                ]))
        }
        if let refusal = shared.feed.refusal(of: request, in: tenants) {
            return .admin(
                .members([
                    "tenant": refusal["tenant"], "refusal": refusal, "node": .text(shared.node),
                    "source": .text("refusals"),
                ]))
        }
        guard shared.recordQueries.canBeAsked else {
            if let node = RequestID(request)?.node, node != shared.nodeName { throw AdminRefusal.decision(of: node) }
            throw AdminRefusal.unknownDecision
        }
        let (rows, standing): ([LicenseRecordRow], RecordStanding)
        do { (rows, standing) = try await shared.recordQueries.rows(ofRequest: request, of: tenants) } catch let error
            as AdminRefusal
        {
            throw error.asking(RequestID(request)?.node, butNot: shared.nodeName)
        }
        guard let row = rows.first else { throw AdminRefusal.notInRecord(request, standing, by: shared.node) }
        return .admin(
            .members([
                "tenant": .text(row.tenant), "node": .text(row.position.node), "source": .text("record"),
                "rows": .array(rows.map(\.shownJSON)), "asOf": .time(standing.asOf),
                "record": row.decisionRecord.flatMap { JSONValue($0.canonicalJSON) },
            ]))
    }

    /// Repeats a decision on the recorded facts with another policy, the body. Changes nothing.
    fileprivate func decideAgain() async throws -> HTTPResponse {
        let (record, stated) = (try await record(), try Policy(json: request.body))
        var policy = stated
        if let base = stated.extends {
            guard let parent = self.policy(named: base) else { throw AdminRefusal.unknown("policy to extend") }
            policy = parent.overlaid(with: stated)
        }
        let again = record.decidedAgain(by: policy).record
        return .admin(
            .members([
                "before": .text(record.word), "after": .text(again.word),
                "explanation": .text(again.explanation), "record": JSONValue(again.canonicalJSON),
            ]))
    }
}

extension LicenseRecordRow {
    /// The decision that the row keeps; `nil` without one. An unreadable decision counts as absent.
    fileprivate var decisionRecord: DecisionRecord? {
        guard let decision, let value = JSONValue(Array(decision.utf8)) else { return nil }
        return try? DecisionRecord(json: Data(value.withSingleAddresses.canonicalText.utf8))
    }
}

extension JSONValue {
    /// Facts have single addresses, and the record cuts them to ranges: the first address represents its range.
    fileprivate var withSingleAddresses: JSONValue {
        guard case .object(var members) = self else { return self }
        for (name, value) in members {
            if name == "address", let text = value.text {
                members[name] = .text(String(text.prefix { $0 != "/" }))
            } else {
                members[name] = value.withSingleAddresses
            }
        }
        return .object(members)
    }
}

extension RecentDecisions.Kept {
    fileprivate static let form = AnswerForm<RecentDecisions.Kept>(
        named: "Decision",
        [
            .value("number") { $0.number }, .value("time") { $0.record.facts.now },
            .value("requestId") { $0.record.requestID }, .value("tenant") { $0.record.facts.request.tenant },
            .value("account") { $0.record.facts.grant.account }, .value("content") { $0.record.facts.key.content },
            .value("track") { $0.record.facts.key.track.rawValue },
            .value("kid") { $0.record.facts.key.id.map { "\($0)" } }, .value("outcome") { $0.record.word },
            .value("policy") { $0.record.policyName }, .value("explanation") { $0.record.explanation },
        ])
}

extension HTTPResponse {
    /// A reply of JSON that is already text.
    fileprivate static func admin(bytes: Data) -> HTTPResponse {
        var response = HTTPResponse(contentType: "application/json", bytes: bytes)
        response.headers[.cacheControl] = "no-store"
        return response
    }
}
