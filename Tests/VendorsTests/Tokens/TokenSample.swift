import Foundation
import LatchkeyCore
import LatchkeyVendors

/// Tokens that open nothing, and the time at which the tests look at them: 2024-06-01, noon.
enum TokenSample {
    static let now = Date(timeIntervalSince1970: 1_717_243_200)
    static let past = 1_717_243_199
    static let future = 1_717_246_800
    static let keyID = "00112233-4455-6677-8899-aabbccddeeff"
    /// A token of VuDRM's form, from the vendor's documentation.
    static let vuDRM =
        "demo-client|2024-01-02T03:04:05Z|AAAAAAAAAAAAAAAAAAAAAA==|0000000000000000000000000000000000000000"
    static let signature = "c2lnbmF0dXJl"

    /// A JWT with these claims, written as JSON.
    static func jwt(_ claims: String, header: String = #"{"alg":"HS256"}"#) -> String {
        "\(base64URL(header)).\(base64URL(claims)).\(signature)"
    }

    static func base64(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    private static func base64URL(_ text: String) -> String {
        base64(text).replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

extension TokenInspection {
    var codes: [String] { advice.map(\.code) }

    subscript(fact name: String) -> String? { facts.first { $0.name == name }?.value }
}
