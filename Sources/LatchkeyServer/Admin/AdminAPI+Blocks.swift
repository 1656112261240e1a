import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeyVault

extension AdminAPI {
    static let blockRoutes: [Route<Page>] = [
        .page(
            .get, "/tenants/{tenant}/blocks", .viewer,
            "Blocked accounts and devices by name, as this node enforces them",
            query: [AdminQuery("prefix", "A prefix of the name."), .after, .limit],
            .json(["blocks": [Block.answer.schema], "next?": .text])
        ) { try $0.blocks() },
        .page(
            .put, "/tenants/{tenant}/blocks", .operator, "Block an account or a device, or change its block",
            body: OpenAPI.body(
                "application/json",
                ["kind": AdminCall.blockKind, "name": .text, "reason": .text, "until?": .date]), isAudited: true,
            .done(["block": Block.answer.schema], "It is in force on all nodes.")
        ) { try await $0.block() },
        .page(
            .delete, "/tenants/{tenant}/blocks", .operator, "Unblock an account or a device",
            query: [
                AdminQuery(
                    "kind", "Whether the name is an account's or a device's.", AdminCall.blockKind, isRequired: true),
                AdminQuery("name", "The name.", isRequired: true),
            ], isAudited: true, .json(["unblocked": .text])
        ) { try await $0.unblock() },
    ]
}

extension AdminCall {
    fileprivate static let blockKind = JSONSchema.words(Block.Kind.allCases.map(\.rawValue))

    /// A page of blocks by name: `?prefix=…&after=NAME&limit=50`.
    fileprivate func blocks() throws -> HTTPResponse {
        let (tenant, limit, prefix, after) = (try tenant(), try limit(), try text("prefix"), try text("after"))
        let found = shared.engines.keys.blockList.snapshot.blocks.filter {
            let name = $0.subject.name
            return $0.subject.tenant == tenant.name && name.hasPrefix(prefix) && (after.isEmpty || name > after)
        }.sorted { ($0.subject.name, $0.subject.kind.rawValue) < ($1.subject.name, $1.subject.kind.rawValue) }
        var page = found.prefix(limit)
        // An account and a device of the same name are on the same page.
        if page.count < found.count, found[page.count].subject.name == page.last?.subject.name {
            page = found.prefix(page.count + 1)
        }
        return .admin(
            .members([
                "blocks": .array(page.map(Block.answer.json)),
                "next": page.count < found.count ? page.last.map { .text($0.subject.name) } : nil,
            ]))
    }

    /// Blocks an account or a device: `{"kind","name","reason","until"}`.
    fileprivate func block() async throws -> HTTPResponse {
        let (tenant, members, now) = (try tenant(), try members("kind", "name", "reason"), shared.timekeeper.date)
        let subject = try subject(members[0], members[1], of: tenant)
        var end: Date?
        if let text = JSONValue(request.body)?["until"], text != .null {
            end = text.text.flatMap { DateText.date($0) }
            guard let end, end > now else {
                throw AdminRefusal.stated(
                    "member until", "a time in the future, such as \(DateText.text(now + 86_400))")
            }
        }
        let known = shared.engines.keys.blockList.snapshot.blocks.filter { $0.subject.tenant == tenant.name }
        guard known.count < BlockList.most || known.contains(where: { $0.subject == subject }) else {
            throw AdminRefusal(
                409, "blocksFull", "The tenant has \(known.count) blocks, the most that are possible.",
                "Unblock accounts or devices whose blocks have ended, or use the lists of a policy.")
        }
        let block = Block(subject, reason: members[2], by: admin.name, since: now, until: end)
        var details = ["kind": subject.kind.rawValue, "reason": block.reason]
        details["until"] = end.map { DateText.text($0) }
        return try await change(.blockSet, of: "\(tenant.name)/\(subject.name)", details) {
            let isStored = try await shared.engines.keys.blockEvenInOutage(block)
            return .done(["block": Block.answer.json(block)], isStored: isStored)
        }
    }

    /// Unblocks an account or a device: `?kind=account&name=NAME`.
    fileprivate func unblock() async throws -> HTTPResponse {
        let (tenant, name) = (try tenant(), try text("name"))
        guard !name.isEmpty else { throw AdminRefusal.stated("name", "an account's or a device's name") }
        let subject = try subject(try text("kind"), name, of: tenant)
        return try await change(
            .blockLifted, of: "\(tenant.name)/\(subject.name)", ["kind": subject.kind.rawValue]
        ) {
            guard try await shared.engines.keys.unblock(subject) else { throw AdminRefusal.unknown("block") }
            return .admin(.object(["unblocked": .text(subject.name)]))
        }
    }

    private func subject(_ kind: String, _ name: String, of tenant: Tenant) throws(AdminRefusal) -> Block.Subject {
        guard let kind = Block.Kind(rawValue: kind) else { throw .stated("kind", "account or device") }
        return Block.Subject(kind, name, of: tenant.name)
    }
}

extension Block {
    fileprivate static let answer = AnswerForm<Block>(
        named: "Block",
        [
            .value("kind") { $0.subject.kind.rawValue }, .value("name") { $0.subject.name },
            .value("reason") { $0.reason }, .value("by") { $0.by }, .value("since") { $0.since },
            .value("until") { $0.end },
        ])
}
