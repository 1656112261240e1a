import Foundation
import LatchkeyCore
import LatchkeyDecision
package import LatchkeyForms
package import LatchkeyHTTP
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyVault

/// Why the admin API refuses a request. Repeats nothing of the request's body.
package struct AdminRefusal: DiagnosableError, Equatable {
    /// The HTTP status.
    let status: Int
    package let code: String
    package let reason: String
    package let remedy: String
    /// The problems of the request's document, by their places.
    private(set) var problems: [JSONProblem] = []
    /// The methods of an address, for a request by another one.
    private(set) var allowed: String?
    /// The entry that the audit would have; with it nothing is refused or done.
    private(set) var preview: AuditEvent?

    init(_ status: Int, _ code: String, _ reason: String, _ remedy: String) {
        self.status = status
        self.code = code
        self.reason = reason
        self.remedy = remedy
    }

    /// Converts an error of a store, a vault, a policy's reader or a document's reader.
    init(_ error: any Error) {
        switch error {
        case let error as AdminRefusal: self = error
        case let error as VaultError:
            if case .unknown = error { self.init(404, error) } else { self.init(error.isConflict ? 409 : 503, error) }
        case let error as StoreError: self.init(error.kind == .unfit ? 400 : 503, error)
        case let error as LicenseRefusal: self.init(error.status, error)
        case let error as any DiagnosableError: self.init(422, error)
        default: self.init(500, "adminFailed", "It failed.", "Check the server's log.")
        }
    }

    private init(_ status: Int, _ error: any DiagnosableError) {
        self.init(status, error.code, error.reason, error.remedy)
        problems = (error as? JSONProblems)?.problems ?? []
    }

    static let schema = JSONSchema.named(
        "Refusal",
        [
            "code": .text, "reason": .text, "remedy": .text,
            "problems?": [["place": .text, "reason": .text, "remedy": .text]],
        ]
    ).explained(
        "The reason why nothing was done. Codes are stable. `problems` lists the first 100 problems of a policy.")
    static let previewSchema = JSONSchema.named("Preview", ["entry": AuditEvent.schema])
        .explained("The entry that the audit would record; nothing was done.")

    /// The refusal as `{"code","reason","remedy"}`.
    var response: HTTPResponse {
        if let preview {
            let entry = JSONValue(Data(preview.canonicalText(at: Date()).utf8))
            return .admin(.members(["entry": entry]), status: status)
        }
        var response = HTTPResponse.admin(
            .members([
                "code": .text(code), "reason": .text(String(reason.prefix(4_000))), "remedy": .text(remedy),
                "problems": problems.isEmpty ? nil : .array(problems.prefix(100).map(Self.json)),
            ]), status: status)
        response.headers["WWW-Authenticate"] = status == 401 ? "Bearer" : nil
        response.headers[.retryAfter] = status == 429 ? "60" : nil
        response.headers[.allow] = allowed
        return response
    }

    private static func json(_ problem: JSONProblem) -> JSONValue {
        .object([
            "place": .text(problem.place), "reason": .text(problem.what), "remedy": .text(problem.remedy),
        ])
    }

    /// Ends a request that asks only for the audit's entry.
    static func preview(_ event: AuditEvent) -> Self {
        var preview = Self(
            200, "adminPreview", "The request was a dry run.", "Send it without X-Latchkey-Dry-Run.")
        preview.preview = event
        return preview
    }

    static let keyMissing = Self(
        401, "adminKey", "The request has no operator's key, or an unknown one.",
        "Send an operator's key as Authorization: Bearer.")
    static let tooManyKeys = Self(
        429, "adminTooMany", "Too many wrong keys were sent from this address.", "Wait a minute.")
    static let unaudited = Self(
        503, "auditUnavailable", "The audit cannot be written, so nothing was changed.",
        "Check the audit's store.")

    static let unknownDecision = Self(
        404, "decisionUnknown", "This node does not know the request.",
        "Search the log for the identifier and ask the node that the line names. Each node keeps its last 10,000 decisions "
            + "and 1,000 refusals.")

    static let undecided = Self(
        404, "decisionNotKept", "The record has the request without its decision.",
        "Use requests/ID for the recorded row; the setting record.decisions determines which decisions are kept.")

    /// A request whose identifier names another node.
    static func decision(of node: String) -> Self {
        Self(
            404, "decisionElsewhere", "Another node answered this request: \(node.prefix(80).description.onOneLine).",
            "Ask that node: give its operators' address, with latchkey-server explain as --server URL.")
    }

    /// An address that has other methods.
    static func method(_ allowed: [HTTPMethod]) -> Self {
        let names = allowed.map(\.rawValue).joined(separator: ", ")
        var refusal = Self(405, "adminMethod", "This address does not allow the method.", "Send \(names).")
        refusal.allowed = names
        return refusal
    }

    static func role(_ role: AdminRole) -> Self {
        Self(
            403, "adminRole", "This needs the role \(role.rawValue).",
            "Ask an operator with that role.")
    }

    static let scope = Self(
        403, "adminScope", "This concerns the whole server, and the operator is limited to some tenants.",
        "Ask an operator of all tenants.")

    /// Something in the path or the query.
    static func stated(_ what: String, _ expected: String) -> Self {
        Self(400, "adminRequest", "The \(what) is not \(expected).", "Send \(expected).")
    }

    /// Something that does not exist.
    static func unknown(_ what: String) -> Self {
        Self(
            404, "adminUnknown", "There is no such \(what).", "Check the name, and that you are asking the right node.")
    }
}

extension HTTPResponse {
    /// A completed change: 200, or 202 with `"stored":false` if it is in force on this node alone until its store answers again.
    static func done(_ members: [String: JSONValue], isStored: Bool) -> HTTPResponse {
        isStored
            ? .admin(.object(members))
            : .admin(.object(members.merging(["stored": .flag(false)]) { one, _ in one }), status: 202)
    }

    /// A reply of the admin API, which no cache keeps.
    package static func admin(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status,
            headers: [
                .contentType: "application/json", .cacheControl: "no-store", "X-Content-Type-Options": "nosniff",
            ], body: .bytes(Data(value.canonicalText.utf8)))
    }
}
