package import Foundation

/// A JSON reply, read by path.
package struct JSONReply {
    let root: Any

    /// - Parameter body: the reply's body. The result is `nil` if it is not a JSON object or array.
    package init?(_ body: Data) {
        guard let root = try? JSONSerialization.jsonObject(with: body) else { return nil }
        self.root = root
    }

    /// A text, number or Boolean at a path, as text.
    ///
    /// A path consists of names of members and indexes of arrays, joined by dots. `*` means the first member or element in which the rest
    /// of the path finds a value. A text that is a JSON document is searched like one.
    package func text(at path: String) -> String? {
        switch Self.value(at: path[...], in: root) {
        case let text as String: text
        case let number as NSNumber: number.isBoolean ? "\(number.boolValue)" : number.stringValue
        default: nil
        }
    }

    /// A number at a path; `nil` for anything else, also for a text of digits.
    func number(at path: String) -> Double? {
        guard let number = Self.value(at: path[...], in: root) as? NSNumber, !number.isBoolean
        else { return nil }
        return number.doubleValue
    }

    private static func value(at path: Substring, in root: Any) -> Any? {
        guard !path.isEmpty else { return root is [Any] || root is [String: Any] ? nil : root }
        // Hundreds of paths are searched in each reply of a capture.
        let end = path.utf8.firstIndex(of: UInt8(ascii: ".")) ?? path.endIndex
        let (name, rest) = (path[..<end], path[end...].dropFirst())
        switch root {
        case let object as [String: Any]:
            guard name == "*" else { return object[String(name)].flatMap { value(at: rest, in: $0) } }
            return object.sorted { $0.key < $1.key }.lazy.compactMap { value(at: rest, in: $0.value) }.first
        case let array as [Any]:
            guard name == "*" else {
                return Int(name).flatMap { array.indices.contains($0) ? value(at: rest, in: array[$0]) : nil }
            }
            return array.lazy.compactMap { value(at: rest, in: $0) }.first
        case let text as String:
            return (try? JSONSerialization.jsonObject(with: Data(text.utf8))).flatMap { value(at: path, in: $0) }
        default: return nil
        }
    }
}

extension NSNumber {
    /// Whether the number came from `true` or `false`.
    fileprivate var isBoolean: Bool { String(cString: objCType) == "c" }
}
