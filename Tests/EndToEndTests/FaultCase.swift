import Latchkey
import LatchkeyServices
import Testing

/// What a fault leads to, at the certificate and at the license.
struct FaultCase: Sendable, CustomTestStringConvertible {
    let fault: Fault
    /// The error's code at the certificate; nil where the key comes all the same.
    let certificateCode: String?
    /// The error's code at the license; nil where the key comes all the same.
    let licenseCode: String?
    /// The status that the error shows; nil where no reply came.
    let status: Int?
    /// How often the service is asked.
    let requests: Int
    /// How long that takes, timeouts and waits together.
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

    /// Three attempts with half a second and a second between them, and nothing left to chance.
    static let policy = RetryPolicy(jitter: 0, attemptTimeout: .seconds(7), deadline: .seconds(25))
    /// The two waits.
    private static let waits = Duration.seconds(1.5)

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

/// A profile and the endpoint of its service that misbehaves.
struct FaultPlace: Sendable, CustomTestStringConvertible {
    let profile: String
    let endpoint: ServiceEndpoint

    var testDescription: String { "\(profile), \(endpoint)" }

    /// Both vendors, both dialects of the first.
    static let all = ["vudrm", "vudrm-raw", "cloud-drm"].flatMap { profile in
        [ServiceEndpoint.certificate, .license].map { FaultPlace(profile: profile, endpoint: $0) }
    }
}
