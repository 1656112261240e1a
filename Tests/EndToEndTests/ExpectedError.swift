import Latchkey
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendors
import Testing

/// The one error of a key request.
struct ExpectedError: Sendable {
    let code: String
    let stage: ContentKeyError.Stage
    /// The HTTP status in the error; `nil` if there was no reply.
    let status: Int?
    /// The vendor's own code, or `nil`.
    var vendorCode: String?
    /// A part of the vendor's message, or `nil`.
    var words: String?
    /// The number of requests to the endpoint.
    var requests: Int
    /// The total time, including timeouts and waits.
    var time: Duration

    init(
        _ code: String, _ stage: ContentKeyError.Stage, status: Int?, vendorCode: String? = nil, words: String? = nil,
        requests: Int = 1, time: Duration = .zero
    ) {
        self.code = code
        self.stage = stage
        self.status = status
        self.vendorCode = vendorCode
        self.words = words
        self.requests = requests
        self.time = time
    }

    var isRetryable: Bool { !Self.final.contains(code) }

    private static let final = [
        "invalidRequest", "unauthenticated", "forbidden", "notFound", "concurrencyLimit", "regionDenied",
        "sessionMalformed", "notYetValid", "spcFailed",
    ]
}

extension FaultRun {
    /// Records an issue for every deviation of a run: answers, error, requests, time, visible secrets.
    func expect(_ expected: ExpectedError?, at endpoint: ServiceEndpoint, _ source: SourceLocation = #_sourceLocation)
        throws
    {
        #expect(answers == 1 && endings == 1, sourceLocation: source)
        #expect(leaks.isEmpty, sourceLocation: source)
        // At least the demo asset's keys.
        #expect(secrets.count >= 2 && shown.count > 300, sourceLocation: source)
        guard let expected else { return #expect(error == nil, sourceLocation: source) }
        let error = try #require(error as? ContentKeyError, sourceLocation: source)
        #expect(error.code == expected.code, sourceLocation: source)
        #expect(error.stage == expected.stage, sourceLocation: source)
        #expect(error.service?.status == expected.status, sourceLocation: source)
        #expect(error.service?.code == expected.vendorCode, sourceLocation: source)
        if let words = expected.words {
            #expect(error.service?.message?.contains(words) == true, sourceLocation: source)
        }
        // The services number their replies.
        let number = error.service?.requestID?.split(separator: "-").last.map(String.init)
        #expect(number == expected.status.map { _ in "\(requestCount)" }, sourceLocation: source)
        #expect(requests[endpoint] == expected.requests, sourceLocation: source)
        #expect(error.attempts == min(expected.requests, FaultCase.policy.maximumAttempts), sourceLocation: source)
        #expect(elapsed == expected.time, sourceLocation: source)
        #expect(error.isRetryable == expected.isRetryable, sourceLocation: source)
        #expect(!error.reason.isEmpty && !error.remedy.isEmpty, sourceLocation: source)
        if endpoint != .license { #expect(requests[.license] == nil, sourceLocation: source) }
    }
}
