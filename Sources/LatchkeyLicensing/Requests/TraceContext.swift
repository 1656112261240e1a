import LatchkeyCore
package import LatchkeyHTTP

/// A request's place in a trace: its parent, and the fields for its own calls.
///
/// Source: W3C Trace Context §3; `Documentation/LicenseServer.md` §9.4.
package struct TraceContext: Sendable, Hashable {
    /// The whole trace, 32 hexadecimal digits in lower case.
    package let traceID: String
    /// The caller's span, 16 hexadecimal digits in lower case; `nil` if the trace begins here.
    package let parentID: String?
    /// The server's own span, 16 hexadecimal digits in lower case.
    package let spanID: String
    /// The flags; only the lowest bit, sampled, is passed on.
    package let isSampled: Bool
    /// The state that tracing systems pass along, at most 512 characters; `nil` if there is nothing.
    package let state: String?

    /// Continues a request's trace, or begins a new one if its `traceparent` is missing, doubled or invalid.
    package init(of headers: HTTPHeaders, using generator: inout some RandomNumberGenerator) {
        spanID = Self.identifier(bytes: 8, using: &generator)
        let fields = headers.values(of: Self.parentField)
        if fields.count == 1, let parent = fields.first.flatMap(Self.parent) {
            (traceID, parentID, isSampled) = (parent.trace, parent.span, parent.isSampled)
            state = Self.state(headers.values(of: Self.stateField))
        } else {
            (traceID, parentID, isSampled) = (Self.identifier(bytes: 16, using: &generator), nil, false)
            state = nil
        }
    }

    /// The fields for a call that this request makes.
    package var headers: HTTPHeaders {
        var headers: HTTPHeaders = [Self.parentField: "00-\(traceID)-\(spanID)-\(isSampled ? "01" : "00")"]
        if let state { headers.append(Self.stateField, state) }
        return headers
    }

    private static let parentField: HTTPHeaderName = "traceparent"
    private static let stateField: HTTPHeaderName = "tracestate"

    /// Reads `00-TRACE-SPAN-FLAGS`. A later version may have more behind the flags.
    private static func parent(_ text: String) -> (trace: String, span: String, isSampled: Bool)? {
        let parts = text.split(separator: "-", maxSplits: 4, omittingEmptySubsequences: false).map(String.init)
        guard parts.count >= 4, isHex(parts[0], 2), parts[0] != "ff", parts.count == 4 || parts[0] != "00",
            isHex(parts[1], 32), isHex(parts[2], 16), isHex(parts[3], 2), !isZero(parts[1]), !isZero(parts[2]),
            let flags = UInt8(parts[3], radix: 16)
        else { return nil }
        return (parts[1], parts[2], flags & 1 == 1)
    }

    /// The lines of `tracestate` as one; `nil` if it is empty, too long, or holds characters that a header may not have.
    private static func state(_ lines: [String]) -> String? {
        let state = lines.filter { !$0.isEmpty }.joined(separator: ",")
        guard 1...512 ~= state.utf8.count, state.utf8.allSatisfy({ 0x20...0x7e ~= $0 }) else { return nil }
        return state
    }

    private static func isZero(_ text: String) -> Bool { text.utf8.allSatisfy { $0 == UInt8(ascii: "0") } }

    private static func isHex(_ text: String, _ count: Int) -> Bool {
        text.utf8.count == count
            && text.utf8.allSatisfy {
                UInt8(ascii: "0")...UInt8(ascii: "9") ~= $0 || UInt8(ascii: "a")...UInt8(ascii: "f") ~= $0
            }
    }

    private static func identifier(bytes count: Int, using generator: inout some RandomNumberGenerator) -> String {
        while true {
            let text = generator.bytes(count).hexString
            if !isZero(text) { return text }
        }
    }
}
