import Latchkey
import LatchkeyServices
import LatchkeyVendors
import Testing

/// The effects of a fault at the certificate and at the license.
struct FaultCase: Sendable, CustomTestStringConvertible {
    let fault: Fault
    /// The error's code at the certificate; `nil` if the key arrives nevertheless.
    let certificateCode: String?
    /// The error's code at the license; `nil` if the key arrives nevertheless.
    let licenseCode: String?
    /// The HTTP status in the error; `nil` if there was no reply.
    let status: Int?
    /// The number of requests to the service.
    let requests: Int
    /// The total time, including timeouts and waits.
    let time: Duration

    var testDescription: String { "\(fault)" }

    private init(
        _ fault: Fault, _ certificateCode: String?, _ licenseCode: String?, status: Int?, requests: Int = 1,
        time: Duration = .zero
    ) {
        self.fault = fault
        self.certificateCode = certificateCode
        self.licenseCode = licenseCode
        self.status = status
        self.requests = requests
        self.time = time
    }

    private init(_ fault: Fault, _ code: String?, status: Int?, requests: Int = 1, time: Duration = .zero) {
        self.init(fault, code, code, status: status, requests: requests, time: time)
    }

    /// Three attempts with half a second and one second between them, without randomness.
    static let policy = RetryPolicy(jitter: 0, attemptTimeout: .seconds(7), deadline: .seconds(25))
    /// The two waits.
    static let waits = Duration.seconds(1.5)

    /// Every fault switch.
    static let all = [
        FaultCase(.status(400), "invalidRequest", status: 400),
        FaultCase(.status(401), "unauthenticated", status: 401, requests: 2),
        FaultCase(.status(403), "forbidden", status: 403, requests: 2),
        FaultCase(.status(404), "notFound", status: 404),
        FaultCase(.status(429), "rateLimited", status: 429, requests: 3, time: waits),
        FaultCase(.status(500), "serverTransient", status: 500, requests: 3, time: waits),
        FaultCase(.status(503), "serverTransient", status: 503, requests: 3, time: waits),
        FaultCase(.delay(.seconds(60)), "timedOut", status: nil, requests: 3, time: .seconds(21) + waits),
        FaultCase(.connectionReset, "connectionLost", status: nil, requests: 3, time: waits),
        FaultCase(.emptyBody, "certificateMalformed", "licenseMalformed", status: 200, requests: 3, time: waits),
        FaultCase(.htmlPage, "certificateMalformed", "licenseMalformed", status: 200, requests: 3, time: waits),
        FaultCase(.truncatedPayload, "certificateMalformed", "licenseMalformed", status: 200, requests: 3, time: waits),
        FaultCase(.garbagePayload, "certificateMalformed", "licenseMalformed", status: 200, requests: 3, time: waits),
        FaultCase(.wrongContentType, nil, status: nil),
        FaultCase(
            .unavailable(retryAfter: .seconds(3)), "serverTransient", status: 503, requests: 3, time: .seconds(6)),
        FaultCase(.unavailable(retryAfter: .seconds(9)), "serverTransient", status: 503),
    ]
}

/// A profile, and the endpoint of its service that misbehaves.
struct FaultPlace: Sendable, CustomTestStringConvertible {
    let profile: String
    let endpoint: ServiceEndpoint

    var testDescription: String { "\(profile), \(endpoint)" }

    private init(_ profile: String, _ endpoint: ServiceEndpoint) {
        self.profile = profile
        self.endpoint = endpoint
    }

    /// One profile for each service, further ones if the exchange differs, and each endpoint that a key needs.
    static let all =
        ["certificate", "license"].flatMap { endpoint in
            mainProfiles.map { FaultPlace($0, ServiceEndpoint(rawValue: endpoint)) }
        } + [
            FaultPlace("vudrm-raw", .certificate), FaultPlace("vudrm-raw", .license),
            FaultPlace("generic-base64", .license), FaultPlace("generic-form", .license),
            FaultPlace("generic-json", .license), FaultPlace("verimatrix-legacy", .license),
            FaultPlace("jw-platform", .delivery), FaultPlace("expressplay-entitlement", .entitlement),
            FaultPlace("nagra", .sessionSetup),
        ]

    static let mainProfiles =
        VendorProfile.vendorIdentifiers.map { $0 == "generic" ? "generic-raw" : $0 } + ["drmtoday-customdata"]

    /// The requests that carry a credential, for which the app may have a better one.
    private static let withToken: [ServiceEndpoint: Set<String>] = [
        .certificate: ["vudrm", "azure", "keyos", "mux", "drmtoday", "drmtoday-customdata", "bunny-stream", "naver"],
        .license: [
            "vudrm", "vudrm-raw", "cloud-drm", "azure", "verimatrix", "titanium", "nagra", "axinom", "keyos",
            "drmtoday", "drmtoday-customdata", "doverunner", "irdeto", "mux", "brightcove", "comcast", "generic-raw",
            "generic-base64",
            "generic-form", "generic-json", "ezdrm-customdata", "verimatrix-query", "bunny-stream", "sigma",
            "latchkey", "naver",
        ],
        .delivery: ["jw-platform"],
        .sessionSetup: ["nagra"],
    ]

    static func carriesToken(_ profile: String, _ endpoint: ServiceEndpoint) -> Bool {
        withToken[endpoint]?.contains(profile) == true
    }

    /// The stage in which the error is reported.
    static func stage(_ endpoint: ServiceEndpoint) -> ContentKeyError.Stage {
        switch endpoint {
        case .certificate: .certificate
        case .delivery, .entitlement: .lookup
        case .sessionSetup: .setup
        default: .license
        }
    }

    /// The place of the fault.
    func with(_ fault: Fault?, for span: FaultSwitch.Span = .always) -> Circumstances {
        // If the app brings the certificate, there is no request for it.
        Circumstances(
            profile: profile, settings: endpoint == .certificate ? ["certificate": nil] : [:], fault: fault,
            endpoint: endpoint, span: span)
    }
}

extension FaultCase {
    /// The effect of the fault at a place.
    func expected(at place: FaultPlace) -> ExpectedError? {
        // Bytes in an unknown format may be a certificate bundle: they are passed on, and the device makes no SPC with them.
        if fault == .garbagePayload, place.endpoint == .certificate {
            return ExpectedError("spcFailed", .spc, status: nil, requests: 1, time: .zero)
        }
        guard let code = code(at: place) else { return nil }
        var expected = ExpectedError(
            code, FaultPlace.stage(place.endpoint), status: status, requests: requests, time: time)
        switch (fault, place.endpoint) {
        // A request without a token cannot get a better one.
        case (.status(401), _), (.status(403), _):
            expected.requests = FaultPlace.carriesToken(place.profile, place.endpoint) ? 2 : 1
        case (.emptyBody, .sessionSetup), (.htmlPage, .sessionSetup): (expected.requests, expected.time) = (1, .zero)
        // DRMtoday's success reply, with something that is neither a CKC nor a certificate.
        case (.truncatedPayload, _) where place.profile.hasPrefix("drmtoday"): expected.vendorCode = "0"
        case (.garbagePayload, _) where place.profile.hasPrefix("drmtoday"): expected.vendorCode = "0"
        // Foundation itself repeats a GET if a kept connection is reset; here, the GET of the delivery document.
        case (.connectionReset, .certificate) where place.profile == "jw-platform": expected.requests = 4
        default: break
        }
        return expected
    }

    private func code(at place: FaultPlace) -> String? {
        switch (fault, place.endpoint) {
        // Mux's reply for a token that has expired or is for another asset. Source: `Documentation/Vendors/Mux.md`.
        case (.status(403), _) where place.profile == "mux": "unauthenticated"
        case (_, .certificate): certificateCode
        case (_, .license): licenseCode
        // These only damage certificates and CKCs.
        case (.truncatedPayload, _), (.garbagePayload, _): nil
        case (.emptyBody, .sessionSetup), (.htmlPage, .sessionSetup): "sessionMalformed"
        case (.emptyBody, _), (.htmlPage, _): "lookupMalformed"
        default: licenseCode
        }
    }
}
