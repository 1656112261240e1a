// For the bridging of `CustomNSError`, which takes effect only in a file that imports Foundation.
import Foundation
public import LatchkeyCore

/// Why an integration could not make a request or accept a reply.
public struct IntegrationError: CataloguedError {
    /// The kind of error, one of 200 to 299.
    public let kind: Diagnosis.Kind
    public let reason: String
    public let remedy: String
    /// The service's reply, if it was asked.
    public let service: ServiceReply?
    /// The documented meaning of the service's code; `nil` if there is none, or if the error is another.
    package private(set) var documented: DocumentedCode?
    /// The value found in place of another, until its origin is known.
    private var misplaced: (found: String, wanted: String)?

    /// Whether the same request may succeed later: if its kind or the vendor's page says so, and the service was asked.
    public var isRetryable: Bool { (documented?.isRetryable ?? kind.isRetryable) && service != nil }

    /// Makes an error.
    /// - Parameters:
    ///   - kind: the kind of error, one of 200 to 299.
    ///   - reason: what happened, without secrets.
    ///   - remedy: what to do, one imperative sentence. Defaults to the kind's.
    ///   - service: the service's reply; `nil` if it was not asked.
    public init(_ kind: Diagnosis.Kind, _ reason: String, remedy: String? = nil, service: ServiceReply? = nil) {
        self.kind = kind
        self.reason = reason
        self.remedy = remedy ?? kind.remedy
        self.service = service
    }

    /// Makes the error of a refusal.
    /// - Parameter reason: the service's answer; the meaning of its code is added.
    init(_ code: DocumentedCode, _ reason: String, service: ServiceReply) {
        let sentences = [reason, code.meaning].compactMap(\.self).joined(separator: " ")
        self.init(code.kind, sentences, remedy: code.remedy, service: service)
        if !code.isKindAlone { documented = code }
    }

    /// Makes the error of a value that is recognizably something else.
    /// - Parameters:
    ///   - found: the value found.
    ///   - wanted: the noun of the expected value.
    ///   - origin: where it came from; `nil` if only a caller knows that and adds it with `from(_:)`.
    init(_ kind: Diagnosis.Kind, _ found: String, inPlaceOf wanted: String, from origin: ValueOrigin?) {
        let sentence = origin.map { $0.gave("\(found == "empty" ? "nothing" : found) in place of a \(wanted)") }
        self.init(kind, "\(sentence ?? "The received \(wanted) is \(found)").")
        misplaced = origin == nil ? (found, wanted) : nil
    }

    /// The error with the origin of the misplaced value, if it was not known.
    func from(_ origin: ValueOrigin) -> Self {
        guard let (found, wanted) = misplaced else { return self }
        return Self(
            kind, Self(kind, found, inPlaceOf: wanted, from: origin).reason,
            remedy: "Give the bytes of the \(wanted), or throw what went wrong.", service: service)
    }

    /// The error with the service's reply, whose words are added to the reason.
    package func with(_ service: ServiceReply?) -> Self {
        let words = service?.message.map { " The service says \"\($0)\"." } ?? ""
        return Self(kind, reason.hasSuffix(words) ? reason : reason + words, remedy: remedy, service: service)
    }

    /// The error as one of a certificate's request, whose kind and remedy are not about keys.
    var aboutCertificate: Self {
        if kind == .licenseMalformed { return Self(.certificateMalformed, reason, remedy: remedy, service: service) }
        guard kind == .notFound, documented == nil else { return self }
        return Self(
            kind, reason, remedy: "Check the certificate's URL: there is none at this address.", service: service)
    }

    static func certificateMalformed(_ reason: String) -> Self { Self(.certificateMalformed, reason) }
    static func licenseMalformed(_ reason: String) -> Self { Self(.licenseMalformed, reason) }
}

/// The part of a service's reply that helps to find its cause.
public struct ServiceReply: Sendable, Hashable, Codable {
    /// The HTTP status.
    public var status: Int
    /// The vendor's own error code.
    public var code: String?
    /// The vendor's own words, shortened.
    public var message: String?
    /// The id under which the vendor's support finds the request.
    public var requestID: String?
    /// How long the service asks to wait, in seconds.
    public var retryAfter: Double?

    /// Makes a summary of a reply.
    package init(
        status: Int, code: String? = nil, message: String? = nil, requestID: String? = nil, retryAfter: Double? = nil
    ) {
        self.status = status
        self.code = code
        self.message = message
        self.requestID = requestID
        self.retryAfter = retryAfter
    }
}

extension ErrorDetails {
    /// Adds the service's reply.
    package mutating func add(_ service: ServiceReply?) {
        guard let service else { return }
        (status, vendorCode) = (service.status, service.code)
        (requestID, vendorMessage) = (service.requestID, service.message)
    }
}

extension IntegrationError: DetailedError {
    package var details: ErrorDetails {
        var details = ErrorDetails()
        if service != nil { details.isRetryable = isRetryable }
        details.add(service)
        return details
    }
}
