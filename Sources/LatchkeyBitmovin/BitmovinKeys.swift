#if canImport(BitmovinPlayer)
    public import BitmovinPlayer
    import Foundation
    @_spi(Adapters) public import Latchkey

    /// Delivers keys to Bitmovin's sources.
    ///
    ///     let keys = try await BitmovinKeys(.axinom(certificate: certificate, license: license), credentials: token, onFailure: show)
    ///     keys.protect(sourceConfig)
    ///
    /// It is created from a vendor instead of a loader, because the player sends the requests itself and gets their contents from
    /// closures that cannot wait. So it supports the vendors whose credentials last as long as the stream; for any other vendor the
    /// initializer throws the reason. The player retains the keys, so there is no `release()`; the app renews a key with
    /// `source.drm.fairplay.renewExpiringLicense(for:)`. Safe to use from any thread. Source: `Documentation/Players.md` §8.1.
    // Sound: `names` is only accessed while the lock is held.
    public nonisolated final class BitmovinKeys: @unchecked Sendable {
        /// The maximum number of key names. The oldest is dropped first.
        private static let nameLimit = 256

        private let exchange: PreparedExchange
        private let certificateHeaders: [String: String]?
        private let certificateURL: URL
        private let asset: AssetID?
        private let onFailure: @Sendable (KeyFailure) -> Void
        private let lock = NSLock()
        private var names: [(name: String, key: KeyURI)] = []

        /// - Parameters:
        ///   - vendor: The vendor.
        ///   - credentials: Requested once, now.
        ///   - hosts: The hosts that requests may go to.
        ///   - asset: The app's name for the title, for credentials and failures; with a token per title, each title needs its
        ///     own instance. Defaults to `nil`: unknown.
        ///   - onFailure: Receives the reason that a request could not be made or a reply could not be read. The player then
        ///     gets no data, and fails with its own error. Called on any thread, which it must not block.
        /// - Throws: `unfitForPlayer`; `certificateMissing` if there is no certificate URL; problems with the settings.
        public init(
            _ vendor: ConfiguredVendor, credentials: Credentials = .none, hosts: HostPolicy = HostPolicy(),
            asset: AssetID? = nil, onFailure: @escaping @Sendable (KeyFailure) -> Void
        ) async throws(ContentKeyError) {
            exchange = try await PreparedExchange(vendor, credentials: credentials, hosts: hosts, asset: asset)
            guard let request = exchange.certificateRequest, let url = request.url else {
                let isBundled = exchange.bundledCertificate != nil
                throw ContentKeyError(
                    isBundled ? .unfitForPlayer : .certificateMissing,
                    isBundled
                        ? "The certificate is a setting, and Bitmovin wants an address of one."
                        : "There is no address of a certificate.", remedy: "Set certificateURL.")
            }
            certificateURL = url
            self.asset = asset
            certificateHeaders = request.allHTTPHeaderFields
            self.onFailure = onFailure
        }

        /// Provides a source with its keys. Call it before the source is created from its configuration.
        public func protect(_ source: SourceConfig) { source.drmConfig = configuration() }

        private func configuration() -> FairplayConfig {
            let config = FairplayConfig(license: exchange.licenseURL, certificateURL: certificateURL)
            config.certificateRequestHeaders = certificateHeaders
            config.licenseRequestHeaders = exchange.licenseHeaders
            config.prepareContentId = { key in self.contentIdentifier(for: KeyURI(key)) }
            config.prepareMessage = { spc, name in self.message(spc, forKeyNamed: name) }
            config.prepareLicenseServerUrl = { key in self.licenseURL(for: KeyURI(key)) }
            config.prepareCertificate = { body in
                self.value(otherwise: Data(), nil) { try self.exchange.certificate(from: body) }
            }
            config.prepareLicense = { body in
                self.value(otherwise: Data(), nil) { try self.exchange.license(from: body) }
            }
            return config
        }
    }

    // MARK: - Results of the closures

    nonisolated extension BitmovinKeys {
        private func contentIdentifier(for key: KeyURI) -> String {
            value(otherwise: "", key) {
                let name = try exchange.contentIdentifier(for: key)
                lock.withLock {
                    names.removeAll { $0.key == key }
                    names = names.suffix(Self.nameLimit - 1) + [(name, key)]
                }
                return name
            }
        }

        private func message(_ spc: Data, forKeyNamed name: String) -> Data {
            let key = lock.withLock { names.last { $0.name == name }?.key } ?? KeyURI(name)
            return value(otherwise: Data(), key) { try exchange.licenseBody(for: SPCMessage(spc), key: key) }
        }

        /// - Parameter key: The key's URI if the address differs per key; otherwise the address.
        private func licenseURL(for key: KeyURI) -> String {
            value(otherwise: "", key) { try exchange.licenseURL(for: key).absoluteString }
        }

        private func value<Value>(
            otherwise nothing: Value, _ key: KeyURI?, _ body: () throws -> Value
        ) -> Value {
            do { return try body() } catch {
                let known = error as? ContentKeyError
                onFailure(
                    known.map { KeyFailure($0, key: key, asset: asset) }
                        ?? KeyFailure(player: error, key: key, asset: asset))
                return nothing
            }
        }
    }
#endif
