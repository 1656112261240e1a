import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyVault

/// A request for a slot, from the service that makes the license or from the player.
///
/// Source: `Documentation/Server/Slots.md`, the request.
struct SlotRequest: Sendable {
    /// The DRM system of the license.
    private(set) var drm = LicenseRequestFacts.DRM.other
    /// A key that the tenant has.
    private(set) var kid: KeyID?
    /// The key's content, where the key is derived.
    private(set) var content: String?
    /// Content without a kid, which the tenant need not know.
    private(set) var asset: String?
    /// The class of the asset's key.
    private(set) var track: TrackClass?
    private(set) var token: String?
    /// The device as the caller names it.
    private(set) var device: String?
    private var session: String?
    private var capabilities: DeviceCapabilities = []
    private var stop: Set<String> = []
    private var viewer = Viewer()
    private var viewerFacts = LicenseRequestFacts()

    /// A service's statements about its viewer.
    fileprivate struct Viewer: Sendable, Equatable {
        var address: AddressRange?
        var country: String?
    }

    private init() {}

    /// - Parameters:
    ///   - call: the request. Its token is in `Authorization` or in the body.
    ///   - isOfService: whether the caller may say where its viewers are.
    /// - Throws: `malformedRequest` with every problem by its place.
    init(_ call: APICall, isOfService: Bool) throws(LicenseRefusal) {
        do throws(JSONProblems) {
            self = try Self.form.decode(Array(call.request.body), code: "malformedRequest")
        } catch {
            throw LicenseRefusal(.malformedRequest, reason: error.reason, remedy: error.remedy)
        }
        guard isOfService || viewer == Viewer() else {
            throw LicenseRefusal(
                .malformedRequest, reason: "viewer: A player may not state its viewer's location.",
                remedy: "Omit the member, or send the service's key as X-API-Key.")
        }
        token = call.bearerToken ?? token
        viewerFacts = call.viewer
        if isOfService {
            // The connection is the service's: its location and user agent do not describe the viewer.
            (viewerFacts.address, viewerFacts.country) = (viewer.address, viewer.country)
            viewerFacts.userAgent = nil
        }
    }

    /// The request's facts for the decision, except tenant and device.
    var facts: LicenseRequestFacts {
        var facts = viewerFacts
        (facts.drm, facts.capabilities, facts.stopCodes) = (drm, capabilities, stop)
        // A separate kind of name: the number of a FairPlay session does not give access to its slot.
        facts.sessionName = session.map { "\(drm.label)/\($0)" }
        return facts
    }

    static var schema: JSONSchema {
        func requiring(_ name: String, without other: String) -> JSONSchema {
            func required(_ name: String) -> [String: JSONValue] { ["required": .array([.text(name)])] }
            return JSONSchema(required(name)).with(["not": .object(required(other))])
        }
        let either = JSONSchema.oneOf([requiring("kid", without: "track"), requiring("asset", without: "content")])
        return form.schema.named("SlotRequest").with(either.keywords)
    }

    /// The most stop codes, as of a license request.
    private static let mostStopCodes = 100

    private static let form: ObjectForm<SlotRequest> = ObjectForm(
        empty: SlotRequest(),
        members: [
            .required("drm", \.drm, .label.named("DRM")).explained("The purpose of the license."),
            .optional("kid", \.kid, .keyID)
                .explained("A key of the tenant. Its class and its policies apply."),
            .optional("content", \.content, .text)
                .explained("The key's content; only needed if keys are derived without a packager."),
            .optional("asset", \.asset, .text).explained(
                "Content without a key. If the tenant has one key of it, that key applies; if it has none, the tenant's "
                    + "policy alone."),
            .optional("track", \.track, .word.named("TrackClass"))
                .explained("The class of an asset without a key. Defaults to ALL."),
            .optional("session", \.session, .text)
                .explained("The playback session, the same in each of its requests. The token's sid takes precedence."),
            .optional("device", \.device, .text)
                .explained("The device; a digest of it is stored. The token's device takes precedence."),
            .defaulting("capabilities", \.capabilities, .capabilities, to: [])
                .explained("The device's capabilities, for policies that check them."),
            .defaulting("stop", \.stop, .set(.text), to: []).explained(
                "The stop codes of sessions that the viewer ends for this one.",
                ["maxItems": .number(Double(mostStopCodes))]),
            .optional("token", \.token, .anyText)
                .explained("The viewer's token, if Authorization has none."),
            .section("viewer", \.viewer, Viewer.form).explained(
                "The location of a service's viewer; omitted members are unknown. Players omit it."),
        ],
        check: { request, place, problems in
            func problem(_ member: String, _ what: String, _ remedy: String) {
                problems.append(JSONProblem(place.member(member), what, remedy: remedy))
            }
            if (request.kid == nil) == (request.asset == nil) {
                problem("kid", "The request must name either a key or an asset.", "Send “kid” or “asset”.")
            } else if request.kid == nil, request.content != nil {
                problem("content", "“content” requires “kid”.", "Send the name as “asset” only.")
            } else if request.kid != nil, request.track != nil {
                problem("track", "The tenant determines the class of a key.", "Omit the member.")
            }
            if request.stop.count > mostStopCodes {
                problem("stop", "There are more than \(mostStopCodes) codes.", "Send the codes of one refusal.")
            }
            for (name, text) in [("content", request.content), ("asset", request.asset)] {
                guard let text, ContentName(text) == nil else { continue }
                problem(name, "The name is longer than 256 bytes.", "Send the content's name.")
            }
        })
}

extension SlotRequest.Viewer {
    fileprivate static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .optional("address", \.address, .address).explained("An IP address."),
            .optional("country", \.country, .country).explained("The country's two capital letters."),
        ])
}

extension JSONForm where Value == LicenseRequestFacts.DRM {
    /// Clear Key's keys are issued only here, and need no slot from elsewhere.
    private static let systems: [LicenseRequestFacts.DRM] = [.widevine, .playReady, .fairPlay, .other]

    static let label = JSONForm(
        words: systems.map(\.label), read: { text in systems.first { $0.label == text } }, write: \.label)
}

extension Tenant {
    /// The service that asks for a slot, by its key; `nil` for a player.
    func slotCaller(of request: HTTPRequest, _ callers: CallerDirectory) throws(CallerRefusal) -> Caller? {
        guard let key = request.headers["X-API-Key"] else { return nil }
        // The viewer's token in the same request does not identify the caller.
        let proof = HTTPRequest(
            method: request.method, target: request.target, headers: ["X-API-Key": key],
            remoteAddress: request.remoteAddress)
        return try callers.caller(of: proof, with: .takeSlots, for: name)
    }
}

extension LicenseRefusal {
    /// Slots that this tenant has turned off, entirely or for players.
    static func slotsAreOff(_ settings: TenantSettings.Slots) -> Self {
        Self(
            .policy(.right),
            reason: settings == .off
                ? "Slots for other license services are not enabled for this tenant."
                : "Only license services can take slots of this tenant, not players.",
            remedy: settings == .off
                ? "Ask the operator to enable them."
                : "Send the service's key as X-API-Key, or ask the operator to let players take slots.")
    }
}
