package import Foundation
import LatchkeyCore
package import LatchkeyForms

/// An action to record, before it becomes an entry of the audit.
///
/// Holds no secret: a key by its identifier, a credential by the SHA-1 of its certificate, a caller by its name.
package struct AuditEvent: Sendable, Hashable {
    /// The action. The raw values are stable.
    package enum Action: String, Sendable, CaseIterable {
        case keyExported, keyImported, keyReplaced, keyRemoved, keyDisabled, keyEnabled, tenantCreated
        case adminLogin, adminLogout, adminRefused, configurationLoaded, keysRewrapped, dataKeyRenewed, keysResealed,
            seedRenewed, olderAccepted
        case sessionStopped, deviceForgotten, blockSet, blockLifted, accountErased

        /// Whether it is done while the audit's store is unavailable, with its entry later: if it protects content, or changes nothing.
        package var mayWait: Bool {
            switch self {
            case .keyDisabled, .sessionStopped, .blockSet, .adminLogin, .adminLogout, .adminRefused,
                .configurationLoaded:
                true
            case .keyExported, .keyImported, .keyReplaced, .keyRemoved, .tenantCreated, .keyEnabled, .keysRewrapped,
                .dataKeyRenewed, .keysResealed, .seedRenewed, .olderAccepted,
                .deviceForgotten, .blockLifted, .accountErased:
                false
            }
        }
    }

    /// Who did it: `admin:NAME`, `caller:NAME` or `node:NAME`.
    package let actor: String
    package let action: Action
    /// Its object: `TENANT/KID` or `policy:NAME`.
    package let object: String
    /// Further details, without secrets.
    package let details: [String: String]
    /// The tenant; `nil` for the whole server's events, which operators of single tenants do not see.
    package let tenant: String?

    package init(
        _ action: Action, of object: String, by actor: String, tenant: String? = nil, details: [String: String] = [:]
    ) {
        self.tenant = tenant
        self.actor = actor
        self.action = action
        self.object = object
        self.details = details
    }

    /// The longest text of a member, in characters.
    private static let limit = 500

    /// The schema of `canonicalText`.
    package static let schema: JSONSchema = .named(
        "AuditEvent",
        [
            "time": .date, "actor": .text, "action": .text, "object": .text, "details": .map(.text), "tenant?": .text,
        ])

    /// The event as one JSON object in canonical form.
    package func canonicalText(at date: Date) -> String {
        let details = details.map { (Self.shown($0), JSONValue.text(Self.shown($1))) }
        var members: [String: JSONValue] = [
            "time": .text(DateText.text(date)), "actor": .text(Self.shown(actor)), "action": .text(action.rawValue),
            "object": .text(Self.shown(object)), "details": .object(Dictionary(details) { one, _ in one }),
        ]
        members["tenant"] = tenant.map { .text(Self.shown($0)) }
        return JSONValue.object(members).canonicalText
    }

    /// A text as an entry has it.
    package static func shown(_ text: String) -> String { String(String(text.prefix(limit)).onOneLine) }
}
