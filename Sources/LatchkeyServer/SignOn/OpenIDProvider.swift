import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing
import LatchkeySystem
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The provider that operators sign in at: its document, its keys, and its ID tokens, which are checked here.
///
/// Source: OpenID Connect Core 1.0 §3.1; RFC 6749 §4.1; RFC 7636.
final class OpenIDProvider: Sendable {
    /// The requests to a provider, each with a separate fault: an answer to one proves nothing about the others.
    private enum Part: Int { case document, keys, token }

    private struct State {
        var document: ProviderDocument?
        var keys: KeySetSource?
        var asked: Duration?
        /// The running request for the document.
        var asking: Promise<ProviderDocument, any Error>?
        var loadedKeys: Duration?
    }

    /// A person who signed in.
    struct Person: Sendable, Equatable {
        let subject: String
        /// The name for people.
        let name: String
        /// The claim's values.
        let values: [String]
    }

    let settings: ServerSettings.OpenID
    /// The provider's state: document and keys are asked by the server's upkeep, too, the token endpoint by sign-ins.
    var health: EngineHealth { guarded.health }
    private let guarded: EngineGuard
    private let secret: Secret?
    private let client: ProviderClient
    private let timekeeper: any Timekeeper
    private let state = Locked(State())

    /// How long its document counts before it is fetched again: short, so that an outage is noticed before a person is sent there.
    private static let freshness = Duration.seconds(10)
    /// How long its keys count. One that signs with an unknown key has them fetched before.
    private static let keyFreshness = Duration.seconds(600)

    init(
        _ settings: ServerSettings.OpenID, secret: Secret?, transport: any Transport, health: EngineHealth,
        timekeeper: any Timekeeper
    ) {
        (self.settings, self.secret, self.timekeeper) = (settings, secret, timekeeper)
        guarded = EngineGuard(health)
        client = ProviderClient(transport: transport, timekeeper: timekeeper)
    }

    /// Asks a part, and notes whether it answers.
    private func asking<Value: Sendable>(
        _ part: Part, _ question: @escaping @Sendable () async throws(SignOnRefusal) -> Value
    ) async throws(SignOnRefusal) -> Value {
        let work = EngineWork(.signIn, part: part.rawValue)
        // While another request to a part that is away is noted, this one is not.
        guard let permit = health.permit(for: work) else { return try await question() }
        do { return try await guarded.outcome(of: work, permit, question).get() } catch {
            throw error as? SignOnRefusal ?? .away("The request failed.")
        }
    }

    /// The provider's document, fetched again if it is older than ten seconds. Concurrent calls share one request.
    func document() async throws(SignOnRefusal) -> ProviderDocument {
        let now = timekeeper.uptime
        let (kept, asking, isNew) = state.withLock { state in
            let isFresh = state.asked.map { now - $0 < Self.freshness } == true
            if isFresh, let document = state.document {
                return (document as ProviderDocument?, nil as Promise<ProviderDocument, any Error>?, false)
            }
            if let asking = state.asking { return (nil, asking, false) }
            let promise = Promise<ProviderDocument, any Error>()
            state.asking = promise
            return (nil, promise, true)
        }
        if let kept { return kept }
        if isNew {
            // Continues for the other callers when the first one leaves; it ends with the client's patience.
            startTask { [self] in
                let outcome = await Result { try await askedDocument(at: now) }
                state.withLock { $0.asking = nil }
                asking?.resolve(outcome)
            }
        }
        do {
            guard let document = try await asking?.value else { throw CancellationError() }
            return document
        } catch let error as SignOnRefusal { throw error } catch {
            throw .away("The request for its discovery document was canceled.")
        }
    }

    private func askedDocument(at now: Duration) async throws(SignOnRefusal) -> ProviderDocument {
        guard let url = URL(string: settings.issuer.trimmingSlash + "/.well-known/openid-configuration") else {
            throw .provider("Its address is invalid.")
        }
        let (client, settings) = (client, settings)
        let document = try await asking(.document) { () async throws(SignOnRefusal) in
            let reply = try await client.reply(to: URLRequest(url: url), "Its discovery document")
            guard reply.status == 200 else {
                throw .away("Its discovery document was answered with status \(reply.status).")
            }
            return try ProviderDocument(json: reply.body, issuer: settings.issuer)
        }
        state.withLock { state in
            if state.document?.keys != document.keys { (state.keys, state.loadedKeys) = (nil, nil) }
            (state.document, state.asked) = (document, now)
        }
        return document
    }

    /// Asks for the document and the keys, as a sign-in does: fresh ones are not fetched.
    func answers() async throws(SignOnRefusal) { _ = try await keys(document()) }

    /// Asks the token endpoint for a code that it never gave.
    /// - Throws: unless the provider declines it for that reason, as RFC 6749 §5.2 says.
    func declines() async throws(SignOnRefusal) {
        do throws(SignOnRefusal) { _ = try await token(code: "latchkey", verifier: "latchkey", document()) } catch {
            guard error == .declined("invalid_grant") else { throw error }
        }
    }

    /// Where a browser is sent to sign in.
    func authorization(state: String, nonce: String, challenge: String) async throws(SignOnRefusal) -> URL {
        try await document().authorization.with([
            ("response_type", "code"), ("client_id", settings.clientID), ("redirect_uri", settings.redirectURI),
            ("scope", (["openid"] + settings.scopes.filter { $0 != "openid" }).joined(separator: " ")),
            ("state", state), ("nonce", nonce), ("code_challenge", challenge), ("code_challenge_method", "S256"),
        ])
    }

    /// Where a browser is sent to sign out of the provider; `nil` where it has no such address.
    func signingOut() async throws(SignOnRefusal) -> URL? {
        try await document().endSession?.with([
            ("client_id", settings.clientID), ("post_logout_redirect_uri", settings.redirectBase + "/"),
        ])
    }

    /// The person whose code a browser brings.
    /// - Parameters:
    ///   - code: the code.
    ///   - verifier: the secret behind the sign-in's challenge.
    ///   - nonce: the sign-in's nonce.
    func person(code: String, verifier: String, nonce: String) async throws(SignOnRefusal) -> Person {
        let document = try await document()
        let token = try await token(code: code, verifier: verifier, document)
        return try person(in: await verified(token, document), nonce: nonce)
    }

    /// The ID token that the token endpoint gives.
    private func token(
        code: String, verifier: String, _ document: ProviderDocument
    ) async throws(SignOnRefusal) -> String {
        var request = URLRequest(url: document.token)
        request.httpMethod = "POST"
        request.setValue("application/x-www-form-urlencoded", forHTTPHeaderField: "Content-Type")
        request.setValue("application/json", forHTTPHeaderField: "Accept")
        var form = [
            ("grant_type", "authorization_code"), ("code", code), ("redirect_uri", settings.redirectURI),
            ("code_verifier", verifier),
        ]
        if let secret, !document.takesSecretInBody {
            let pair = "\(FormText.encoded(settings.clientID)):\(FormText.encoded(secret.revealedText))"
            request.setValue(
                "Basic \(Data(pair.utf8).base64EncodedString())", forHTTPHeaderField: "Authorization")
        } else {
            form.append(("client_id", settings.clientID))
            if let secret { form.append(("client_secret", secret.revealedText)) }
        }
        request.httpBody = Data(FormText.text(form).utf8)
        let (client, sent) = (client, request)
        let (token, refusal) = try await asking(.token) { () async throws(SignOnRefusal) -> (String, SignOnRefusal?) in
            let reply = try await client.reply(to: sent, "Its token endpoint")
            let value = try? JSONReader.value(of: reply.body, depth: 8)
            guard reply.status == 200 else {
                // RFC 6749 §5.2: 400 and 401 are refusals, which any browser can cause; other statuses are not part of the protocol.
                guard [400, 401].contains(reply.status) else {
                    throw .provider("Its token endpoint responded with status \(reply.status).")
                }
                return ("", .declined(value?["error"]?.text ?? ""))
            }
            guard let token = value?["id_token"]?.text else {
                throw .provider("Its token endpoint returned no ID token.")
            }
            return (token, nil)
        }
        if let refusal { throw refusal }
        return token
    }

    private func verified(_ text: String, _ document: ProviderDocument) async throws(SignOnRefusal) -> VerifiedToken {
        let rules = TokenRules(
            audiences: [settings.clientID], issuers: [settings.issuer], leeway: .seconds(60),
            longestLife: .seconds(86_400))
        do {
            let source = try await keys(document)
            let date = timekeeper.date
            let outcome = await Result { try await source.verified(text, by: TokenVerifier(rules), at: date) }
            // An unknown key has them fetched, which may fail.
            try? await asking(.keys) { () throws(SignOnRefusal) in
                if let failure = source.standing.failure { throw .away(failure.reason) }
            }
            return try outcome.get()
        } catch let error as TokenError { throw .token(error) } catch let error as SignOnRefusal { throw error } catch {
            throw .provider("Its ID token cannot be read.")
        }
    }

    /// Source: OpenID Connect Core 1.0 §3.1.3.7.
    private func person(in token: VerifiedToken, nonce: String) throws(SignOnRefusal) -> Person {
        guard token.issued != nil else { throw .token("It has no “iat”.") }
        guard let subject = token.subject, (1...255).contains(subject.utf8.count) else {
            throw .token("Its “sub” is not text of 1 to 255 bytes.")
        }
        guard token.claims["nonce"]?.text?.equalsByteForByte(nonce) == true else {
            throw .token("Its “nonce” does not match this sign-in.")
        }
        let party = token.claims["azp"]
        if case .array(let audiences)? = token.claims["aud"], audiences.count > 1, party == nil {
            throw .token("It has several audiences and no “azp”.")
        }
        guard party == nil || party?.text?.equalsByteForByte(settings.clientID) == true else {
            throw .token("Its “azp” is another client.")
        }
        let values: [String] =
            switch token.claims[settings.claim] {
            case .text(let value): [value]
            case .array(let values): values.compactMap(\.text)
            default: []
            }
        let name = ["name", "preferred_username", "email"].lazy.compactMap { token.claims[$0]?.text }.first {
            !$0.isEmpty
        }
        return Person(subject: subject, name: String((name ?? subject).prefix(80)).onOneLine, values: values)
    }

    /// The provider's keys, fetched again if they are older than ten minutes.
    private func keys(_ document: ProviderDocument) async throws(SignOnRefusal) -> KeySetSource {
        let now = timekeeper.uptime
        let (source, isFresh) = state.withLock { state in
            let source =
                state.keys
                ?? KeySetSource.fetched(algorithms: settings.algorithms, timekeeper: timekeeper, report: { _ in }) {
                    [client] in
                    let reply = try await client.reply(to: URLRequest(url: document.keys), "Its key set")
                    guard reply.status == 200 else { throw KeySetError.status(reply.status) }
                    return reply.body
                }
            let isFresh = state.keys != nil && state.loadedKeys.map { now - $0 < Self.keyFreshness } == true
            state.keys = source
            return (source, isFresh)
        }
        guard !isFresh else { return source }
        try await asking(.keys) { () async throws(SignOnRefusal) in
            do { try await source.reload() } catch {
                throw .away((error as? any DiagnosableError)?.reason ?? "Its key set cannot be fetched.")
            }
        }
        state.withLock { $0.loadedKeys = now }
        return source
    }
}

/// Asks a provider, with a limit for everything that it may do. No redirect is followed.
private struct ProviderClient: Sendable {
    let transport: any Transport
    let timekeeper: any Timekeeper

    /// How long one answer may take.
    private static let patience = Duration.seconds(10)
    /// The most bytes of an answer: 64 KiB.
    private static let longest = 64 << 10

    func reply(to request: URLRequest, _ what: String) async throws(SignOnRefusal) -> HTTPReply {
        var request = request
        request.timeoutInterval = Self.patience.inSeconds
        let (transport, sent) = (transport, request)
        do {
            return try await withDeadline(
                Self.patience, timekeeper,
                expired: { SignOnRefusal.away("\(what) took longer than \(Self.patience.inWords).") },
                { try await transport.send(sent, bodyLimit: Self.longest) })
        } catch let error as SignOnRefusal {
            throw error
        } catch let error as TransportError {
            throw .away(error.reason)
        } catch {
            throw .away("\(what) failed.")
        }
    }
}

extension String {
    fileprivate var trimmingSlash: String { hasSuffix("/") ? String(dropLast()) : self }
}
