import LatchkeyCore
package import LatchkeyForms
package import LatchkeyHTTP

/// The proxies whose word about a client counts.
///
/// Source: `Documentation/LicenseServer.md` §9.5.
package struct TrustedProxies: Sendable, Hashable {
    private let ranges: [AddressRange]
    private let field: ForwardingField
    /// How many hops are read at most. No chain is longer; a header of 16 KiB could hold thousands.
    private static let hopLimit = 32

    /// - Parameters:
    ///   - ranges: the proxies' addresses. None: the peer is the client.
    ///   - field: the one field that the proxies write. The other one is not read: a proxy that does not know it passes on the client's
    ///     value.
    package init(_ ranges: [AddressRange] = [], field: ForwardingField = .xForwardedFor) {
        self.ranges = ranges
        self.field = field
    }

    /// Whether a request comes from a trusted proxy, so that the proxy's fields may be believed.
    package func sent(_ request: HTTPRequest) -> Bool {
        AddressRange(address: request.remoteAddress).map(isTrusted) ?? false
    }

    /// The client's address: the first one from the right that does not belong to a trusted proxy.
    ///
    /// Where a trusted proxy says `unknown`, hides its client or writes an invalid address, the proxy itself counts as the client.
    /// - Returns: `nil` if the peer has no address, such as behind a socket of the file system.
    package func clientAddress(of request: HTTPRequest) -> AddressRange? {
        guard let peer = AddressRange(address: request.remoteAddress) else { return nil }
        guard isTrusted(peer) else { return peer }
        var client = peer
        for hop in ForwardedHops(request.headers, field).prefix(Self.hopLimit) {
            guard let hop else { return client }
            client = hop
            guard isTrusted(hop) else { return hop }
        }
        return client
    }

    private func isTrusted(_ address: AddressRange) -> Bool { ranges.contains { $0.contains(address) } }
}

/// A field in which a content delivery network states the client's country.
package struct CountryField: Sendable, Hashable {
    private let name: HTTPHeaderName

    /// - Parameter name: the field, such as `CF-IPCountry` or `CloudFront-Viewer-Country`.
    package init(_ name: HTTPHeaderName) { self.name = name }

    /// The country: two capital letters of ISO 3166-1.
    /// - Returns: `nil` if no trusted proxy sent the request, if there is not exactly one such field, and if it says that the country is
    ///   not known: `XX`, and `T1` for Tor.
    package func country(of request: HTTPRequest, through proxies: TrustedProxies) -> String? {
        let values = request.headers.values(of: name)
        guard values.count == 1, let value = values.first, proxies.sent(request) else { return nil }
        let country = value.uppercased()
        let isCode = country.utf8.count == 2 && country.utf8.allSatisfy { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= $0 }
        return isCode && country != "XX" ? country : nil
    }
}
