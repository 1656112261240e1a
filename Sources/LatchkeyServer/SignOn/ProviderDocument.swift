import Foundation
import LatchkeyCore
import LatchkeyForms

/// An OpenID provider's metadata.
///
/// Source: OpenID Connect Discovery 1.0 §3 and §4.3; RFC 9207 §3.
struct ProviderDocument: Sendable, Equatable {
    let authorization, token, keys: URL
    /// Where people are signed out of the provider; `nil` where it has no such address.
    let endSession: URL?
    /// Whether each answer to a sign-in names its issuer.
    let statesIssuer: Bool
    /// Whether the client's secret goes into the body, because the provider does not take it in a header.
    let takesSecretInBody: Bool

    /// - Parameters:
    ///   - json: the document.
    ///   - issuer: the expected issuer.
    /// - Throws: `SignOnRefusal` for another issuer's document, and for a provider that lacks a required feature.
    init(json: Data, issuer: String) throws(SignOnRefusal) {
        let value: JSONValue
        do throws(JSONError) { value = try JSONReader.value(of: json, depth: 8) } catch {
            throw .provider("Its discovery document \(error.reason)")
        }
        guard value["issuer"]?.text?.equalsByteForByte(issuer) == true else {
            throw .provider("The issuer in its discovery document is not operators.openID.issuer.")
        }
        authorization = try Self.address("authorization_endpoint", value)
        token = try Self.address("token_endpoint", value)
        keys = try Self.address("jwks_uri", value)
        endSession = value["end_session_endpoint"] == nil ? nil : try Self.address("end_session_endpoint", value)
        statesIssuer = value["authorization_response_iss_parameter_supported"] == .flag(true)
        if let methods = Self.texts("code_challenge_methods_supported", value), !methods.contains("S256") {
            throw .provider("It does not support PKCE with S256.")
        }
        let ways = Self.texts("token_endpoint_auth_methods_supported", value) ?? ["client_secret_basic"]
        takesSecretInBody = !ways.contains("client_secret_basic") && ways.contains("client_secret_post")
    }

    private static func texts(_ name: String, _ value: JSONValue) -> [String]? {
        guard case .array(let values)? = value[name] else { return nil }
        return values.compactMap(\.text)
    }

    private static func address(_ name: String, _ value: JSONValue) throws(SignOnRefusal) -> URL {
        guard let text = value[name]?.text, text.utf8.count <= 2_048, let url = URL(string: text),
            url.scheme?.lowercased() == "https", url.host()?.isEmpty == false, url.user() == nil, url.fragment() == nil
        else { throw .provider("Its discovery document has no https address in \(name).") }
        return url
    }
}

extension URL {
    /// The address with more items in its query, whatever they hold.
    func with(_ items: [(String, String)]) -> URL {
        var components = URLComponents(url: self, resolvingAgainstBaseURL: true)
        let query = [components?.percentEncodedQuery, FormText.text(items)].compactMap { $0 }.filter { !$0.isEmpty }
        components?.percentEncodedQuery = query.joined(separator: "&")
        return components?.url ?? self
    }
}

/// Names and values as forms send them.
enum FormText {
    static func text(_ items: [(String, String)]) -> String {
        items.map { "\(encoded($0))=\(encoded($1))" }.joined(separator: "&")
    }

    /// Everything but letters, digits and `-._~` as percent and two digits, which every reader takes.
    static func encoded(_ text: String) -> String {
        text.utf8.map { byte in
            let isPlain =
                switch byte {
                case UInt8(ascii: "a")...UInt8(ascii: "z"), UInt8(ascii: "A")...UInt8(ascii: "Z"),
                    UInt8(ascii: "0")...UInt8(ascii: "9"):
                    true
                default: "-._~".utf8.contains(byte)
                }
            return isPlain ? String(UnicodeScalar(byte)) : "%" + [byte].hexString.uppercased()
        }.joined()
    }
}
