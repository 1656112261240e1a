#if canImport(AVFoundation)
    public import AVFoundation

    // Reports of expired sessions, for services that count streams ("secure stop").
    extension ContentKeySessionBridge {
        /// The reports of sessions that expired, also of earlier launches: for the service, which knows what they say. Remove them
        /// once it took them.
        /// - Returns: none without a folder for reports in the bridge's options.
        /// - Throws: where there is no application certificate, which names the app.
        public func expiredSessionReports() async throws(ContentKeyError) -> [Data] {
            guard let folder = options.reports else { return [] }
            let app = try await loader.applicationCertificate().der
            return AVContentKeySession.pendingExpiredSessionReports(withAppIdentifier: app, storageDirectoryAt: folder)
        }

        /// Removes reports that the service took.
        /// - Throws: where there is no application certificate.
        public func removeExpiredSessionReports(_ reports: [Data]) async throws(ContentKeyError) {
            guard let folder = options.reports else { return }
            let app = try await loader.applicationCertificate().der
            AVContentKeySession.removePendingExpiredSessionReports(
                reports, withAppIdentifier: app, storageDirectoryAt: folder)
        }
    }
#endif
