import Foundation
import LatchkeyServices
import LatchkeyTerminal

/// A fault in the form of `--fault`: `[SERVICE/]ENDPOINT=FAULT[*TIMES]`, such as `vudrm/license=status:503*2`.
struct FaultOrder: Sendable, Equatable {
    /// The service that misbehaves; `nil` for all.
    let service: ServiceIdentifier?
    let endpoint: ServiceEndpoint
    let fault: Fault
    let span: FaultSwitch.Span

    /// The faults and their effects, for the help.
    static let help: [(String, String)] = [
        ("status:N", "status N and no more"),
        ("unavailable:SECONDS", "status 503 with Retry-After"),
        (
            "refusal:CODE",
            "the vendor's own error reply with a code of its page, such as drm_3034, and the page's status"
        ),
        ("refusal:CODE:STATUS", "the same with any code and this status"),
        ("delay:SECONDS", "the right answer, late"),
        ("reset", "the connection is reset"),
        ("empty", "status 200 without a body"),
        ("page", "status 200 with a web page"),
        ("truncated", "half of the certificate or CKC"),
        ("garbage", "bytes that are neither a certificate nor a CKC"),
        ("type", "the right answer as text/html"),
    ]

    /// - Throws: why the text does not name a fault.
    init(_ text: String) throws(UsageError) {
        let (place, order) = Self.cut(text, at: "=")
        guard let order, !place.isEmpty else { throw UsageError("needs [SERVICE/]ENDPOINT=FAULT, not \(quoted(text))") }
        let (first, second) = Self.cut(place, at: "/")
        service = second == nil ? nil : ServiceIdentifier(rawValue: first)
        endpoint = ServiceEndpoint(rawValue: second ?? first)
        let (words, times) = Self.cut(order, at: "*")
        if let times {
            guard let count = Int(times), (1...1_000_000).contains(count) else {
                throw UsageError("needs a number of requests behind the *, not \(quoted(times))")
            }
            span = .first(count)
        } else {
            span = .always
        }
        fault = try Self.fault(words)
    }

    private static func fault(_ text: String) throws(UsageError) -> Fault {
        let parts = text.split(separator: ":", maxSplits: 2, omittingEmptySubsequences: false).map(String.init)
        switch (parts[0], parts.dropFirst().first, parts.dropFirst(2).first) {
        case ("status", let number?, nil): return .status(try status(number))
        case ("unavailable", let time?, nil): return .unavailable(retryAfter: try seconds(time))
        case ("delay", let time?, nil): return .delay(try seconds(time))
        case ("refusal", let code?, nil) where !code.isEmpty: return .refusal(code: code)
        case ("refusal", let code?, let number?) where !code.isEmpty:
            return .refusal(code: code, status: try status(number))
        case ("reset", nil, nil): return .connectionReset
        case ("empty", nil, nil): return .emptyBody
        case ("page", nil, nil): return .htmlPage
        case ("truncated", nil, nil): return .truncatedPayload
        case ("garbage", nil, nil): return .garbagePayload
        case ("type", nil, nil): return .wrongContentType
        default:
            throw UsageError("needs one of \(help.map(\.0).joined(separator: ", ")), not \(quoted(text))")
        }
    }

    private static func status(_ text: String) throws(UsageError) -> Int {
        guard let status = Int(text), (200...599).contains(status) else {
            throw UsageError("needs a status from 200 to 599, not \(quoted(text))")
        }
        return status
    }

    private static func seconds(_ text: String) throws(UsageError) -> Duration {
        guard let seconds = Double(text), (0...86_400).contains(seconds) else {
            throw UsageError("needs seconds from 0 to 86400, not \(quoted(text))")
        }
        return .milliseconds(Int64(seconds * 1_000))
    }

    /// The parts before and after the first separator.
    private static func cut(_ text: String, at separator: Character) -> (String, String?) {
        guard let index = text.firstIndex(of: separator) else { return (text, nil) }
        return (String(text[..<index]), String(text[text.index(after: index)...]))
    }
}

extension ValueForm<FaultOrder> {
    static let fault = ValueForm(placeholder: "WHERE=FAULT") { text throws(UsageError) in try FaultOrder(text) }
}
