import LatchkeyCore
import LatchkeyVendors

/// The credentials of one attempt: requested at most once, and remembered so that they can be removed from all output.
final class IssuedCredentials: Sendable {
    private struct State {
        var wereAskedFor = false
        var given: CredentialSet?
        /// Credentials given before and not used.
        var discarded: [Secret] = []
    }

    private let ask: @Sendable () async throws -> CredentialSet
    private let state = Locked(State())
    private let alsoSecret: [Secret]

    /// - Parameters:
    ///   - alsoSecret: other values that must not be shown, such as the SPC.
    ///   - ask: asks the app.
    init(alsoSecret: [Secret] = [], ask: @escaping @Sendable () async throws -> CredentialSet) {
        self.alsoSecret = alsoSecret
        self.ask = ask
    }

    /// The attempt's credentials.
    func credentials() async throws -> CredentialSet {
        let known = state.withLock { state in
            state.wereAskedFor = true
            return state.given
        }
        if let known { return known }
        do {
            let given = try await ask()
            state.withLock { $0.given = $0.given ?? given }
            return given
        } catch {
            throw ContentKeyError(error, otherwise: .credentialsFailed)
        }
    }

    /// Forgets the app's credentials, because they grew too old; they stay secret.
    func discard() {
        state.withLock { state in
            if let given = state.given { state.discarded += given.values.values }
            state = State(discarded: state.discarded)
        }
    }

    /// The credentials that the app gave; none if it was not asked.
    var credentialSet: CredentialSet { state.withLock { $0.given ?? .none } }

    /// Whether the app was asked and has not answered yet.
    var areAwaited: Bool { state.withLock { $0.wereAskedFor && $0.given == nil } }

    /// Whether the app gave any, so that newer ones may help.
    var areGiven: Bool { state.withLock { $0.given?.values.isEmpty == false } }

    /// The forms in which the credentials may appear.
    var forms: SecretForms { SecretForms(given) }

    /// The credentials and the attempt's other secrets.
    var secrets: [Secret] { given + alsoSecret }

    private var given: [Secret] {
        state.withLock { state in state.discarded + ((state.given?.values).map { Array($0.values) } ?? []) }
    }
}
