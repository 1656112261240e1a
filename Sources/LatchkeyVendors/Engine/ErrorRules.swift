import Foundation
public import LatchkeyCore

/// How to read a vendor's refusals: the places of code, message and request ID, and the meanings of the codes.
///
/// Source: `Documentation/Vendors/README.md` §23.7.
@_spi(Integrations) public struct ErrorRules: Sendable, Hashable {
    /// The statuses of success. Defaults to 200.
    package var successes: Set<Int>
    /// The places of the vendor's code; the first match counts. Empty for the usual places.
    package var code: [ReplyField]
    /// The places of the vendor's message; the first match counts. If they have none, the usual places are searched.
    package var message: [ReplyField]
    /// The header fields of the request's id.
    package var requestID: [String]
    /// JSON paths of the request's ID, in addition to the usual ones.
    package var requestIDInBody: [String]
    /// The meanings of the vendor's codes, and of statuses (`"412"`) whose usual meaning does not fit. Codes take precedence.
    package var codes: [String: DocumentedCode]
    /// Whether a code in a reply with a status of success is a refusal.
    package var refusesWithSuccess: Bool

    /// Makes rules. Without arguments, the status decides.
    /// - Parameter kinds: codes of which only the kind is known.
    public init(
        successes: Set<Int> = [200], code: [ReplyField] = [], message: [ReplyField] = [],
        requestID: [String] = ["x-request-id", "x-correlation-id", "x-ms-request-id", "x-amzn-requestid"],
        requestIDInBody: [String] = [], kinds: [String: Diagnosis.Kind] = [:], codes: [String: DocumentedCode] = [:],
        refusesWithSuccess: Bool = false
    ) {
        self.successes = successes
        self.code = code
        self.message = message
        self.requestID = requestID
        self.requestIDInBody = requestIDInBody
        self.codes = kinds.mapValues { DocumentedCode($0) }.merging(codes) { $1 }
        self.refusesWithSuccess = refusesWithSuccess
    }

    /// A place in a reply.
    public enum ReplyField: Sendable, Hashable {
        /// A header field.
        case header(String)
        /// A path of a JSON body.
        case json(String)
        /// The first word of the body, in any format, that begins with this text and continues with digits: `MDRM-` finds `MDRM-1001`.
        case word(String)
        /// The first of the known codes anywhere in the body, in any format.
        case knownCode
        /// The body of a refusal if it is a short text, or the title of its page.
        case text
    }

    /// The kinds of codes, from the codes of each kind.
    static func kinds(_ codes: [Diagnosis.Kind: [String]]) -> [String: Diagnosis.Kind] {
        Dictionary(codes.flatMap { kind, codes in codes.map { ($0, kind) } }) { $1 }
    }

    /// The documented meaning of a reply's code, or else of its status; `nil` if the rules know neither.
    package func documented(_ service: ServiceReply) -> DocumentedCode? {
        // A vendor's number may look like a status, and the page may state a different status for it.
        service.code.flatMap { codes[$0] }
            ?? codes["\(service.status)"].flatMap { [nil, service.status].contains($0.status) ? $0 : nil }
    }
}

@_spi(Integrations) extension ErrorRules {
    /// Throws the refusal in a reply. For integrations in code and an app's own requests.
    /// - Throws: `IntegrationError` if the service refused. Its `service` has status, code and request id.
    public func check(_ reply: HTTPReply) throws(IntegrationError) {
        let isSuccess = successes.contains(reply.status)
        // The usual places hold all kinds of numbers. Only a code at a place that the vendor names is a refusal.
        if isSuccess, !refusesWithSuccess || text(at: code, of: reply, JSONReply(reply.body)) == nil { return }
        let service = summary(of: reply)
        // A code without a known meaning in a reply with a status of success is a refusal too.
        throw IntegrationError(
            documented(service) ?? DocumentedCode(isSuccess ? .forbidden : Self.kind(ofStatus: reply.status)),
            "The service answered \(service.status)\(service.words).", service: service)
    }

    /// The parts of a reply that help to find a cause.
    func summary(of reply: HTTPReply) -> ServiceReply {
        let json = JSONReply(reply.body)
        return ServiceReply(
            status: reply.status, code: code(of: reply, json),
            message: (text(at: message, of: reply, json) ?? usualMessage(of: reply, json))?.inFewWords,
            requestID: (requestID.lazy.compactMap { reply.header($0) }.first ?? requestID(in: json))?.inFewWords,
            retryAfter: RetryAfter(reply)?.seconds)
    }

    /// The text at the usual places, if it is not the code; if `error` and `message`, which some services both fill, differ, both texts.
    private func usualMessage(of reply: HTTPReply, _ json: JSONReply?) -> String? {
        let isSuccess = (200..<300).contains(reply.status)
        let found =
            text(at: Self.usualWords, of: reply, json) ?? (isSuccess ? nil : json?.words)
            ?? text(at: Self.lastWords, of: reply, json)
        if let inner = found.flatMap({ JSONReply(Data($0.utf8)) })?.words { return inner }
        let code = code(of: reply, json)
        guard let message = json?.text(at: "message"), found == message, let error = json?.text(at: "error"),
            !error.isEmpty, error != message, code != error, error.contains(where: \.isLetter)
        else { return found == code ? nil : found }
        return "\(error): \(message)"
    }

    /// The request's id in a body.
    private func requestID(in json: JSONReply?) -> String? {
        guard let json else { return nil }
        return (requestIDInBody + Self.usualRequestIDs).lazy.compactMap { json.text(at: $0) }.first { !$0.isEmpty }
    }

    /// The service's message, shortened and without anything that looks like a secret, or `nil`.
    package func words(of reply: HTTPReply) -> String? {
        let found = summary(of: reply)
        let words = [found.code.map { "code \($0)" }, found.message].compactMap(\.self).joined(separator: ", ")
        return words.isEmpty ? nil : words
    }

    /// The vendor's code in a reply.
    /// - Parameter json: the reply's body, if it is JSON.
    package func code(of reply: HTTPReply, _ json: JSONReply?) -> String? {
        text(at: code.isEmpty ? Self.usualCodes : code, of: reply, json)?.inFewWords
    }

    /// The text at the first of the places that has one.
    private func text(at places: [ReplyField], of reply: HTTPReply, _ json: JSONReply?) -> String? {
        let texts = places.lazy.compactMap { place -> String? in
            switch place {
            case .header(let name): reply.header(name)
            case .json(let path): json?.text(at: path)
            case .word(let start): Self.word(beginning: start, in: reply.body)
            case .knownCode: knownCode(in: reply.body)
            // The body of a success may be a CKC, or a part of one.
            case .text: (200..<300).contains(reply.status) ? nil : reply.body.plainWords
            }
        }
        return texts.first { !$0.isEmpty && $0 != "true" && $0 != "false" }
    }

    private static func word(beginning start: String, in body: Data) -> String? {
        guard Array(body).place(of: Array(start.utf8)) != nil else { return nil }
        let text = String(decoding: body, as: UTF8.self)
        guard let found = text.range(of: start, options: .literal) else { return nil }
        let digits = text[found.upperBound...].prefix { $0.isASCII && $0.isNumber }
        return digits.isEmpty ? nil : start + digits
    }

    /// The known code that comes first in a text, between characters that are neither letters nor digits.
    private func knownCode(in body: Data) -> String? {
        // Most bodies have none, and a check by bytes costs little.
        let bytes = Array(body)
        let codes = self.codes.keys.filter { bytes.place(of: Array($0.utf8)) != nil }
        guard !codes.isEmpty else { return nil }
        let text = String(decoding: body, as: UTF8.self)
        func isWordCharacter(_ character: Character?) -> Bool { character.map { $0.isLetter || $0.isNumber } ?? false }
        let found = codes.compactMap { code -> (code: String, place: String.Index)? in
            guard let range = text.range(of: code, options: .literal), !isWordCharacter(text[..<range.lowerBound].last),
                !isWordCharacter(text[range.upperBound...].first)
            else { return nil }
            return (code, range.lowerBound)
        }
        return found.min { $0.place < $1.place }?.code
    }

    private static func kind(ofStatus status: Int) -> Diagnosis.Kind {
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

extension ServiceReply {
    /// Code, message and request id, as the end of a sentence.
    var words: String {
        var text = ""
        if let code { text += ", code \(code)" }
        if let message, !message.isEmpty { text += ", \"\(message)\"" }
        if let requestID { text += " (request \(requestID))" }
        return text
    }
}
