import Foundation
import LatchkeyCore
import LatchkeyVendors

/// The credentials of one attempt: asked for at most once, and remembered so that they can be kept out of what is shown.
final class IssuedCredentials: Sendable {
    private let ask: @Sendable () async throws -> CredentialSet
    private let issued = Locked<CredentialSet?>(nil)
    private let alsoSecret: [String]

    /// - Parameters:
    ///   - alsoSecret: further texts that must not be shown, such as the SPC in base64.
    ///   - ask: asks the app.
    init(alsoSecret: [String] = [], ask: @escaping @Sendable () async throws -> CredentialSet) {
        self.alsoSecret = alsoSecret
        self.ask = ask
    }

    /// The attempt's credentials.
    func credentials() async throws -> CredentialSet {
        if let known = issued.withLock({ $0 }) { return known }
        do {
            let given = try await ask()
            issued.withLock { $0 = $0 ?? given }
            return given
        } catch {
            throw ContentKeyError(error, stage: .license, otherwise: .credentialsFailed)
        }
    }

    /// Every form in which a secret of the attempt may show up in a text.
    var secretTexts: [String] {
        let tokens = issued.withLock { $0?.values.values.map(\.revealedText) ?? [] }
        return tokens.flatMap { [$0, $0.percentEncoded] } + alsoSecret
    }

    /// Whether a body carries a credential.
    func isCarried(by body: Data?) -> Bool {
        guard let body else { return false }
        let tokens = issued.withLock { $0?.values.values.map(\.revealedText) ?? [] }
        return tokens.flatMap { [$0, $0.percentEncoded, $0.jsonEscaped] }.contains { token in
            !token.isEmpty && body.range(of: Data(token.utf8)) != nil
        }
    }
}

extension String {
    fileprivate var jsonEscaped: String {
        replacingOccurrences(of: "\\", with: "\\\\").replacingOccurrences(of: "\"", with: "\\\"")
    }
}
