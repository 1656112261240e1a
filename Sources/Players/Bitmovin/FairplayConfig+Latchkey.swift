#if canImport(BitmovinPlayer)
    public import BitmovinPlayer
    public import Foundation
    import LatchkeyCore

    extension FairplayConfig {
        /// A configuration for a vendor's keys.
        ///
        ///     source.drmConfig = try await FairplayConfig.latchkey(.axinom(license: url), credentials: token) { report($0) }
        ///
        /// The player sends the requests itself, and asks what to put into them by closures that cannot wait. So it plays vendors
        /// whose credentials last as long as the stream; for each other one this throws, and says why. A key that is to be renewed
        /// is the app's business: `source.drm.fairplay.renewExpiringLicense(for:)`.
        ///
        /// Source: `player-apis.md` §8.1.
        /// - Parameters:
        ///   - profile: the vendor, with its settings.
        ///   - credentials: asked once.
        ///   - hosts: where requests may go.
        ///   - onError: hears why a request or a reply came to nothing, with domain, number and remedy; the player is given nothing
        ///     then, and fails with an error of its own. Called on any thread, which it must not block.
        /// - Throws: `ContentKeyError`: `unfitForPlayer`, or what is wrong with the settings.
        public static func latchkey(
            _ profile: VendorProfile, credentials: Credentials = .none, hosts: HostPolicy = HostPolicy(),
            onError: @escaping @Sendable (NSError) -> Void
        ) async throws -> FairplayConfig {
            let exchange = try await PreparedExchange(profile, credentials: credentials, hosts: hosts)
            guard let certificate = exchange.certificateRequest.url else {
                throw ContentKeyError(
                    .certificateMissing, "There is no address of a certificate.", remedy: "Set certificateURL.")
            }
            let config = FairplayConfig(license: exchange.licenseURL, certificateURL: certificate)
            config.certificateRequestHeaders = exchange.certificateRequest.allHTTPHeaderFields
            config.licenseRequestHeaders = exchange.licenseHeaders
            config.setClosures(ExchangeClosures(exchange: exchange, onError: onError))
            return config
        }

        private func setClosures(_ closures: ExchangeClosures) {
            prepareContentId = { key in closures.contentIdentifier(KeyURI(key)) }
            prepareMessage = { spc, asset in closures.message(spc, asset) }
            prepareLicenseServerUrl = { key in closures.licenseURL(KeyURI(key)) }
            prepareCertificate = { body in closures.value(Data()) { try closures.exchange.certificate(from: body) } }
            prepareLicense = { body in closures.value(Data()) { try closures.exchange.license(from: body) } }
        }
    }

    /// What the closures do.
    // Sound: `keys` is touched only while the lock is held.
    private final class ExchangeClosures: @unchecked Sendable {
        /// How many names of keys are kept; the oldest goes first.
        private static let nameLimit = 256

        let exchange: PreparedExchange
        private let onError: @Sendable (NSError) -> Void
        private let lock = NSLock()
        private var keys: [(name: String, key: KeyURI)] = []

        init(exchange: PreparedExchange, onError: @escaping @Sendable (NSError) -> Void) {
            self.exchange = exchange
            self.onError = onError
        }

        func contentIdentifier(_ key: KeyURI) -> String {
            value("") {
                let name = try exchange.contentIdentifier(for: key)
                lock.withLock {
                    keys.removeAll { $0.key == key }
                    keys = keys.suffix(Self.nameLimit - 1) + [(name, key)]
                }
                return name
            }
        }

        func message(_ spc: Data, _ asset: String) -> Data {
            let key = lock.withLock { keys.last { $0.name == asset }?.key } ?? KeyURI(asset)
            return value(Data()) { try exchange.licenseBody(for: SPCMessage(spc), key: key) }
        }

        /// - Parameter key: the key's URI, where the address differs from key to key; the address itself otherwise.
        func licenseURL(_ key: KeyURI) -> String {
            value("") { try exchange.licenseURL(for: key).absoluteString }
        }

        func value<Value>(_ nothing: Value, _ body: () throws -> Value) -> Value {
            do { return try body() } catch {
                onError((error as? ContentKeyError)?.nsError ?? error as NSError)
                return nothing
            }
        }
    }
#endif
