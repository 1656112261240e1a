public import Foundation
public import LatchkeyCore

extension ContentKeyStore {
    /// Reads a `keys.json`: `{"keys":[{"uri":…,"keyId":…,"key":…,"iv":…}]}`. The last three are 16 bytes each as hexadecimal digits.
    ///
    /// - Parameter json: the file's bytes.
    /// - Throws: `keysUnreadable` for other JSON, `keyMalformed` with the index of the first wrong entry.
    public init(json: Data) throws(Diagnosis) {
        let file: KeysFile
        do { file = try JSONDecoder().decode(KeysFile.self, from: json) } catch { throw .unreadable }
        var keys: [StoredKey] = []
        for (index, entry) in file.keys.enumerated() {
            guard let id = KeyID(entry.keyId), let content = entry.content else {
                throw .malformed(index, entry.uri)
            }
            keys.append(StoredKey(uri: KeyURI(entry.uri), id: id, content: content))
        }
        self.init(keys)
    }

    /// Reads a `keys.json` from a file.
    ///
    /// - Throws: `keysUnreadable` if the file cannot be read, and the errors of `init(json:)`.
    public init(contentsOf file: URL) throws(Diagnosis) {
        let json: Data
        do { json = try Data(contentsOf: file) } catch { throw .unreadable }
        try self.init(json: json)
    }
}

/// The reasons that a `keys.json` is refused.
extension Diagnosis {
    fileprivate static let unreadable = Diagnosis(
        code: "keysUnreadable", reason: "The key file is not there or is not the JSON of a key file.",
        remedy: #"Write it as {"keys":[{"uri":…,"keyId":…,"key":…,"iv":…}]}."#)

    fileprivate static func malformed(_ index: Int, _ uri: String) -> Diagnosis {
        Diagnosis(
            code: "keyMalformed",
            reason: "Entry \(index) (\(uri.prefix(80))) has a keyId, key or iv that is not 16 bytes.",
            remedy: "Give each of them as 32 hexadecimal digits.")
    }
}

private struct KeysFile: Decodable {
    struct Entry: Decodable {
        let uri: String
        let keyId: String
        let key: String
        let iv: String

        var content: ContentKey? {
            guard let key = Data(hexString: key), let iv = Data(hexString: iv) else { return nil }
            return ContentKey(key: Secret(key), iv: Secret(iv))
        }
    }

    let keys: [Entry]
}
