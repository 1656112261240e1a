import Foundation
import Testing

/// The worked example of the article "Describe a vendor in JSON".
enum DocumentedProfile {
    static func article() throws -> String {
        let file = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../../Sources/LatchkeyVendors/LatchkeyVendors.docc/DescribeAVendorInJSON.md")
        return try String(contentsOf: file, encoding: .utf8)
    }

    static func json() throws -> Data {
        let text = try article()
        let start = try #require(text.range(of: "```json\n")?.upperBound)
        let end = try #require(text[start...].range(of: "\n```")?.lowerBound)
        return Data(text[start..<end].utf8)
    }

    /// The example with the value at a place replaced, or removed if the value is empty.
    /// - Parameters:
    ///   - place: in a problem's form: `license.headers[0].value`.
    ///   - value: JSON.
    static func json(with value: String, at place: String) throws -> Data {
        let keys = place.replacing("[", with: ".").replacing("]", with: "").split(separator: ".").map(String.init)
        let new =
            value.isEmpty ? nil : try JSONSerialization.jsonObject(with: Data(value.utf8), options: .fragmentsAllowed)
        let root = try JSONSerialization.jsonObject(with: json())
        return try JSONSerialization.data(withJSONObject: replace(keys[...], in: root, by: new) as Any)
    }

    private static func replace(_ keys: ArraySlice<String>, in node: Any?, by value: Any?) -> Any? {
        guard let key = keys.first else { return value }
        if var array = node as? [Any], let index = Int(key), array.indices.contains(index) {
            array[index] = replace(keys.dropFirst(), in: array[index], by: value) ?? NSNull()
            return array
        }
        var object = node as? [String: Any] ?? [:]
        object[key] = replace(keys.dropFirst(), in: object[key], by: value)
        return object
    }
}
