import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a request is made: method, URL, header fields and body.
package struct RequestRule: Sendable, Hashable {
    /// The HTTP method.
    package var method: String
    /// The URL.
    package var url: URLRule
    /// The header fields. A field whose rule gives nothing is left out.
    package var headers: [Header]
    /// The body; `nil` for a GET.
    package var body: BodyRule?

    /// Makes a rule.
    package init(method: String = "GET", url: URLRule, headers: [Header] = [], body: BodyRule? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
    }

    /// A header field and where its value comes from.
    package struct Header: Sendable, Hashable {
        /// The field's name. A setting's name in braces, `{header}`, stands for the setting's value.
        package var name: String
        /// Where its value comes from.
        package var value: TextRule

        /// Makes a header field.
        package init(_ name: String, _ value: TextRule) {
            self.name = name
            self.value = value
        }
    }
}

extension RequestRule {
    /// All rules in it.
    var rules: [TextRule] { url.rules + headers.flatMap { [.template($0.name), $0.value] } + (body?.rules ?? []) }

    /// The names of the settings and credentials that the request reads.
    var names: (settings: Set<String>, credentials: Set<String>) { TextRule.names(of: rules) }

    /// Whether the request sends the name of the key.
    var readsContentID: Bool { rules.flatMap(\.tree).contains(.contentID) }

    /// Whether the request sends the SPC.
    var sendsSPC: Bool {
        switch body {
        case .raw, .base64Text: true
        case nil, .form, .formWithKeyURIQuery, .json, .multipart:
            rules.flatMap(\.tree).contains { [.spc, .spcURLSafe].contains($0) }
        }
    }

    /// The request.
    func request(_ context: RuleContext, for use: String = "license URL") throws(IntegrationError) -> URLRequest {
        var request = URLRequest(url: try url.url(context, for: use))
        request.httpMethod = method
        if let body {
            request.setValue(body.contentType, forHTTPHeaderField: "Content-Type")
            request.httpBody = try body.data(context)
        }
        for header in headers {
            guard let value = context.text(header.value), !value.isEmpty else { continue }
            // A line break would end the field and begin another.
            guard !value.utf8.contains(where: { $0 < 0x20 || $0 == 0x7f }) else {
                throw IntegrationError(
                    .invalidRequest, "The value for the header \(header.name) contains a control character.",
                    remedy: "Remove line breaks from the credential or setting.")
            }
            request.setValue(value, forHTTPHeaderField: try header.fieldName(context))
        }
        return request
    }
}

extension RequestRule.Header {
    /// The field's name with settings filled in.
    func fieldName(_ context: RuleContext) throws(IntegrationError) -> String {
        let filled = try context.requiredText(.template(name), for: "name of a header field")
        guard filled.utf8.allSatisfy(Self.isNameByte) else {
            throw IntegrationError(
                .invalidRequest, "The setting for the header \(name) is not a valid header field name.",
                remedy: "Give the setting letters, digits and hyphens only.")
        }
        return filled
    }

    /// Source: RFC 9110 §5.6.2, token.
    private static func isNameByte(_ byte: UInt8) -> Bool {
        switch byte {
        case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"): true
        case UInt8(ascii: "0")...UInt8(ascii: "9"): true
        default: "!#$%&'*+-.^_`|~".utf8.contains(byte)
        }
    }
}
