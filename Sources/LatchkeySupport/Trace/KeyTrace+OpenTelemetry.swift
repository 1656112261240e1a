import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

extension KeyTrace {
    /// OTLP's `TracesData` in JSON: identifiers in hexadecimal, times in nanoseconds as texts.
    ///
    /// Source: OpenTelemetry Protocol 1.x, "JSON Protobuf Encoding"; `opentelemetry/proto/trace/v1/trace.proto`.
    var openTelemetry: Data {
        let spans = exchanges.flatMap { exchange in exchange.spans.map { $0.openTelemetry(in: exchange) } }
        let scope: JSON = ["scope": ["name": "latchkey"], "spans": spans]
        let resource: JSON = ["attributes": [JSON(attribute: "service.name", "latchkey-client")]]
        return TraceJSON.data(["resourceSpans": [["resource": resource, "scopeSpans": [scope]] as JSON]])
    }
}

/// The JSON of a file: sorted keys, unescaped slashes.
enum TraceJSON {
    static func data(_ value: some Encodable) -> Data {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Encoding cannot fail here: texts, whole numbers, and finite numbers.
        return ((try? encoder.encode(value)) ?? Data("{}".utf8)) + Data("\n".utf8)
    }
}

/// A JSON object to write: without the members that are `nil`.
struct JSON: Encodable, ExpressibleByDictionaryLiteral {
    private let members: [(String, (any Encodable)?)]

    init(dictionaryLiteral members: (String, (any Encodable)?)...) { self.members = members }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: Name.self)
        for (name, value) in members {
            if let value { try container.encode(value, forKey: Name(stringValue: name)) }
        }
    }

    private struct Name: CodingKey {
        let stringValue: String
        var intValue: Int? { nil }

        init(stringValue: String) { self.stringValue = stringValue }
        init?(intValue: Int) { nil }
    }
}

extension JSON {
    fileprivate init(attribute key: String, _ text: String) { self = ["key": key, "value": ["stringValue": text]] }

    /// 64-bit integers are texts in this JSON.
    fileprivate init(attribute key: String, _ number: Int) {
        self = ["key": key, "value": ["intValue": "\(number)"]]
    }
}

extension TraceSpan {
    fileprivate func openTelemetry(in exchange: TraceExchange) -> JSON {
        let begin = Self.nanoseconds(start)
        let end = begin.addingReportingOverflow(Self.nanoseconds(length)).partialValue
        // For a client's, a server's and another; 0 for unset, 2 for an error.
        let (kind, status) = (self.kind == .request ? 3 : self.kind == .service ? 2 : 1, code == nil ? 0 : 2)
        return [
            "traceId": exchange.traceID, "spanId": spanID, "parentSpanId": parentID, "name": name, "kind": kind,
            "startTimeUnixNano": "\(begin)", "endTimeUnixNano": "\(end)", "attributes": attributes(exchange.identity),
            "status": ["code": status, "message": code] as JSON,
        ]
    }

    /// Uses the names of OpenTelemetry's semantic conventions for HTTP if there are any.
    private func attributes(_ identity: TraceExchange.Identity) -> [JSON] {
        var attributes: [JSON] = []
        func text(_ key: String, _ text: String?) {
            if let text, !text.isEmpty { attributes.append(JSON(attribute: key, text)) }
        }
        func number(_ key: String, _ number: Int?) {
            if let number { attributes.append(JSON(attribute: key, number)) }
        }
        text("latchkey.owner", identity.owner)
        text("latchkey.key", identity.key)
        number("latchkey.key_request", identity.number)
        text("latchkey.stage", stage)
        number("latchkey.attempt", exchange?.attempt)
        text("latchkey.waited_for", waitedFor)
        text("http.request.method", exchange?.request?.method)
        text("url.full", exchange?.request?.url)
        number("http.response.status_code", exchange?.reply?.status)
        number("http.request.body.size", exchange?.sentBytes)
        number("http.response.body.size", exchange?.receivedBytes)
        text("latchkey.request_id", exchange?.requestID)
        text("error.type", code)
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
