import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

extension ContentKeyLoader {
    /// Gets the answer to a request: the license, or the stored key, which is not renewed as a lease is. `nil` if the system holds the key.
    func answerable(for request: any PlayerKeyRequest, _ trace: Trace) async throws -> License? {
        guard let request = request as? any PersistableKeyRequest else {
            return try await license(for: request, trace)
        }
        if request.purpose == .streaming, let licenseCache {
            return try await licenseCache.license(for: request, trace.send) {
                try await self.license(for: request, trace)
            }
        }
        let key: Secret
        if let offline {
            let found = try await offline.key(for: request, trace.send) { try await self.license(for: request, trace) }
            guard let found else { return nil }
            key = found
        } else {
            guard let license = try await license(for: request, trace) else { return nil }
            key = try request.storedForm(of: license)
            trace.send(.storeFailed(OfflineError(.keyStoreMissing, "The loader was made without a store.")))
        }
        return License(ckc: key, terms: LicenseTerms(.persistent))
    }
}

extension OfflineKeys {
    convenience init(_ store: any PersistableKeyStore, for caller: ServiceCaller, report: @escaping Report) {
        self.init(
            store, policy: caller.configuration.offline, renews: caller.integration.renewal.renewsStoredKeys,
            timekeeper: caller.timekeeper, generator: caller.generator,
            identifier: { [integration = caller.integration] in try integration.contentIdentifier(for: $0) },
            report: report)
    }
}
