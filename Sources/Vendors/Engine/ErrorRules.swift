public import Foundation

/// How a vendor says no: where its code, its words and its request id stand, and what its codes mean.
///
/// Source: `vendors.md` §23.7.
public struct ErrorRules: Sendable, Hashable {
    /// The statuses that count as yes.
    public var successes: Set<Int>
    /// Where the vendor's code stands, first match first.
    public var code: [Place]
    /// Where the vendor's words stand.
    public var message: [Place]
    /// The header fields that hold the request's id.
    public var requestID: [String]
    /// What the vendor's codes mean where the status does not say it, and a status (`"412"`) where its usual meaning does not fit.
    public var kinds: [String: IntegrationError.Kind]
    /// Whether a code in a reply with a successful status is a refusal.
    public var refusesWithSuccess: Bool

    /// Makes rules; without any, the status decides.
    public init(
        successes: Set<Int> = [200], code: [Place] = [], message: [Place] = [],
        requestID: [String] = ["x-request-id", "x-correlation-id"], kinds: [String: IntegrationError.Kind] = [:],
        refusesWithSuccess: Bool = false
    ) {
        self.successes = successes
        self.code = code
        self.message = message
        self.requestID = requestID
        self.kinds = kinds
        self.refusesWithSuccess = refusesWithSuccess
    }

    /// A place in a reply.
    public enum Place: Sendable, Hashable {
        /// A header field.
        case header(String)
        /// A path of a JSON body.
        case json(String)
        /// The first word of the body, whatever its form, that begins like this and goes on with digits: `MDRM-` finds `MDRM-1001`.
        case word(String)
        /// Wherever the body, whatever its form, has one of the codes that `kinds` names; the first of them.
        case knownCode
    }

    /// What codes mean, written as the codes of each kind.
    static func kinds(_ codes: [IntegrationError.Kind: [String]]) -> [String: IntegrationError.Kind] {
        Dictionary(codes.flatMap { kind, codes in codes.map { ($0, kind) } }) { $1 }
    }
}

extension ErrorRules {
    /// Throws what the service refused with; returns where it did not refuse.
    func check(_ reply: HTTPReply) throws(IntegrationError) {
        let service = summary(of: reply)
        let isSuccess = successes.contains(reply.status)
        if isSuccess, !refusesWithSuccess || service.code == nil { return }
        // A code without a meaning, in a reply whose status says yes, is a refusal all the same.
        let kind =
            service.code.flatMap { kinds[$0] } ?? kinds["\(reply.status)"]
            ?? (isSuccess ? .forbidden : Self.kind(ofStatus: reply.status))
        throw IntegrationError(kind, Self.reason(service), service: service)
    }

    /// What a reply says for diagnosis.
    func summary(of reply: HTTPReply) -> ServiceReply {
        let json = JSONReply(reply.body)
        func find(_ places: [Place]) -> String? {
            places.lazy.compactMap { place in
                switch place {
                case .header(let name): reply.header(name)
                case .json(let path): json?.text(at: path)
                case .word(let start): Self.word(beginning: start, in: reply.body)
                case .knownCode: knownCode(in: String(decoding: reply.body, as: UTF8.self))
                }
            }.first
        }
        return ServiceReply(
            status: reply.status, code: find(code)?.inFewWords,
            message: find(message)?.inFewWords,
            requestID: requestID.lazy.compactMap { reply.header($0) }.first?.inFewWords,
            retryAfter: RetryAfter(reply)?.seconds)
    }

    private static func word(beginning start: String, in body: Data) -> String? {
        let text = String(decoding: body, as: UTF8.self)
        guard let found = text.range(of: start, options: .literal) else { return nil }
        let digits = text[found.upperBound...].prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : start + digits
    }

    /// The code of `kinds` that stands first in a text, between characters that are neither letters nor digits.
    private func knownCode(in text: String) -> String? {
        func isWordCharacter(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        let found = kinds.keys.compactMap { code -> (code: String, place: String.Index)? in
            guard let range = text.range(of: code, options: .literal), !isWordCharacter(text[..<range.lowerBound].last),
                !isWordCharacter(text[range.upperBound...].first)
            else { return nil }
            return (code, range.lowerBound)
        }
        return found.min { $0.place < $1.place }?.code
    }

    private static func reason(_ service: ServiceReply) -> String {
        var text = "The service answered \(service.status)"
        if let code = service.code { text += ", code \(code)" }
        if let message = service.message, !message.isEmpty { text += ", \"\(message)\"" }
        if let id = service.requestID { text += " (request \(id))" }
        return text + "."
    }

    private static func kind(ofStatus status: Int) -> IntegrationError.Kind {
        switch status {
        case 401: .unauthenticated
        case 403: .forbidden
        case 404, 410: .notFound
        case 429: .rateLimited
        case 451: .regionDenied
        case 408, 425: .serverTransient
        case 501, 505: .serverPermanent
        case 500...: .serverTransient
        case 300..<400: .redirected
        case 200..<300: .licenseMalformed
        default: .invalidRequest
        }
    }
}

/// How long a reply asks to wait.
///
/// Source: RFC 9110 §10.2.3.
struct RetryAfter {
    private static let year: Double = 31_536_000

    /// The wait in seconds, 0 to a year.
    let seconds: Double

    /// - Parameter reply: a reply whose `Retry-After` is a number of seconds, or a date; a date counts from the reply's own
    ///   `Date`, because the service's clock and this machine's need not agree. Nil without either.
    init?(_ reply: HTTPReply) {
        guard let value = reply.header("retry-after")?.trimmingCharacters(in: .whitespaces) else { return nil }
        if !value.isEmpty, value.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }) {
            // Any number of digits is a valid field; a year stands for all that no client will wait.
            seconds = min(Double(value) ?? Self.year, Self.year)
        } else if let date = Date(httpField: value), let now = reply.date {
            seconds = min(max(0, date.timeIntervalSince(now)), Self.year)
        } else {
            return nil
        }
    }
}

extension HTTPReply {
    /// When the reply was made, by the server's clock and to the second; nil where it does not say.
    ///
    /// Source: RFC 9110 §6.6.1.
    public var date: Date? { header("date").flatMap(Date.init(httpField:)) }
}

extension Date {
    fileprivate init?(httpField text: String) {
        let format = DateFormatter()
        format.locale = Locale(identifier: "en_US_POSIX")
        format.timeZone = TimeZone(identifier: "GMT")
        format.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        guard let date = format.date(from: text) else { return nil }
        self = date
    }
}

extension String {
    /// A service's words as an error may show them: one line of 300 characters at most.
    ///
    /// A word of more than 64 characters is no word but a token, an SPC or an URL that was sent back, and gives way to its length.
    var inFewWords: String {
        let words = split { $0.isWhitespace || $0.unicodeScalars.contains { $0.value < 0x20 } }
            .map { $0.count > 64 ? "‹\($0.count) characters›" : String($0) }
        return String(words.joined(separator: " ").prefix(300))
    }
}
