import LatchkeyCore

/// One request's trace: the trace, and the request's own span, the parent of the server's spans.
///
/// Source: W3C Trace Context §3.2.
package struct TraceParent: Sendable, Hashable, Codable {
    /// The whole trace, 32 hexadecimal digits in lower case.
    package let traceID: String
    /// The request's span, 16 hexadecimal digits in lower case.
    package let spanID: String

    /// The header field that carries it.
    static let field = "traceparent"

    /// The value of the header field; the trace counts as sampled, because it was requested.
    package var header: String { "00-\(traceID)-\(spanID)-01" }
}

/// Makes the identifiers of a loader's traces.
final class TraceIdentifiers: Sendable {
    /// The identifiers of one trace.
    struct Source: Sendable {
        fileprivate let identifiers: TraceIdentifiers
        fileprivate let traceID: String

        /// The fields of the trace's next request.
        func next() -> TraceParent { TraceParent(traceID: traceID, spanID: identifiers.make(bytes: 8)) }
    }

    private let generator: Locked<SeededGenerator>

    init(seed: UInt64) { generator = Locked(SeededGenerator(seed: seed)) }

    /// A new trace.
    func trace() -> Source { Source(identifiers: self, traceID: make(bytes: 16)) }

    /// Hexadecimal digits that are not all zero, which would be no identifier.
    fileprivate func make(bytes count: Int) -> String {
        generator.withLock { generator in
            while true {
                let bytes = generator.bytes(count)
                if bytes.contains(where: { $0 != 0 }) { return bytes.hexString }
            }
        }
    }
}
