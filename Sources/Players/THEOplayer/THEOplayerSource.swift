import Foundation
public import Latchkey

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Hears why a key ended; nil for the key where the failure concerns all.
public typealias THEOplayerErrorListener = @Sendable (ContentKeyError, KeyURI?) -> Void

/// What an app says about the protection of a source, as far as vendors want to know it.
public struct THEOplayerSource: Sendable {
    /// The integration parameters that are texts, numbers or truth values, with `licenseURL` and `certificateURL` where the
    /// configuration states these addresses and no parameter does.
    public var parameters: [String: String] = [:]
    /// Header fields for requests to the configured addresses.
    public var headers: [String: String] = [:]
    /// Query items for requests to the configured addresses.
    public var query: [String: String] = [:]
    /// `persistable` where the keys are to be stored, which THEOplayer does by itself; nil otherwise.
    public var purpose: KeyPurpose?

    /// Makes one that says nothing.
    public init() {}

    /// The parameters that a profile does not know as credentials.
    public func settings(of profile: VendorProfile) -> [String: String] {
        let credentials = profile.credentialNames
        return parameters.filter { !credentials.contains($0.key) }
    }

    /// The parameters that a profile knows as credentials: the same for every request. Vendors that take a token once want the
    /// app to give `Credentials` instead.
    public func credentials(of profile: VendorProfile) -> Credentials {
        let names = profile.credentialNames
        return .fixed(CredentialSet(parameters.filter { names.contains($0.key) }.mapValues { Secret($0) }))
    }

    /// Carries requests with the header fields and query items of the source.
    public func transport(_ base: any Transport) -> any Transport {
        headers.isEmpty && query.isEmpty ? base : FurnishingTransport(base: base, source: self)
    }
}

extension VendorProfile {
    fileprivate var credentialNames: Set<String> { Set(parameters.filter(\.isCredential).map(\.name)) }
}

/// Adds what a source wants to be sent, to requests that go where the source says and nowhere else.
private struct FurnishingTransport: Transport {
    let base: any Transport
    let source: THEOplayerSource

    func send(_ request: URLRequest, bodyLimit: Int) async throws -> HTTPReply {
        try await base.send(furnished(request), bodyLimit: bodyLimit)
    }

    private func furnished(_ request: URLRequest) -> URLRequest {
        let addresses = ["licenseURL", "certificateURL"].compactMap { source.parameters[$0].flatMap(URL.init) }
        guard let url = request.url, addresses.contains(where: { url.isBeside($0) }) else { return request }
        var furnished = request
        for (name, value) in source.headers where request.value(forHTTPHeaderField: name) == nil {
            furnished.setValue(value, forHTTPHeaderField: name)
        }
        guard var parts = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return furnished }
        var items = parts.percentEncodedQueryItems ?? []
        let missing = source.query.filter { item in !items.contains { $0.name == item.key } }
        items += missing.sorted { $0.key < $1.key }.map {
            URLQueryItem(name: Self.encoded($0), value: Self.encoded($1))
        }
        if !missing.isEmpty { parts.percentEncodedQueryItems = items }
        furnished.url = parts.url ?? url
        return furnished
    }

    private static func encoded(_ text: String) -> String {
        let plain = CharacterSet(charactersIn: "a"..."z").union(CharacterSet(charactersIn: "A"..."Z"))
            .union(CharacterSet(charactersIn: "0"..."9")).union(CharacterSet(charactersIn: "-_.~"))
        return text.addingPercentEncoding(withAllowedCharacters: plain) ?? ""
    }
}

extension URL {
    /// Whether both have scheme, host and port in common.
    fileprivate func isBeside(_ other: URL) -> Bool {
        scheme?.lowercased() == other.scheme?.lowercased() && host?.lowercased() == other.host?.lowercased()
            && port == other.port
    }
}
