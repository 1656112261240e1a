import Foundation
@_spi(Adapters) public import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The protection settings in a source's configuration, in the form that vendors need.
public nonisolated struct THEOplayerSource: Sendable {
    /// The integration parameters as text, with `licenseURL` and `certificateURL` from the configuration unless a parameter states them. Lists,
    /// dictionaries and other encodable values are JSON with sorted members.
    public var parameters: [String: String] = [:]
    /// The names of the integration parameters whose values cannot be written as text.
    public var unread: Set<String> = []
    /// Header fields for requests to the configured addresses.
    public var headers: [String: String] = [:]
    /// Query items for requests to the configured addresses.
    public var query: [String: String] = [:]
    /// `persistable` if THEOplayer stores the keys; `nil` otherwise.
    public var purpose: KeyPurpose?
    /// The app's name for the title, from `assetOf` of `THEOplayerKeys`; `nil` if it returns none.
    public var asset: AssetID?

    /// Creates an empty value.
    public init() {}

    /// The parameters that are not credentials of a profile, by the profile's own names.
    public func settings(of profile: VendorProfile) -> [String: String] {
        let credentials = profile.credentialNames
        return profile.renamed(parameters).filter { !credentials.contains($0.key) }
    }

    /// The names of the integration parameters that match neither the profile's own names nor those of the vendor's sample.
    public func unknownParameters(of profile: VendorProfile) -> [String] {
        let known = Set(profile.parameterNames + profile.sampleNames + ["licenseURL", "certificateURL"])
        return unread.union(parameters.keys).subtracting(known).sorted()
    }

    /// The parameters that are credentials of a profile, the same for every request. If the vendor accepts a token only once,
    /// pass `Credentials` to `THEOplayerKeys` instead.
    public func credentials(of profile: VendorProfile) -> Credentials {
        let names = profile.credentialNames
        return .fixed(
            CredentialSet(profile.renamed(parameters).filter { names.contains($0.key) }.mapValues { Secret($0) }))
    }

    /// A transport that adds the source's header fields and query items to requests for the source's addresses.
    public func transport(_ base: any Transport) -> any Transport {
        headers.isEmpty && query.isEmpty ? base : DecoratingTransport(base: base, source: self)
    }
}

/// Adds a source's header fields and query items to requests for the source's addresses only.
private nonisolated struct DecoratingTransport: Transport {
    let base: any Transport
    let source: THEOplayerSource

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await base.send(source.decorated(request), bodyLimit: bodyLimit)
    }
}

nonisolated extension THEOplayerSource {
    /// A request with the header fields and query items of the source, if it goes to one of the source's addresses.
    func decorated(_ request: URLRequest) -> URLRequest {
        let addresses = ["licenseURL", "certificateURL"].compactMap { parameters[$0].flatMap(URL.init) }
        guard let url = request.url, addresses.contains(where: { url.hasSameOrigin(as: $0) }) else { return request }
        var decorated = request
        for (name, value) in headers where request.value(forHTTPHeaderField: name) == nil {
            decorated.setValue(value, forHTTPHeaderField: name)
        }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return decorated }
        var items = parts.percentEncodedQueryItems ?? []
        let missing = query.filter { item in !items.contains { $0.name == item.key } }
        items += missing.sorted { $0.key < $1.key }.map {
            URLQueryItem(name: Self.encoded($0), value: Self.encoded($1))
        }
        if !missing.isEmpty { parts.percentEncodedQueryItems = items }
        decorated.url = parts.url ?? url
        return decorated
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-_.~"))
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

nonisolated extension URL {
    /// Whether scheme, host and port are equal.
    fileprivate func hasSameOrigin(as other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && port == other.port
    }
}
