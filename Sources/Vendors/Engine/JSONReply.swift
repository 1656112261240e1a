import Foundation

/// A JSON reply, read by path.
struct JSONReply {
    private let root: Any

    /// - Parameter body: the reply's body; nil where it is no JSON object or array.
    init?(_ body: Data) {
        guard let root = try? JSONSerialization.jsonObject(with: body) else { return nil }
        self.root = root
    }

    /// A text, number or Boolean at a path of member names and array indexes joined by dots, as text.
    func text(at path: String) -> String? {
        switch value(at: path) {
        case let text as String: text
        case let number as NSNumber: number.stringValue
        default: nil
        }
    }

    private func value(at path: String) -> Any? {
        path.split(separator: ".").reduce(root as Any?) { value, name in
            switch value {
            case let object as [String: Any]: return object[String(name)]
            case let array as [Any]: return Int(name).flatMap { array.indices.contains($0) ? array[$0] : nil }
            default: return nil
            }
        }
    }
}
