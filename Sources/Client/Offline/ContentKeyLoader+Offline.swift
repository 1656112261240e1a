import LatchkeyCore
import LatchkeyVendors

extension ContentKeyLoader {
    /// What a request is answered with: the license, or in its place the stored key, which is not renewed as a lease is.
    func answerable(for request: any PlayerKeyRequest, _ report: @escaping Report) async throws -> License {
        guard let request = request as? any PersistableKeyRequest else {
            return try await license(for: request, report)
        }
        let key: Secret
        if let offline {
            key = try await offline.key(for: request, report) { try await self.license(for: request, report) }
        } else {
            key = try request.storedForm(of: try await license(for: request, report))
            report(.storeFailed(OfflineError(.noStore, "The loader was made without a store.")))
        }
        return License(ckc: key, terms: LicenseTerms(.persistent))
    }
}

extension OfflineKeys {
    convenience init(_ store: any PersistableKeyStore, for caller: ServiceCaller, report: @escaping Report) {
        self.init(
            store, policy: caller.configuration.offline, renews: caller.integration.renewal.renewsStoredKeys,
            timekeeper: caller.timekeeper, generator: caller.generator, report: report)
    }
}
