import Foundation
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP

/// The API for slots in OpenAPI 3.1, made of the router's addresses, the request's form, and the refusals that each address has.
enum SlotDescription {
    static let document: JSONValue = {
        var paths: [String: [String: JSONValue]] = [:]
        for route in PlayerAPI.routes {
            let path = route.path.text.replacing("/t/{tenant}", with: "")
            guard path.hasPrefix("/slots"), let operation = Operation(of: route.handler) else { continue }
            for method in route.methods where method != .head {
                paths[path, default: [:]][method.rawValue.lowercased()] = operation.json
            }
        }
        return OpenAPI.document(
            [
                "title": .text("Latchkey: slots for other services' licenses"), "version": .text("1"),
                "summary": .text("One stream limit for a household's devices, across DRM systems."),
                "description": .text(
                    "A license service for Widevine, PlayReady or another DRM takes a slot here before it issues a license, under the policies of "
                        + "the FairPlay licenses. This API neither issues Widevine or PlayReady licenses nor reads their license requests."
                ),
                "license": .object(["name": .text("Apache License 2.0"), "identifier": .text("Apache-2.0")]),
            ], paths: paths,
            components: [
                "headers": .object([
                    "RequestId": OpenAPI.header(
                        .text, "The request's identifier in the log and for `latchkey-server explain`.")
                ]),
                "securitySchemes": .object([
                    "viewer": OpenAPI.bearer("The viewer's token. A service may send it as token in the body."),
                    "service": OpenAPI.apiKey(
                        "X-API-Key", in: "header",
                        "The key of a caller of the tenant with the right \(CallerRight.takeSlots.rawValue)."),
                    "heartbeat": OpenAPI.bearer("The heartbeatToken of the slot."),
                ]),
            ],
            [
                "tags": .array([.object(["name": .text("slots")])]),
                "servers": .array([
                    .object([
                        "url": .text("/t/{tenant}"),
                        "variables": .object([
                            "tenant": .object([
                                "default": .text("demo"), "description": .text("The tenant's name."),
                            ])
                        ]),
                    ])
                ]),
            ])
    }()

    static let response = HTTPResponse(
        contentType: "application/json", bytes: Data(document.canonicalText.utf8))
}

/// The description of an address.
private struct Operation {
    var id, summary: String
    var description: String?
    /// The request's requirements: one of several.
    var security = [["heartbeat"]]
    var body: JSONSchema?
    var status = 200
    var answer: (text: String, schema: JSONSchema?)
    var refusals: [LicenseRefusal] = []

    init?(of endpoint: RequestEndpoint) {
        switch endpoint {
        case .slot:
            (id, summary) = ("takeSlot", "Takes a slot, or renews that of the same session.")
            description =
                "A repeated request renews the slot of the first one. Enabled by the tenant's member slots."
            security = [["viewer"], ["viewer", "service"], ["service"]]
            body = SlotRequest.schema
            answer = ("The license may be issued.", LicenseIssuer.GrantedSlot.schema)
            refusals = Self.ofSlots
        case .session:
            (id, summary, description) = ("stopSlot", "Gives the slot back.", "Also for a slot that has ended.")
            (status, answer, refusals) = (204, ("The slot is free.", nil), Self.ofSessions)
        case .heartbeat:
            (id, summary, description) = ("heartbeat", "The session continues.", "The body is empty.")
            answer = ("The session keeps the slot until then.", JSONSchema.named("Heartbeat", ["until": .date]))
            refusals = Self.ofSessions + [.slotEnded]
        case .slotDescription:
            (id, summary, security, answer) = ("describe", "This description.", [], ("OpenAPI 3.1.", .object))
        default: return nil
        }
        refusals += Self.kinds([.unknownTenant, .method(allowed: ""), .policy(.rateLimit)]) + [.tooLarge]
    }

    private static func kinds(_ kinds: [LicenseRefusal.Kind]) -> [LicenseRefusal] {
        kinds.map { LicenseRefusal($0, reason: "") }
    }

    private static let ofSlots = ofRequests + ofPolicies + ofOperators + ofCallers

    private static let ofRequests = kinds([
        .malformedRequest, .tokenMissing, .tokenMalformed, .tokenExpired, .tokenUsed, .notCovered, .unknownKey,
        .ambiguousKey, .sessionLimit, .overloaded,
    ])

    private static let ofPolicies = kinds(
        PolicyObjection.allCases.filter { $0 != .downloadLimit }.map(LicenseRefusal.Kind.policy))

    private static let ofOperators: [LicenseRefusal] = [.tokenRefused, .notEntitled, .entitlementUnavailable]

    private static let ofCallers = [CallerRefusal.Kind.unknown: 401, .otherTenant: 403, .right: 403].map {
        LicenseRefusal(.vendor(code: $0.key.rawValue, status: $0.value), reason: "")
    }

    private static let ofSessions: [LicenseRefusal] =
        kinds(
            [PolicyObjection.sessionStopped, .accountBlocked, .deviceBlocked, .storeUnavailable].map { .policy($0) }
                + [.tokenMissing, .overloaded]) + [.notOurHeartbeat]

    private static let reasons = [
        400: "The request is malformed; the reason names each invalid member.",
        401: "No token, an unsuitable token, or an unknown API key.",
        403:
            "The policy refuses, the session was stopped or has a newer slot, or the tenant does not exist; sessionLimit lists the "
            + "sessions that block it.",
        404: "The tenant does not have the key, or the asset has several.", 405: "The address requires another method.",
        410: "The slot has ended.", 413: "The body has more than \(PlayerAPI.bodyBytes / 1_024) KiB.",
        429: "Too many requests of an account, an address or a tenant.",
        503: "A store does not answer and the policy refuses in that case, or the server is overloaded.",
    ]

    var json: JSONValue {
        let requestID = ["X-Request-Id": OpenAPI.reference("headers", "RequestId")]
        var responses = [
            "\(status)": OpenAPI.response(
                answer.text, answer.schema.map { ["application/json": $0] } ?? [:], headers: requestID)
        ]
        for (status, refusals) in Dictionary(grouping: refusals, by: \.status) {
            var headers = requestID
            if refusals.contains(where: { $0.retryAfter != nil }) {
                headers["Retry-After"] = OpenAPI.header(.positive, "The minimum number of seconds to wait.")
            }
            let codes = Set(refusals.map(\.code)).sorted().joined(separator: ", ")
            responses["\(status)"] = OpenAPI.response(
                "\(Self.reasons[status] ?? "Refused.") Codes: \(codes).", ["application/json": LicenseRefusal.schema],
                headers: headers)
        }
        var members: [String: JSONValue] = [
            "tags": .array([.text("slots")]), "operationId": .text(id), "summary": .text(summary),
            "security": OpenAPI.security(security), "responses": .object(responses),
        ]
        members["description"] = description.map { .text($0) }
        members["requestBody"] = body.map { OpenAPI.body("application/json", $0) }
        return .object(members)
    }
}
