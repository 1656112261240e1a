package import LatchkeyHTTP

/// A version of SPEKE, by its header value, and its version of CPIX.
///
/// Source: `Documentation/LicenseServer.md` §2.1.
package enum SPEKEVersion: String, Sendable, Hashable {
    /// Version 1, which has no header.
    case version1 = "1.0"
    /// Version 2.0, with CPIX 2.3.
    case version2_0 = "2.0"
    /// Version 2.1, with CPIX 2.4.
    case version2_1 = "2.1"

    /// The version that a request's headers name; `nil` for an unknown one.
    package init?(_ headers: HTTPHeaders) {
        let values = Set(headers.values(of: .spekeVersion))
        guard let value = values.first else {
            self = .version1
            return
        }
        guard values.count == 1, let version = Self(rawValue: value), version != .version1 else { return nil }
        self = version
    }

    /// The required value of `CPIX@version`; `nil` for any.
    var documentVersion: String? {
        switch self {
        case .version1: nil
        case .version2_0: "2.3"
        case .version2_1: "2.4"
        }
    }
}

extension HTTPHeaderName {
    /// The version of SPEKE, in requests and replies.
    package static let spekeVersion: HTTPHeaderName = "X-Speke-Version"
    /// The responder, in version 2.
    package static let spekeUserAgent: HTTPHeaderName = "X-Speke-User-Agent"
    /// The responder, in version 1.
    package static let spekeUserAgentVersion1: HTTPHeaderName = "Speke-User-Agent"
}
