import Foundation
import Latchkey
import LatchkeyAVFoundation

/// What to play, and with whose keys: the file that `acceptance/prepare` writes.
nonisolated struct Setup: Codable, Sendable {
    /// The stream's multivariant playlist.
    var stream: URL
    /// The name of a vendor's profile.
    var vendor: String
    /// The profile's settings, such as `certificateURL`.
    var settings: [String: String] = [:]
    /// The profile's credentials, such as `token`.
    var credentials: [String: String] = [:]
    /// How long keys live in seconds, where the vendor's replies do not say.
    var lease: Int?

    /// A loader for the stream's keys.
    /// - Parameters:
    ///   - store: Where keys are stored. Defaults to nowhere.
    ///   - refused: whether to send a token that no service takes.
    ///   - refusesRenewals: whether to give no credentials for renewals.
    func loader(
        store: (any PersistableKeyStore)? = nil, refused: Bool = false, refusesRenewals: Bool = false
    ) throws -> ContentKeyLoader {
        guard let profile = VendorProfile.named(vendor) else { throw SetupError.unknownVendor(vendor) }
        let given = credentials.mapValues { Secret(refused ? "refused" : $0) }
        return ContentKeyLoader(
            try profile.configured(settings),
            credentials: Credentials { request in
                if refusesRenewals, request.purpose == .renewal { throw SetupError.renewalRefused }
                return CredentialSet(given)
            },
            configuration: LoaderConfiguration(
                leases: LeasePolicy(assumedLease: lease.map { .seconds($0) }), keyStore: store))
    }
}

nonisolated enum SetupError: LocalizedError {
    case unknownVendor(String)
    /// Thrown in place of credentials.
    case renewalRefused

    var errorDescription: String? {
        switch self {
        case .unknownVendor(let name): "There is no vendor \(name); see `latchkey vendors`."
        case .renewalRefused: "The trial refuses renewals."
        }
    }
}
