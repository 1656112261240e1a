import Foundation
import Latchkey
import LatchkeyCore
import LatchkeySupport
import LatchkeyTerminal
import LatchkeyVendors

/// Compares a recorded request with the request that a profile sends.
struct RequestComparison {
    let exchange: TrafficExchange
    let rule: RequestRule
    let profile: VendorProfile
    let places: [RecordedAddress]
    /// Header fields that the recorder left out, in lowercase.
    let leftOut: Set<String>

    private static let remedy = "Compare the request with the vendor's: latchkey wire request."

    var differences: [RequestFault] {
        [body, spelling, missingField, method, contentType].compactMap(\.self) + headers + query
            + [address].compactMap(\.self)
    }

    private var vendor: String { profile.vendor }

    // The body.

    /// Another form of body, or another place of the SPC in it.
    private var body: RequestFault? {
        guard exchange.request.gap == nil, let wanted = rule.body else { return nil }
        let words = "the body is \(exchange.sent.briefly), and \(vendor) takes \(wanted.inWords)"
        let other = RequestFault("bodyFormWrong", words, "Send \(wanted.inWords).")
        guard case .spc = exchange.sent.core else { return other }
        switch (wanted, exchange.sent) {
        case (.raw, .spc), (.base64Text, .base64(.spc)): return nil
        case (.form, .form(let name, .base64)), (.formWithKeyURIQuery, .form(let name, .base64)),
            (.multipart, .form(let name, .base64)):
            return wanted.spcPlace == name ? nil : other
        case (.json, .json):
            guard let place = wanted.spcPlace, let document = exchange.request.body.flatMap({ JSONReply($0) }) else {
                return nil
            }
            let holdsSPC = document.text(at: place).map { Recognition(Data($0.utf8)).core } == exchange.sent.core
            return holdsSPC ? nil : other
        default: return other
        }
    }

    /// The base64 of the SPC in the other alphabet, or with characters that a form loses.
    private var spelling: RequestFault? {
        guard exchange.request.gap == nil, let wanted = rule.body, let bytes = exchange.request.body,
            bytes.count <= 1 << 20,
            let spcRule = wanted.spcRule, case .spc = exchange.sent.core
        else { return nil }
        let text = String(decoding: bytes, as: UTF8.self)
        let value: Substring
        switch wanted {
        case .raw: return nil
        case .base64Text, .json, .multipart: value = text[...]
        case .form, .formWithKeyURIQuery:
            let field = text.split(separator: "&").first { $0.hasPrefix("\(wanted.spcPlace ?? "")=") } ?? ""
            value = field.drop { $0 != "=" }.dropFirst()
            let escaping = wanted.escapingOfSPC
            if escaping == .percent, value.contains("+") {
                return RequestFault(
                    "plusNotEncoded", "the “+” of the base64 are not percent-encoded, so the service reads spaces",
                    "Percent-encode the value: “+” is %2B.")
            }
            if escaping == BodyRule.Escaping.none, value.contains("%2B") || value.contains("%2F") {
                return RequestFault(
                    "encodedTwice", "the SPC is percent-encoded, and \(vendor) does not decode it",
                    "Send the base64 as it is.")
            }
        }
        let decoded = value.removingPercentEncoding.map { $0[...] } ?? value
        guard wanted.isPlainSPC else { return nil }
        let isURLSafe = decoded.contains { "-_".contains($0) } && !decoded.contains { "+/".contains($0) }
        let isStandard = decoded.contains { "+/".contains($0) }
        if case .base64Text = wanted, isURLSafe {
            return Self.alphabet("the URL-safe alphabet", "the standard one", vendor)
        }
        if case .form = wanted, spcRule == .spc, isURLSafe {
            return Self.alphabet("the URL-safe alphabet", "the standard one", vendor)
        }
        if case .form = wanted, spcRule == .spcURLSafe, isStandard {
            return Self.alphabet("the standard alphabet", "the URL-safe one", vendor)
        }
        return nil
    }

    private static func alphabet(_ found: String, _ wanted: String, _ vendor: String) -> RequestFault {
        RequestFault(
            "alphabetWrong", "the SPC is in base64 of \(found), and \(vendor) takes \(wanted)",
            "Encode it in \(wanted).")
    }

    private var missingField: RequestFault? {
        guard exchange.request.gap == nil, let wanted = rule.body else { return nil }
        let names = Set(exchange.shape.names)
        guard !names.isEmpty else { return nil }
        let needed: [(String, [TextRule])] =
            switch wanted {
            case .raw, .base64Text: []
            case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields):
                fields.map { ($0.name, [$0.value]) }
            case .json(.object(let members)): members.sorted { $0.key < $1.key }.map { ($0.key, $0.value.ruleTexts) }
            case .json: []
            }
        return needed.first { !names.contains($0.0) && isNeeded($0.1) }.map { name, rules in
            let isToken = rules.contains { !$0.names.credentials.isEmpty }
            return RequestFault(
                isToken ? "tokenMissing" : "fieldMissing", "the body has no “\(name)”, which \(vendor) reads",
                Self.remedy)
        }
    }

    /// Whether rules always return a text: they read nothing that may be absent.
    private func isNeeded(_ rules: [TextRule]) -> Bool {
        let required = Set(profile.parameters.filter(\.isRequired).map(\.name))
        return rules.flatMap(\.tree).allSatisfy { rule in
            switch rule {
            case .setting(let name), .credential(let name): required.contains(name)
            case .fixed, .request, .all, .transformed, .template, .joined: true
            default: false
            }
        } && !rules.isEmpty
    }

    // The head.

    private var method: RequestFault? {
        guard exchange.method != rule.method else { return nil }
        return RequestFault(
            "methodWrong",
            "the method is \(exchange.request.method.prefix(10).description.visible), and \(vendor) takes \(rule.method)",
            "Send the request with \(rule.method).")
    }

    /// A missing field means nothing if the recorder keeps no header fields.
    private var hasHeaders: Bool {
        exchange.request.headers.contains { $0.name.lowercased() != "content-type" }
    }

    private var contentType: RequestFault? {
        let stated = rule.headers.lazy.filter { $0.name.lowercased() == "content-type" }.compactMap {
            header -> String? in
            if case .fixed(let type) = header.value { type } else { nil }
        }.first
        guard let wanted = (stated ?? rule.body?.mediaType)?.lowercased(), let type = exchange.contentType else {
            return nil
        }
        let bare = wanted.prefix { $0 != ";" }.trimmingCharacters(in: .whitespaces)
        guard type != bare else { return nil }
        return RequestFault(
            "contentTypeWrong", "Content-Type is \(type.prefix(60).description.visible), and \(vendor) takes \(bare)",
            "Send Content-Type: \(wanted).")
    }

    private var headers: [RequestFault] {
        guard hasHeaders else { return [] }
        return rule.headers.compactMap { header in
            let name = header.name.replacing(/\{([A-Za-z]+)\}/) { profile.settings[String($0.1)] ?? "" }
            guard !name.isEmpty, name.lowercased() != "content-type", !header.value.names.credentials.isEmpty,
                isNeeded([header.value])
            else { return nil }
            guard let value = exchange.request.header(name) else {
                return leftOut.contains(name.lowercased()) ? nil : missing(name)
            }
            if RemovedValue.isOne(value) { return nil }
            let wantsBearer = header.value.tree.contains(.fixed("Bearer "))
            guard name.lowercased() == "authorization", wantsBearer != value.lowercased().hasPrefix("bearer ") else {
                return nil
            }
            return RequestFault(
                "tokenFormWrong",
                "Authorization holds the token \(wantsBearer ? "without" : "with") the word Bearer, and \(vendor) takes it \(wantsBearer ? "with" : "without")",
                "Send Authorization in the vendor's form.")
        }
    }

    private func missing(_ name: String) -> RequestFault {
        let elsewhere = tokenElsewhere(than: name).map { "; a token is in \($0)" } ?? ""
        return RequestFault(
            "headerMissing", "the header \(name) is missing, in which \(vendor) takes the token\(elsewhere)",
            "Send the token in the header \(name).")
    }

    /// Other places that seem to hold a token.
    private func tokenElsewhere(than name: String) -> String? {
        let secret = Redaction.standard
        let headers = exchange.request.headers.map(\.name).filter {
            $0.lowercased() != name.lowercased()
                && ($0.lowercased() == "authorization" || $0.lowercased().hasSuffix("token"))
        }
        if let header = headers.first { return "the header \(header.prefix(40).description.visible)" }
        let place = rule.body?.spcPlace?.lowercased()
        let items = (exchange.address.items.map(\.name) + exchange.fields.map(\.name)).filter {
            // The SPC's own field sounds secret, too.
            $0.lowercased() != place && !["spc", "challenge", "payload"].contains($0.lowercased())
        }
        return items.first { secret.isSecret(field: $0) }.map { "the field \($0.prefix(40).description.visible)" }
    }

    // The address.

    private var query: [RequestFault] {
        rule.url.changes.compactMap(\.queryItem).compactMap { name, rule in
            guard isNeeded([rule]), !rule.names.credentials.isEmpty || !rule.names.settings.isEmpty,
                exchange.address.value(of: name)?.isEmpty != false
            else { return nil }
            return RequestFault(
                "queryItemMissing", "the address has no \(name), which \(vendor) reads",
                "Add \(name) to the license URL.")
        }
    }

    private var address: RequestFault? {
        guard !places.isEmpty, !places.contains(where: exchange.address.isPlace),
            let place = places.first(where: { $0.host == exchange.address.host }), place.path != exchange.address.path
        else { return nil }
        let shown = { (path: String) in Redaction.standard.redacted(urlText: path).prefix(80).description.visible }
        return RequestFault(
            "addressWrong",
            "the path is \(shown(exchange.address.path)), and \(vendor)'s for this key is \(shown(place.path))",
            "Send the request to the address of the key.")
    }
}

extension BodyRule {
    /// The body's format, in words.
    fileprivate var inWords: String {
        let place = spcPlace.map { "“\($0)”" } ?? "for it"
        return switch self {
        case .raw: "the SPC's bytes"
        case .base64Text: "the SPC as base64 text"
        case .form, .formWithKeyURIQuery: "a form with the SPC in the field \(place)"
        case .multipart: "a form of parts with the SPC in the part \(place)"
        case .json: "JSON with the SPC in the member \(place)"
        }
    }

    fileprivate var mediaType: String {
        switch self {
        case .raw: "application/octet-stream"
        case .base64Text: "text/plain"
        case .form, .formWithKeyURIQuery: "application/x-www-form-urlencoded"
        case .json: "application/json"
        case .multipart: "multipart/form-data"
        }
    }

    /// The field, or the path of the member, with the SPC.
    fileprivate var spcPlace: String? {
        switch self {
        case .raw, .base64Text: nil
        case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields):
            fields.first { $0.value.holdsSPC }?.name
        case .json(let template): template.spcPath.map { $0.joined(separator: ".") }
        }
    }

    fileprivate var spcRule: TextRule? {
        rules.lazy.flatMap(\.tree).first { $0 == .spc || $0 == .spcURLSafe } ?? (self == .base64Text ? .spc : nil)
    }

    /// Whether the field with the SPC holds nothing else.
    fileprivate var isPlainSPC: Bool {
        switch self {
        case .base64Text: true
        case .form(let fields): fields.contains { $0.value == .spc || $0.value == .spcURLSafe }
        case .raw, .formWithKeyURIQuery, .json, .multipart: false
        }
    }

    fileprivate var escapingOfSPC: Escaping? {
        switch self {
        case .form(let fields), .formWithKeyURIQuery(let fields): fields.first { $0.value.holdsSPC }?.escaping
        case .raw, .base64Text, .json, .multipart: nil
        }
    }
}

extension TextRule {
    fileprivate var holdsSPC: Bool { tree.contains { $0 == .spc || $0 == .spcURLSafe } }
}

extension JSONTemplate {
    fileprivate var spcPath: [String]? {
        switch self {
        case .rule(let rule): rule.holdsSPC ? [] : nil
        case .object(let members):
            members.sorted { $0.key < $1.key }.lazy.compactMap { name, value in value.spcPath.map { [name] + $0 } }
                .first
        case .array(let elements):
            elements.enumerated().lazy.compactMap { index, value in value.spcPath.map { ["\(index)"] + $0 } }.first
        case .wholeNumber, .text, .number, .bool: nil
        }
    }

    /// The rules of a member that is a text or a number.
    fileprivate var ruleTexts: [TextRule] {
        switch self {
        case .rule(let rule), .wholeNumber(let rule): [rule]
        case .text(let text): [.fixed(text)]
        case .object, .array, .number, .bool: []
        }
    }
}
