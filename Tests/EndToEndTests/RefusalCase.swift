import Latchkey
import LatchkeyServices
@_spi(Integrations) import LatchkeyVendors
import Testing

/// A vendor's refusal, and the resulting error of the player.
struct RefusalCase: Sendable, CustomTestStringConvertible {
    let title: String
    let circumstances: Circumstances
    let expected: ExpectedError

    var testDescription: String { "\(circumstances.profile): \(title)" }

    private init(
        _ title: String, _ circumstances: Circumstances, _ kind: Diagnosis.Kind, _ status: Int,
        code: String?, words: String?
    ) {
        self.title = title
        self.circumstances = circumstances
        let documented = code.flatMap {
            VendorProfile.named(circumstances.profile)?.errors(at: circumstances.endpoint.refusalStage)?.codes[$0]
        }
        let asksAnew =
            (documented?.wantsNewCredentials ?? [.unauthenticated, .forbidden, .notYetValid].contains(kind))
            && FaultPlace.carriesToken(circumstances.profile, circumstances.endpoint)
        let isRetried = [.serverTransient, .lookupMalformed].contains(kind)
        expected = ExpectedError(
            kind.rawValue, FaultPlace.stage(circumstances.endpoint), status: status, vendorCode: code, words: words,
            requests: isRetried ? 3 : asksAnew ? 2 : 1, time: isRetried ? circumstances.waits : .zero)
    }

    /// A refusal that the service decides itself.
    /// - Parameters:
    ///   - profile: the profile's identifier.
    ///   - title: a description of the fault.
    ///   - service: the service, and possibly the app's token.
    ///   - endpoint: the endpoint that refuses.
    ///   - settings: settings that replace the service's.
    ///   - code: the vendor's own code.
    ///   - words: a part of the vendor's message.
    init(
        _ profile: String, _ title: String, _ service: SpecialService, at endpoint: ServiceEndpoint = .license,
        settings: [String: String] = [:], _ kind: Diagnosis.Kind, _ status: Int, code: String? = nil,
        words: String? = nil
    ) {
        let circumstances = Circumstances(
            profile: profile, settings: settings, special: service, endpoint: endpoint)
        self.init(title, circumstances, kind, status, code: code, words: words)
    }

    /// A refusal that a test asks the service to send.
    /// - Parameters:
    ///   - told: the code that the service is asked to send.
    ///   - code: the part of it that the vendor's error format contains.
    init(
        _ profile: String, told: String, _ status: Int, at endpoint: ServiceEndpoint = .license,
        _ kind: Diagnosis.Kind, shownStatus: Int? = nil, code: String? = nil, words: String? = nil,
        service: SpecialService? = nil, wait: Duration? = nil
    ) {
        let circumstances = Circumstances(
            profile: profile, special: service, fault: .refusal(code: told, status: status), endpoint: endpoint,
            waits: wait ?? FaultCase.waits)
        self.init("\(told) at \(endpoint)", circumstances, kind, shownStatus ?? status, code: code, words: words)
    }
}

extension ServiceEndpoint {
    /// The stage by which a profile distinguishes the refusals of this endpoint.
    fileprivate var refusalStage: VendorProfile.RefusalStage {
        switch self {
        case .entitlement, .delivery: .lookup
        case .sessionSetup, .sessionHeartbeat, .sessionTeardown: .session
        default: .license
        }
    }
}

extension RefusalCase {
    /// Vendors without their own codes: only the status.
    private static let plain = (FaultPlace.mainProfiles.filter { !withCodes.contains($0) } + ["generic-json"])
        .map { RefusalCase($0, told: "notAllowed", 403, .forbidden) }

    /// The vendors with codes, and DRMtoday's variant, whose codes are the same.
    private static let withCodes = Set(
        (coded + others).map(\.circumstances).filter { $0.endpoint == .license }.map(\.profile)
    )
    .union(["drmtoday-customdata"])

    /// Source: `Documentation/Vendors/CloudDRM.md`, errors.
    private static let cloudDRM =
        [
            ("drm_3030", 403, .forbidden), ("drm_3031", 403, .unauthenticated), ("drm_3032", 403, .unauthenticated),
            ("drm_3033", 403, .forbidden), ("drm_3034", 403, .forbidden), ("drm_3035", 403, .unauthenticated),
            ("drm_3036", 403, .unauthenticated), ("drm_3038", 403, .unauthenticated),
            ("drm_3039", 403, .unauthenticated), ("drm_3100", 403, .serverTransient),
            ("drm_4002", 403, .invalidRequest), ("drm_4003", 403, .invalidRequest),
            ("drm_4005", 403, .invalidRequest), ("common_3", 500, .serverTransient),
        ].map { code, status, kind in
            RefusalCase("cloud-drm", told: code, status, kind, code: code, words: "set to refuse")
        }

    /// Source: `Documentation/Vendors/Verimatrix.md`, errors.
    private static let verimatrix =
        [
            ("MDRM-1000", 500, .serverTransient), ("MDRM-1001", 401, .unauthenticated),
            ("MDRM-1002", 401, .unauthenticated), ("MDRM-1003", 404, .notFound), ("MDRM-1004", 400, .invalidRequest),
            ("MDRM-1005", 404, .notFound), ("MDRM-1006", 400, .invalidRequest), ("MDRM-1007", 400, .invalidRequest),
            ("MDRM-1008", 400, .invalidRequest), ("MDRM-1009", 500, .serverTransient),
            ("MDRM-1010", 500, .serverTransient), ("MDRM-1011", 404, .notFound),
            ("MDRM-1012", 500, .serverTransient), ("MDRM-1013", 400, .invalidRequest),
            ("MDRM-1014", 400, .invalidRequest),
        ].map { code, status, kind in
            RefusalCase("verimatrix", told: code, status, kind, code: code, words: "set to refuse")
        }

    /// Source: `Documentation/Vendors/ExpressPlay.md`, errors.
    private static let expressPlay =
        [
            ("-2017", 401, .unauthenticated), ("-2018", 401, .unauthenticated), ("-2019", 403, .forbidden),
            ("-2031", 403, .forbidden), ("-4001", 403, .forbidden), ("-4010", 401, .unauthenticated),
            ("-4018", 404, .invalidRequest), ("-5003", 400, .invalidRequest), ("-6003", 400, .invalidRequest),
            ("-6004", 500, .serverTransient), ("-6006", 403, .forbidden), ("-6007", 400, .invalidRequest),
            ("-6008", 400, .invalidRequest), ("-6009", 403, .forbidden),
        ].map { RefusalCase("expressplay", told: $0, $1, $2, code: $0) }
        + [
            RefusalCase(
                "expressplay-entitlement", told: "-2019", 403, at: .entitlement, .forbidden, shownStatus: 200,
                code: "-2019", words: "set to refuse"),
            RefusalCase(
                "expressplay-entitlement", told: "-6001", 400, at: .entitlement, .invalidRequest, code: "-6001",
                words: "set to refuse"),
            RefusalCase("expressplay-entitlement", told: "-6006", 403, .forbidden, code: "-6006"),
            RefusalCase("expressplay-onpremise", told: "-6009", 403, at: .onPremise, .forbidden, code: "-6009"),
        ]

    /// Source: `Documentation/Vendors/NAGRA.md` §1 and §2, errors.
    private static let nagra = [
        RefusalCase("nagra", told: "1007", 400, at: .sessionSetup, .concurrencyLimit, code: "1007", words: "set to"),
        RefusalCase("nagra", told: "1007", 400, .concurrencyLimit, code: "1007", words: "set to"),
        RefusalCase("nagra", told: "4001", 500, at: .sessionSetup, .serverTransient, code: "4001", words: "set to"),
        RefusalCase("nagra", told: "4711", 400, .invalidRequest, code: "4711", words: "set to"),
        RefusalCase("nagra", told: "4711", 500, .serverTransient, code: "4711", words: "set to"),
    ]

    /// Source: `Documentation/Vendors/DRMtoday.md`, errors.
    private static let drmToday =
        [
            ("1000", 500, .serverTransient), ("2000", 400, .invalidRequest), ("3000", 403, .unauthenticated),
            ("10001", 400, .invalidRequest), ("20101", 403, .forbidden), ("30000", 400, .invalidRequest),
            ("43000", 400, .invalidRequest), ("60001", 403, .invalidRequest), ("60100", 403, .concurrencyLimit),
            ("70001", 403, .forbidden), ("80001", 403, .forbidden), ("90001", 403, .regionDenied),
        ].map { code, status, kind in
            RefusalCase(
                "drmtoday", told: code, status, kind, code: code, words: code == "20101" ? "not_granted" : code)
        }

    /// All have status 200. Source: `Documentation/Vendors/DoveRunner.md`, errors and useful codes.
    private static let doveRunner =
        [
            ("1003", .notFound), ("7001", .notFound), ("7009", .unauthenticated), ("7011", .unauthenticated),
            ("7012", .forbidden), ("7016", .unauthenticated), ("7018", .forbidden), ("7019", .unauthenticated),
            ("7301", .notFound), ("7304", .serverTransient), ("7305", .invalidRequest), ("7308", .invalidRequest),
            ("7316", .invalidRequest), ("7317", .invalidRequest), ("8710", .notYetValid), ("8711", .forbidden),
            ("9001", .invalidRequest), ("9999", .invalidRequest), ("8002", .forbidden), ("4711", .forbidden),
        ].map { RefusalCase("doverunner", told: $0, 200, $1, code: $0, words: "set to refuse") }
        + ["1003", "7301"].map {
            RefusalCase("doverunner", told: $0, 200, at: .certificate, .notFound, code: $0, words: "set to refuse")
        }

    /// Source: `Documentation/Vendors/Axinom.md`, `Documentation/Vendors/Mux.md`, `Documentation/Vendors/Anvato.md`, errors.
    private static let others = [
        RefusalCase("latchkey", told: "notAllowed", 403, .forbidden, code: "notAllowed", words: "set to refuse"),
        RefusalCase("latchkey", told: "place", 403, .regionDenied, code: "place", words: "set to refuse"),
        RefusalCase("latchkey", told: "notBegun", 403, .notYetValid, code: "notBegun", words: "set to refuse"),
        RefusalCase("latchkey", told: "sessionLimit", 403, .concurrencyLimit, code: "sessionLimit", words: "set to"),
        RefusalCase("latchkey", told: "tokenUsed", 403, .unauthenticated, code: "tokenUsed", words: "set to"),
        RefusalCase("latchkey", told: "storeUnavailable", 503, .serverTransient, code: "storeUnavailable"),
        RefusalCase("axinom", told: "notAllowed", 400, .invalidRequest, words: "notAllowed"),
        RefusalCase("axinom", told: "notAllowed", 403, .forbidden, words: "notAllowed"),
        RefusalCase("anvato", told: "17", 403, .forbidden, code: "403", words: "drmErrorCode: 17"),
        RefusalCase("anvato", told: "18", 404, .notFound, code: "404", words: "drmErrorCode: 18"),
        RefusalCase("brightcove", told: "TAGS", 403, .forbidden, code: "TAGS", words: "set to refuse"),
        RefusalCase("brightcove", told: "TOKEN_VALIDATION", 401, .unauthenticated, code: "TOKEN_VALIDATION"),
        RefusalCase("mux", told: "expired", 403, .unauthenticated),
        RefusalCase("mux", told: "expired", 403, at: .certificate, .unauthenticated),
        RefusalCase("mux", told: "notReady", 412, .serverTransient),
        RefusalCase("mux", told: "badAddress", 404, .notFound),
        RefusalCase("jw-platform", told: "notFound", 404, at: .delivery, .notFound),
        RefusalCase("mux", told: "badID", 400, .invalidRequest),
        RefusalCase("naver", told: "281003", 400, .notFound, code: "281003", words: "set to refuse"),
        RefusalCase("naver", told: "281005", 400, .forbidden, code: "281005", words: "set to refuse"),
    ]

    /// Every refusal that a test asks a service to send.
    static let told = plain + coded + others

    private static let coded = cloudDRM + verimatrix + expressPlay + nagra + drmToday + doveRunner
}
