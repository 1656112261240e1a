import Foundation
package import Latchkey
import LatchkeyCore
package import LatchkeyVendors

/// The form of a request's body, without its values.
package enum BodyShape: Equatable {
    /// No body, or a body that is missing in the capture.
    case unknown
    case raw
    case base64Text
    case form([String])
    case json([String])
    case multipart([String])

    /// - Parameter found: the body's contents, if known.
    package init(_ request: RecordedRequest, _ found: Recognition? = nil) {
        let type = request.header("Content-Type")?.lowercased() ?? ""
        guard let body = request.body, !body.isEmpty else {
            self = type.hasPrefix("application/octet-stream") ? .raw : .unknown
            return
        }
        self = Self.shape(of: body, found ?? Recognition(body), type)
    }

    init(_ rule: BodyRule) {
        switch rule {
        case .raw: self = .raw
        case .base64Text: self = .base64Text
        case .form(let fields), .formWithKeyURIQuery(let fields): self = .form(fields.map(\.name))
        case .multipart(let fields): self = .multipart(fields.map(\.name))
        case .json(.object(let members)): self = .json(members.keys.sorted())
        case .json: self = .json([])
        }
    }

    /// The names of its fields, members or parts.
    package var names: [String] {
        switch self {
        case .unknown, .raw, .base64Text: []
        case .form(let names), .json(let names), .multipart(let names): names
        }
    }

    private static func shape(of body: Data, _ found: Recognition, _ type: String) -> Self {
        switch found.core {
        // A body with something other than an SPC says nothing about the form in which the SPC is sent.
        case .certificate, .bundle, .certificateRequest, .pkcs7, .pkcs12, .privateKey, .publicKey, .pem, .otherSystem,
            .media, .gzip, .placeholder, .pointer, .webPage, .playlist, .readAsText:
            return .unknown
        default: break
        }
        guard let text = String(data: body, encoding: .utf8) else { return .raw }
        let trimmed = text.trimmingCharacters(in: .whitespacesAndNewlines)
        if trimmed.hasPrefix("{"), let json = try? JSONSerialization.jsonObject(with: body) as? [String: Any] {
            return .json(json.keys.sorted())
        }
        if type.hasPrefix("multipart/") { return .multipart(partNames(trimmed)) }
        if let names = fieldNames(trimmed), !type.hasPrefix("text/") { return .form(names) }
        if case .hexadecimal = found { return .unknown }
        return Data(lenientBase64: trimmed) != nil && trimmed.utf8.count >= 8 ? .base64Text : .raw
    }

    /// The names of a form's fields; `nil` if the text is not a form. The padding of base64 does not count as `=`.
    private static func fieldNames(_ text: String) -> [String]? {
        let fields = text.split(separator: "&")
        let names = fields.compactMap { field -> String? in
            guard let equals = field.firstIndex(of: "="), equals != field.startIndex else { return nil }
            let name = field[..<equals]
            return name.utf8.count <= 64 && name.utf8.allSatisfy { $0.isNameByte || $0 == UInt8(ascii: ".") }
                ? String(name) : nil
        }
        return names.count == fields.count && !names.isEmpty ? names : nil
    }

    private static func partNames(_ text: String) -> [String] {
        text.components(separatedBy: "; name=\"").dropFirst().map { String($0.prefix { $0 != "\"" }) }
    }
}

extension BodyShape {
    /// How well the form matches a profile's: a weight and a sentence.
    func fit(_ sent: BodyShape) -> (weight: Int, words: String)? {
        switch (self, sent) {
        case (.unknown, _), (_, .unknown): nil
        case (.raw, .raw): (5, "The body is bytes without an envelope.")
        case (.base64Text, .base64Text): (20, "The body is base64 text.")
        case (.form(let seen), .form(let names)): Self.fit(seen, names, "a form", weight: Self.formWeight(names))
        case (.json(let seen), .json(let names)): Self.fit(seen, names, "JSON", weight: Self.jsonWeight(names))
        case (.multipart(let seen), .multipart(let names)): Self.fit(seen, names, "a multipart form", weight: 20)
        default: (-30, "The profile sends another form of body.")
        }
    }

    private static func formWeight(_ names: [String]) -> Int { names.count == 1 ? 8 : names.count == 2 ? 10 : 25 }

    private static func jsonWeight(_ names: [String]) -> Int {
        switch names {
        case ["spc"], []: 10
        case ["assetId", "spc"]: 20
        default: names.contains("spc") ? 30 : 40
        }
    }

    private static func fit(
        _ seen: [String], _ names: [String], _ form: String, weight: Int
    ) -> (weight: Int, words: String) {
        let (all, wanted) = (Set(seen), Set(names))
        let list = names.sorted().joined(separator: ", ")
        if all == wanted { return (weight, "The body is \(form) of \(list).") }
        let common = all.intersection(wanted)
        if !common.isEmpty, common == wanted || common == all {
            return (weight / 3, "The body is \(form) with \(common.sorted().joined(separator: ", ")).")
        }
        return (-30, "The profile sends \(form) of \(list).")
    }
}
