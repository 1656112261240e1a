import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// A deviation of a recorded license request from the expected one.
struct RequestFault: Sendable, Equatable {
    /// A stable name.
    let code: String
    /// A clause to follow "The service answered 500:".
    let words: String
    let remedy: String

    /// The parts of the request at fault.
    let parts: Set<RequestPart>

    private static let parts: [String: Set<RequestPart>] = [
        "headerMissing": [.token], "tokenFormWrong": [.token], "tokenMissing": [.token],
        "queryItemMissing": [.token, .address], "placeholderSent": [.token, .body, .address],
        "methodWrong": [.method], "contentTypeWrong": [.type], "addressWrong": [.address],
    ]

    /// - Parameter parts: the parts of the request at fault. Defaults to the parts that the code implies, or else the body.
    init(_ code: String, _ words: String, _ remedy: String, parts: Set<RequestPart>? = nil) {
        (self.code, self.words, self.remedy) = (code, words, remedy)
        self.parts = parts ?? Self.parts[code] ?? [.body]
    }
}

// Faults of license requests that do not depend on the vendor. The first is the diagnosis.
extension RequestFault {
    /// - Parameter isAlone: whether no profile states the content type.
    static func general(_ exchange: TrafficExchange, isAlone: Bool) -> [RequestFault] {
        let body = exchange.request.gap == nil ? payload(exchange.sent) ?? brokenLines(exchange) : wrongLength(exchange)
        return [body, placeholder(in: exchange), isAlone ? contradiction(exchange) : nil].compactMap(\.self)
    }

    /// Base64 in lines, as tools write it, which many services reject: openradar.appspot.com/15548542.
    private static func brokenLines(_ exchange: TrafficExchange) -> RequestFault? {
        guard case .spc = exchange.sent.core else { return nil }
        let whole = exchange.request.body.flatMap { String(data: $0, encoding: .utf8) }.map { ("body", $0) }
        let values = exchange.fields.map { ("“\($0.name.prefix(40))”", $0.value) } + [whole].compactMap(\.self)
        guard
            let found = values.first(where: { value in
                guard case .base64(.spc) = Recognition(value.1) else { return false }
                return value.1.withoutOuterSpace.contains(where: \.isNewline)
            })
        else { return nil }
        return Self(
            "spcHasLineBreaks", "the base64 of the SPC in \(found.0.visible) is broken into lines",
            "Encode it without line breaks: base64 -w 0, or the encoder's option for one line.")
    }

    /// An SPC's header and payload are whole blocks of 16 bytes. Source: `Documentation/FairPlay.md` §2.
    private static func wrongLength(_ exchange: TrafficExchange) -> RequestFault? {
        guard exchange.request.gap == .notSaved, exchange.contentType == "application/octet-stream",
            let length = exchange.request.header("Content-Length").flatMap({ Int($0) }), length > 0, length % 16 != 0
        else { return nil }
        let isCurl = exchange.request.header("User-Agent")?.lowercased().hasPrefix("curl/") == true
        return Self(
            "spcIsCutShort", "the body has \(length) bytes, and no SPC has that length",
            isCurl
                ? "Send the file with --data-binary @FILE: curl's -d takes line ends and NUL bytes out."
                : "Send the SPC's bytes as the player made them.")
    }

    /// A fault if the body holds something other than the SPC, or an SPC that was encoded once too often.
    private static func payload(_ sent: Recognition) -> RequestFault? {
        let asBytes = "Send the SPC's bytes as the vendor's form has them; never make text of them but by base64."
        switch sent.core {
        case .empty:
            return Self(
                "spcMissing", "the body is empty, and has to hold the SPC", "Send the SPC that the player made.")
        case .certificate, .bundle, .pkcs12, .pem:
            return Self(
                "spcIsCertificate", "the body holds \(sent.core.noun) in the SPC's place",
                "Send the SPC that the player made of the certificate, not the certificate.")
        case .ckc:
            return Self("spcIsCKC", "the body holds a CKC in the SPC's place", "Send the SPC that the player made.")
        case .privateKey:
            return Self(
                "spcIsPrivateKey", "the body holds a private key",
                "Take the key out of the app, have a new one made, and send the SPC.")
        case .damaged:
            return Self("spcIsCutShort", "the body holds \(sent.core.noun)", asBytes)
        case .readAsText:
            return Self("spcIsReadAsText", "the body is \(sent.core.noun)", asBytes)
        case .otherSystem, .gzip, .placeholder, .media:
            return Self(
                "spcIs\(sent.core.name)", "the body holds \(sent.core.noun) in the SPC's place",
                "Send the SPC that the player made.")
        case .spc: return wrapped(sent)
        default: return nil
        }
    }

    private static func wrapped(_ sent: Recognition) -> RequestFault? {
        let layers = sent.layers
        func count(_ matches: (Recognition) -> Bool) -> Int { layers.count(where: matches) }
        if count({ if case .percentEncoded = $0 { true } else { false } }) > 0 {
            let isWhole = if case .percentEncoded = sent { true } else { false }
            return Self(
                "encodedTwice", "\(isWhole ? "the whole body" : "the value") is percent-encoded once too often",
                "Percent-encode the value of each field alone, and once.")
        }
        if count({ if case .base64 = $0 { true } else { false } }) > 1 {
            return Self("encodedTwice", "the SPC is in base64 twice", "Encode the SPC once.")
        }
        if count({ if case .hexadecimal = $0 { true } else { false } }) > 0 {
            return Self(
                "spcIsHexadecimal", "the SPC is written in hexadecimal digits", "Send it as the vendor's form has it.")
        }
        if count({ if case .numbers = $0 { true } else { false } }) > 0 {
            return Self("spcIsNumbers", "the SPC is a list of numbers", "Send the bytes, or their base64.")
        }
        return nil
    }

    /// A value that a program writes if it has none.
    private static func placeholder(in exchange: TrafficExchange) -> RequestFault? {
        let query = exchange.address.items.map { ("query item \($0.name)", $0.value) }
        let headers = exchange.request.headers.map { header in
            let value = header.value.hasPrefix("Bearer ") ? String(header.value.dropFirst(7)) : header.value
            return ("header \(header.name)", value)
        }
        let places = query + headers + exchange.fields.map { ("field \($0.name)", $0.value) }
        guard
            let found = places.first(where: {
                Recognition.placeholders.contains($0.1.trimmingCharacters(in: .whitespaces))
            })
        else {
            return nil
        }
        let isSecret = found.0.split(separator: " ").last.map { Redaction.standard.isSecret(field: String($0)) } == true
        return Self(
            "placeholderSent",
            "the \(found.0.prefix(60).description.visible) is “\(found.1.trimmingCharacters(in: .whitespaces))”, which a program writes for a value that it does not have",
            "Have the app wait for the value before it asks for the license.", parts: isSecret ? [.token] : nil)
    }

    /// A content type that does not match the body's form.
    private static func contradiction(_ exchange: TrafficExchange) -> RequestFault? {
        guard exchange.request.gap == nil, let type = exchange.contentType else { return nil }
        let form = "application/x-www-form-urlencoded"
        let fits: Bool
        switch exchange.sent {
        case .form: fits = type == form || type.hasPrefix("multipart/")
        case .json: fits = type != form && type != "application/octet-stream" && !type.hasPrefix("multipart/")
        case .spc: fits = type != form && !type.hasSuffix("json") && !type.hasPrefix("multipart/")
        case .base64: fits = !type.hasSuffix("json") && !type.hasPrefix("multipart/")
        default: fits = true
        }
        return fits ? nil : .contentType(type, exchange.sent.briefly)
    }

    private static func contentType(_ type: String, _ body: String) -> RequestFault {
        Self(
            "contentTypeWrong", "Content-Type says \(type.prefix(60)), and the body is \(body)",
            "Send the Content-Type of the body's form.")
    }
}

// Deviations of a license request from its profile.
extension RequestFault {
    /// The differences, most telling first: body, method, content type, header fields, query, address.
    /// - Parameters:
    ///   - places: where the profile would send the recorded keys' requests.
    ///   - leftOut: header fields that the recorder left out, in lowercase.
    static func differences(
        _ exchange: TrafficExchange, from profile: VendorProfile, places: [RecordedAddress], leftOut: Set<String>
    ) -> [RequestFault] {
        let rules = [profile.license, profile.renewalRequest].compactMap(\.self)
        let found = rules.map { rule in
            RequestComparison(exchange: exchange, rule: rule, profile: profile, places: places, leftOut: leftOut)
                .differences
        }
        return found.min { $0.count < $1.count } ?? []
    }
}

extension TrafficExchange {
    /// The media type of the request; `nil` if it states none.
    var contentType: String? {
        request.header("Content-Type").map { type in
            type.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces).lowercased()
        }.flatMap { $0.isEmpty ? nil : $0 }
    }

    /// The fields of a form, decoded, and the texts of a JSON document's own members.
    var fields: [(name: String, value: String)] {
        guard let body = request.body, body.count <= 1 << 20 else { return [] }
        switch shape {
        case .form:
            return String(decoding: body, as: UTF8.self).split(separator: "&").prefix(64).map { field in
                let halves = field.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(
                    String.init)
                let value = halves.count > 1 ? halves[1] : ""
                return (halves[0], value.removingPercentEncoding ?? value)
            }
        case .json(let names):
            let json = JSONReply(body)
            return names.compactMap { name in
                let value = name.contains(".") ? nil : json?.text(at: name)
                return value.map { (name, $0) }
            }
        case .unknown, .raw, .base64Text, .multipart: return []
        }
    }
}

extension Recognition {
    /// A body's format in a few words: `base64 text`.
    var briefly: String {
        switch self {
        case .spc: "the SPC's bytes"
        case .base64: "base64 text"
        case .form(let field, _): "a form whose field “\(field)” holds \(core.noun)"
        case .json(let member?, _): "JSON whose member “\(member)” holds \(core.noun)"
        default: noun
        }
    }
}
