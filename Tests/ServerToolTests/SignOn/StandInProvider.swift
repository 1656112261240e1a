import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTesting
import TLSPeer

@testable import LatchkeyDecision
@testable import LatchkeyForms
@testable import LatchkeyHTTP
@testable import LatchkeyServer

/// A small OpenID provider, over TLS on loopback, that can break each rule for providers.
///
/// It checks what real providers check: the client's secret, PKCE, the redirect, and that a code is used once.
final class StandInProvider: Sendable {
    /// Its fault; `none` breaks no rule.
    enum Fault: String, Sendable, CaseIterable {
        case none
        // Its discovery document.
        case otherIssuerInDocument, plainAuthorization, noS256, documentIsNoJSON, hugeDocument, documentIsGone
        // Its answer to the browser.
        case otherIssuerInAnswer, noIssuerInAnswer, codeOfAnotherSession, declined, scriptAsError
        // Its token endpoint.
        case tokenElsewhere, tokenRedirects, noIDToken, hugeToken, tokenIsNoJSON, tokenFails
        // Its ID token.
        case otherIssuer, otherAudience, noAudience, severalAudiences, otherParty, otherNonce, noNonce
        case noAlgorithm, publicKeyAsSecret, otherAlgorithm, otherKey, brokenSignature, keyInHeader
        case expired, issuedLater, noIssueTime, noSubject, subjectIsNumber, livesForDays
        // Its key set.
        case secretInKeySet, hugeKeySet, keySetIsGone
    }

    private struct Code {
        let challenge, nonce, redirect: String
    }

    private struct State {
        var codes: [String: Code] = [:]
        var fault = Fault.none
        var isAway = false
        var groups = ["video-operators"]
        var signer: TokenSigner
        /// The address of the token endpoint, if it is elsewhere.
        var tokenAddress: String?
        var requests: [String] = []
    }

    static let clientID = "latchkey"
    static let secret = "a secret: with % and ü"

    let certificate: SelfSigned
    let issuer: String
    private let server: HTTPServer
    private let state: Locked<State>
    private let time: any Timekeeper

    init(time: any Timekeeper) throws {
        let certificate = try SelfSigned()
        let state = Locked(State(signer: try TokenSigner(generating: .es256, id: TokenKeyID("key-1"))))
        var configuration = HTTPServerConfiguration()
        configuration.tls = .init(certificate: certificate.certificate, privateKey: certificate.privateKey)
        let issuerName = Locked("")
        server = HTTPServer(configuration) { request in
            Self.answer(request, state, issuer: issuerName.withLock { $0 }, at: time.date)
        }
        let issuer = "https://localhost:\(try server.start())"
        issuerName.withLock { $0 = issuer }
        (self.certificate, self.issuer, self.state, self.time) = (certificate, issuer, state, time)
    }

    func stop() async { await server.stop(within: .zero) }

    var fault: Fault {
        get { state.withLock { $0.fault } }
        set { state.withLock { $0.fault = newValue } }
    }
    /// Whether it answers 503 to everything.
    var isAway: Bool {
        get { state.withLock { $0.isAway } }
        set { state.withLock { $0.isAway = newValue } }
    }
    var groups: [String] {
        get { state.withLock { $0.groups } }
        set { state.withLock { $0.groups = newValue } }
    }
    var tokenAddress: String? {
        get { state.withLock { $0.tokenAddress } }
        set { state.withLock { $0.tokenAddress = newValue } }
    }
    /// The paths that it was asked for.
    var requests: [String] { state.withLock { $0.requests } }

    /// Signs with another key from now on.
    func rotate() throws {
        let signer = try TokenSigner(generating: .es256, id: TokenKeyID("key-2"))
        state.withLock { $0.signer = signer }
    }

    private static func answer(
        _ request: HTTPRequest, _ state: Locked<State>, issuer: String, at date: Date
    ) -> HTTPResponse {
        state.withLock { state in
            state.requests.append(request.path)
            guard !state.isAway else { return .text("away", status: 503) }
            switch request.path {
            case "/.well-known/openid-configuration": return document(state, issuer)
            case "/keys": return keySet(state)
            case "/authorize": return authorize(request, &state, issuer)
            case "/token": return token(request, &state, issuer, date)
            default: return .text("nothing here", status: 404)
            }
        }
    }

    private static func document(_ state: State, _ issuer: String) -> HTTPResponse {
        switch state.fault {
        case .documentIsNoJSON: return .text("{")
        case .documentIsGone: return .text("gone", status: 404)
        default: break
        }
        var members: [String: JSONValue] = [
            "issuer": .text(state.fault == .otherIssuerInDocument ? "https://evil.example" : issuer),
            "authorization_endpoint": .text(
                state.fault == .plainAuthorization ? "http://localhost:1/authorize" : "\(issuer)/authorize"),
            "token_endpoint": .text(state.tokenAddress ?? "\(issuer)/token"), "jwks_uri": .text("\(issuer)/keys"),
            "end_session_endpoint": .text("\(issuer)/out?from=document"),
            "authorization_response_iss_parameter_supported": .flag(true),
            "code_challenge_methods_supported": .array([.text(state.fault == .noS256 ? "plain" : "S256")]),
        ]
        if state.fault == .hugeDocument { members["padding"] = .text(String(repeating: "a", count: 200_000)) }
        return .json(.object(members))
    }

    private static func keySet(_ state: State) -> HTTPResponse {
        var keys = [state.signer.verificationKey.jwk].compactMap { $0 }
        switch state.fault {
        case .secretInKeySet:
            keys = [
                .object([
                    "kty": .text("oct"), "alg": .text("HS256"), "kid": .text("key-1"),
                    "k": .text(Base64URL.text([UInt8](0..<64))),
                ])
            ]
        case .hugeKeySet: keys += [.object(["padding": .text(String(repeating: "a", count: 200_000))])]
        case .keySetIsGone: return .text("gone", status: 500)
        default: break
        }
        return .json(.object(["keys": .array(keys)]))
    }

    /// Signs a user in without asking, and sends the browser back.
    private static func authorize(_ request: HTTPRequest, _ state: inout State, _ issuer: String) -> HTTPResponse {
        guard let redirect = request.queryValue("redirect_uri"), let name = request.queryValue("state"),
            let challenge = request.queryValue("code_challenge"), let nonce = request.queryValue("nonce"),
            request.queryValue("response_type") == "code", request.queryValue("client_id") == clientID,
            request.queryValue("code_challenge_method") == "S256",
            request.queryValue("scope")?.split(separator: " ").contains("openid") == true
        else { return .text("no good request", status: 400) }
        let code = "code-\(state.codes.count)"
        state.codes[code] = Code(challenge: challenge, nonce: nonce, redirect: redirect)
        var items = [("state", name), ("code", code), ("iss", issuer)]
        switch state.fault {
        case .otherIssuerInAnswer: items[2].1 = "https://evil.example"
        case .noIssuerInAnswer: items.removeLast()
        case .codeOfAnotherSession: items[1].1 = "code-0"
        case .declined: items[1] = ("error", "access_denied")
        case .scriptAsError: items[1] = ("error", "<script>alert(1)</script>")
        default: break
        }
        return HTTPResponse(status: 302, headers: [.location: "\(redirect)?\(FormText.text(items))"])
    }

    private static func token(
        _ request: HTTPRequest, _ state: inout State, _ issuer: String, _ date: Date
    ) -> HTTPResponse {
        switch state.fault {
        case .tokenRedirects: return HTTPResponse(status: 302, headers: [.location: "https://evil.example/token"])
        case .hugeToken: return .json(.object(["id_token": .text(String(repeating: "a", count: 200_000))]))
        case .tokenIsNoJSON: return .text("id_token=a")
        case .tokenFails: return .text("It failed.", status: 500)
        case .noIDToken: return .json(.object(["access_token": .text("a")]))
        default: break
        }
        let form = HTTPRequest(method: .get, target: "/?\(String(decoding: request.body, as: UTF8.self))")
        let pair = "\(FormText.encoded(clientID)):\(FormText.encoded(secret))"
        let digest = form.queryValue("code_verifier").flatMap { try? MessageDigest.sha256(Array($0.utf8)) }
        guard request.headers[.authorization] == "Basic \(Data(pair.utf8).base64EncodedString())",
            let name = form.queryValue("code"), let code = state.codes.removeValue(forKey: name),
            form.queryValue("grant_type") == "authorization_code",
            form.queryValue("redirect_uri") == code.redirect, digest.map(Base64URL.text) == code.challenge
        else { return .json(.object(["error": .text("invalid_grant")]), status: 400) }
        guard let token = try? idToken(state, code, issuer, date) else { return .text("no token", status: 500) }
        return .json(.object(["id_token": .text(token), "access_token": .text("a"), "token_type": .text("Bearer")]))
    }

    private static func idToken(_ state: State, _ code: Code, _ issuer: String, _ date: Date) throws -> String {
        let now = date.timeIntervalSince1970.rounded()
        var claims: [String: JSONValue] = [
            "iss": .text(issuer), "sub": .text("ada-1"), "aud": .text(clientID), "nonce": .text(code.nonce),
            "iat": .number(now), "exp": .number(now + 300), "name": .text("Ada <b>Example</b>"),
            "groups": .array(state.groups.map { .text($0) }),
        ]
        switch state.fault {
        case .otherIssuer: claims["iss"] = .text("https://evil.example")
        case .otherAudience: claims["aud"] = .text("another-client")
        case .noAudience: claims["aud"] = nil
        case .severalAudiences: claims["aud"] = .array([.text(clientID), .text("another-client")])
        case .otherParty: claims["azp"] = .text("another-client")
        case .otherNonce: claims["nonce"] = .text("another-nonce")
        case .noNonce: claims["nonce"] = nil
        case .expired: (claims["iat"], claims["exp"]) = (.number(now - 600), .number(now - 1))
        case .issuedLater: (claims["iat"], claims["exp"]) = (.number(now + 200), .number(now + 300))
        case .noIssueTime: claims["iat"] = nil
        case .noSubject: claims["sub"] = nil
        case .subjectIsNumber: claims["sub"] = .number(1)
        case .livesForDays: claims["exp"] = .number(now + 3 * 86_400)
        default: break
        }
        return try signed(claims, state)
    }

    private static func signed(_ claims: [String: JSONValue], _ state: State) throws -> String {
        let key = state.signer.verificationKey
        let id = key.id
        switch state.fault {
        case .noAlgorithm:
            let payload = Data(JSONValue.object(claims).canonicalText.utf8)
            return CompactJWS.signed(header: Data(#"{"alg":"none","kid":"key-1"}"#.utf8), payload: payload) + ".AAAA"
        case .publicKeyAsSecret:
            let header = Data(#"{"alg":"HS256","kid":"key-1","typ":"JWT"}"#.utf8)
            let text = CompactJWS.signed(header: header, payload: Data(JSONValue.object(claims).canonicalText.utf8))
            let pem = Secret(try key.publicKey?.pem() ?? "")
            return "\(text).\(Base64URL.text(try MessageDigest.hmac(.sha256, key: pem, Array(text.utf8))))"
        case .secretInKeySet:
            return try TokenSigner(.hs256, id: id, secret: Secret([UInt8](0..<64))).token(claims).revealedText
        case .otherAlgorithm: return try TokenSigner(generating: .rs256, id: id).token(claims).revealedText
        case .otherKey: return try TokenSigner(generating: .es256, id: id).token(claims).revealedText
        case .keyInHeader:
            let own = try TokenSigner(generating: .es256, id: id)
            let header = JSONValue.object(["alg": .text("ES256"), "jwk": own.verificationKey.jwk ?? .null])
            return try own.token(
                header: Data(header.canonicalText.utf8), payload: Data(JSONValue.object(claims).canonicalText.utf8)
            ).revealedText
        case .brokenSignature:
            let token = try state.signer.token(claims).revealedText
            let last = token.suffix(20)
            return token.dropLast(20) + String(last.reversed())
        default: return try state.signer.token(claims).revealedText
        }
    }
}

extension HTTPResponse {
    fileprivate static func json(_ value: JSONValue, status: Int = 200) -> HTTPResponse {
        HTTPResponse(
            status: status, headers: [.contentType: "application/json"],
            body: .bytes(Data(value.canonicalText.utf8)))
    }
}
