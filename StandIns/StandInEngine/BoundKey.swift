import Foundation

/// A stored key together with the key identifier that it was made for. The stand-ins store nothing else.
///
/// Apple says that a stored key answers requests "with the matching key identifier". Source: `Documentation/Players.md` §3.4.
struct BoundKey {
    private static let mark = Data("bound".utf8)

    let identifier: String
    /// The bytes that the device's vault sealed.
    let sealed: Data

    /// The bytes that the app stores: `bound`, the identifier's length in two bytes, the identifier, and the sealed key.
    var bytes: Data {
        let name = Data(identifier.utf8)
        return Self.mark + [UInt8(name.count >> 8 & 0xff), UInt8(name.count & 0xff)] + name + sealed
    }

    init(_ sealed: Data, for identifier: String) {
        self.identifier = identifier
        self.sealed = sealed
    }

    /// - Returns: `nil` if the bytes are not a stored key.
    init?(_ bytes: Data) {
        let rest = bytes.dropFirst(Self.mark.count)
        guard bytes.starts(with: Self.mark), rest.count >= 2 else { return nil }
        let count = Int(rest[rest.startIndex]) << 8 | Int(rest[rest.startIndex + 1])
        let body = rest.dropFirst(2)
        guard body.count >= count else { return nil }
        identifier = String(decoding: body.prefix(count), as: UTF8.self)
        sealed = Data(body.dropFirst(count))
    }
}
