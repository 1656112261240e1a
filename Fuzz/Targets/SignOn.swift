import Foundation

/// The discovery document of an OpenID provider. Whatever is read from it is an https address.
func fuzzDiscovery(_ data: Data) {
    guard let document = try? ProviderDocument(json: data, issuer: "https://id.example") else { return }
    for url in [document.authorization, document.token, document.keys, document.endSession].compactMap(\.self) {
        require(url.scheme?.lowercased() == "https" && url.user() == nil, "no https address")
    }
}
