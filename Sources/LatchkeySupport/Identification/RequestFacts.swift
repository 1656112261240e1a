import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyVendors

/// A recorded request, read once for comparison with all profiles.
struct RequestFacts {
    let request: RecordedRequest
    /// In uppercase.
    let method: String
    let host: String?
    /// In lowercase, undecoded, as UTF-8.
    let path: [UInt8]
    /// In lowercase.
    let queryNames: Set<String>
    let body: BodyShape
    private let fields: [String: String]

    /// - Parameter found: the body's contents, if known.
    init(_ request: RecordedRequest, _ found: Recognition? = nil) {
        self.request = request
        method = request.method.uppercased()
        fields = Dictionary(request.headers.map { ($0.name.lowercased(), $0.value) }) { first, _ in first }
        // Characters cost ten times as much as bytes, and a URL may be long.
        let url = Array(request.url.utf8)
        let scheme = url.place(of: Array("://".utf8))
        let behind = url[(scheme.map { $0 + 3 } ?? 0)...]
        let place = behind.prefix { $0 != UInt8(ascii: "?") && $0 != UInt8(ascii: "#") }
        path = place.drop { $0 != UInt8(ascii: "/") }.map(Self.small)
        let authority = place.prefix { $0 != UInt8(ascii: "/") }
        host =
            scheme == nil ? fields["host"]?.hostName : String(decoding: authority, as: UTF8.self).hostName
        let query = behind.drop { $0 != UInt8(ascii: "?") }.dropFirst().prefix { $0 != UInt8(ascii: "#") }
        queryNames = Set(
            query.split(separator: UInt8(ascii: "&")).map { item in
                String(decoding: item.prefix { $0 != UInt8(ascii: "=") }, as: UTF8.self).lowercased()
            })
        body = BodyShape(request, found)
    }

    /// The first value of a header field.
    /// - Parameter name: the field, in lowercase.
    func header(_ name: String) -> String? { fields[name] }

    /// Whether the path contains a part.
    /// - Parameter part: in lowercase.
    func pathHolds(_ part: [UInt8]) -> Bool { path.place(of: part) != nil }

    private static func small(_ byte: UInt8) -> UInt8 {
        UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte ? byte | 0x20 : byte
    }
}
