import Foundation
import LatchkeyCore

extension KeyTrace {
    /// OTLP's `TracesData` in JSON: identifiers in hexadecimal, times in nanoseconds as texts.
    ///
    /// Source: OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"; `opentelemetry/proto/trace/v1/trace.proto`.
    var openTelemetry: Data {
        let spans = exchanges.flatMap { exchange in exchange.spans.map { OpenTelemetry.Span($0, in: exchange) } }
        let scope = OpenTelemetry.ScopeSpans(scope: .init(name: "latchkey"), spans: spans)
        let resource = OpenTelemetry.Resource(attributes: [.text("service.name", "latchkey-client")])
        return TraceJSON.data(
            OpenTelemetry(resourceSpans: [.init(resource: resource, scopeSpans: [scope])]))
    }
}

/// The JSON of a file: keys in order, slashes as they are.
enum TraceJSON {
    static func data(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Nothing that is encoded here can fail: texts, whole numbers, and numbers that are finite.
        return ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
    }
}

private struct OpenTelemetry: Encodable {
    let resourceSpans: [ResourceSpans]

    struct ResourceSpans: Encodable {
        let resource: Resource
        let scopeSpans: [ScopeSpans]
    }

    struct Resource: Encodable { let attributes: [Attribute] }

    struct ScopeSpans: Encodable {
        let scope: Scope
        let spans: [Span]
    }

    struct Scope: Encodable { let name: String }

    struct Attribute: Encodable {
        let key: String
        let value: Value

        struct Value: Encodable {
            var stringValue: String?
            /// 64 bits are a text in this JSON.
            var intValue: String?
        }

        static func text(_ key: String, _ text: String) -> Self { Self(key: key, value: Value(stringValue: text)) }
        static func number(_ key: String, _ number: Int) -> Self { Self(key: key, value: Value(intValue: "\(number)")) }
    }

    struct Status: Encodable {
        /// 0 for unset, 2 for an error.
        let code: Int
        var message: String?
    }

    struct Span: Encodable {
        let traceId, spanId: String
        let parentSpanId: String?
        let name: String
        /// 1 for internal, 2 for a server's, 3 for a client's.
        let kind: Int
        let startTimeUnixNano, endTimeUnixNano: String
        let attributes: [Attribute]
        let status: Status
    }
}

extension OpenTelemetry.Span {
    init(_ span: TraceSpan, in exchange: TraceExchange) {
        traceId = exchange.traceID
        spanId = span.spanID
        parentSpanId = span.parentID
        name = span.name
        kind = span.kind == .request ? 3 : span.kind == .service ? 2 : 1
        let start = Self.nanoseconds(span.start)
        startTimeUnixNano = "\(start)"
        endTimeUnixNano = "\(start.addingReportingOverflow(Self.nanoseconds(span.length)).partialValue)"
        attributes = Self.attributes(span, exchange.identity)
        status = OpenTelemetry.Status(code: span.code == nil ? 0 : 2, message: span.code)
    }

    /// By the names of OpenTelemetry's semantic conventions for HTTP where there are any.
    private static func attributes(
        _ span: TraceSpan, _ identity: TraceExchange.Identity
    ) -> [OpenTelemetry.Attribute] {
        var attributes: [OpenTelemetry.Attribute] = []
        func text(_ key: String, _ text: String?) { if let text, !text.isEmpty { attributes.append(.text(key, text)) } }
        func number(_ key: String, _ number: Int?) { if let number { attributes.append(.number(key, number)) } }
        text("latchkey.owner", identity.owner)
        text("latchkey.key", identity.key)
        number("latchkey.key_request", identity.number)
        text("latchkey.stage", span.stage)
        number("latchkey.attempt", span.attempt)
        text("latchkey.waited_for", span.waitedFor)
        text("http.request.method", span.request?.method)
        text("url.full", span.request?.url)
        number("http.response.status_code", span.request?.status)
        number("http.request.body.size", span.request?.sentBytes)
        number("http.response.body.size", span.request?.receivedBytes)
        text("latchkey.request_id", span.request?.requestID)
        text("error.type", span.code)
        return attributes
    }

    /// Since 1970; 0 for a date before.
    private static func nanoseconds(_ date: Date) -> UInt64 {
        nanoseconds(.seconds(max(0, date.timeIntervalSince1970)))
    }

    private static func nanoseconds(_ length: Duration) -> UInt64 {
        let (seconds, attoseconds) = length.components
        let whole = UInt64(clamping: seconds).multipliedReportingOverflow(by: 1_000_000_000)
        return whole.overflow ? .max : whole.partialValue + UInt64(clamping: attoseconds / 1_000_000_000)
    }
}
