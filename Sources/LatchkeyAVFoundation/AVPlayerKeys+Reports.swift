#if canImport(AVFoundation)
    public import AVFoundation
    public import Latchkey

    // Reports of expired sessions, for services that count streams ("secure stop").
    nonisolated extension AVPlayerKeys {
        /// The reports of expired sessions, including those of earlier launches. Send them to the service, which can read
        /// them, and then remove them.
        /// - Returns: No reports if `Options.reports` is `nil`.
        /// - Throws: If there is no application certificate, which identifies the app.
        public func expiredSessionReports() async throws(ContentKeyError) -> [Data] {
            guard let folder = options.reports else { return [] }
            let app = try await loader.applicationCertificate().bytes
            return AVContentKeySession.pendingExpiredSessionReports(withAppIdentifier: app, storageDirectoryAt: folder)
        }

        /// Removes reports that the service has received.
        /// - Throws: If there is no application certificate.
        public func removeExpiredSessionReports(_ reports: [Data]) async throws(ContentKeyError) {
            guard let folder = options.reports else { return }
            let app = try await loader.applicationCertificate().bytes
            AVContentKeySession.removePendingExpiredSessionReports(
                reports, withAppIdentifier: app, storageDirectoryAt: folder)
        }
    }
#endif
