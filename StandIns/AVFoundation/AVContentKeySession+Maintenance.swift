public import Foundation
import LatchkeyCore
import StandInEngine

// Stored keys and expired sessions. These are stubs with plausible results; the proofs contain nothing that a server could check.
extension AVContentKeySession {
    @available(iOS 11.0, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func makeSecureTokenForExpirationDate(
        ofPersistableContentKey persistableContentKeyData: Data,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let result = Result { try proof("secure token", of: persistableContentKeyData) }
        DispatchQueue.global().async { handler(try? result.get(), result.failure) }
    }

    @available(iOS 11.0, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func makeSecureTokenForExpirationDate(
        ofPersistableContentKey persistableContentKeyData: Data
    ) async throws -> Data {
        try proof("secure token", of: persistableContentKeyData)
    }

    @available(iOS 12.2, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func invalidatePersistableContentKey(
        _ persistableContentKeyData: Data, options: [AVContentKeySessionServerPlaybackContextOption: Any]? = nil,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        let result = Result { try proof("invalidated", of: persistableContentKeyData) }
        DispatchQueue.global().async { handler(try? result.get(), result.failure) }
    }

    @available(iOS 12.2, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func invalidatePersistableContentKey(
        _ persistableContentKeyData: Data, options: [AVContentKeySessionServerPlaybackContextOption: Any]? = nil
    ) async throws -> Data {
        try proof("invalidated", of: persistableContentKeyData)
    }

    @available(iOS 12.2, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func invalidateAllPersistableContentKeys(
        forApp appIdentifier: Data, options: [AVContentKeySessionServerPlaybackContextOption: Any]? = nil,
        completionHandler handler: @escaping @Sendable (Data?, (any Error)?) -> Void
    ) {
        DispatchQueue.global().async { handler(Data("all invalidated".utf8), nil) }
    }

    @available(iOS 12.2, macOS 10.15, tvOS 17.0, watchOS 7.0, visionOS 1.0, *)
    public func invalidateAllPersistableContentKeys(
        forApp appIdentifier: Data, options: [AVContentKeySessionServerPlaybackContextOption: Any]? = nil
    ) async throws -> Data { Data("all invalidated".utf8) }

    private func proof(_ what: String, of stored: Data) throws -> Data {
        guard stage.opensStoredKey(stored) else {
            throw AVError.wrapping(AppleError.status(-46250, "The stored key is not valid."))
        }
        return Data("\(what) \(UUID().uuidString)".utf8)
    }
}

extension AVContentKeySession {
    private static let reportPrefix = "expired-session-"

    private struct Report: Codable {
        let app: Data
        let content: Data
    }

    /// The reports that an app has not removed yet.
    public class func pendingExpiredSessionReports(
        withAppIdentifier appIdentifier: Data, storageDirectoryAt storageURL: URL
    ) -> [Data] {
        reports(in: storageURL).map(\.report).filter { $0.app == appIdentifier }.map(\.content)
    }

    public class func removePendingExpiredSessionReports(
        _ expiredSessionReports: [Data], withAppIdentifier appIdentifier: Data, storageDirectoryAt storageURL: URL
    ) {
        for (file, report) in reports(in: storageURL)
        where report.app == appIdentifier && expiredSessionReports.contains(report.content) {
            try? FileManager.default.removeItem(at: file)
        }
    }

    /// Writes a report for each certificate that the session made SPCs for.
    /// - Parameter ending: distinguishes an expired session from one that ended without expiring.
    /// - Returns: whether there was anything to report.
    func writeExpiredSessionReport(_ ending: String = "expired session") -> Bool {
        guard let storageURL, let app = state.withLock({ $0.appIdentifier }) else { return false }
        let report = Report(app: app, content: Data("\(ending) \(UUID().uuidString)".utf8))
        let file = storageURL.appending(path: "\(Self.reportPrefix)\(UUID().uuidString)")
        try? FileManager.default.createDirectory(at: storageURL, withIntermediateDirectories: true)
        try? JSONEncoder().encode(report).write(to: file)
        return true
    }

    /// Writes the report of an expired session, and calls the delegate.
    func generateExpiredSessionReport() {
        guard writeExpiredSessionReport() else { return }
        notify(.didGenerateExpiredSessionReport) {
            $0.contentKeySessionDidGenerateExpiredSessionReport($1)
        }
    }

    private static func reports(in folder: URL) -> [(file: URL, report: Report)] {
        let files = (try? FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)) ?? []
        return files.filter { $0.lastPathComponent.hasPrefix(reportPrefix) }.compactMap { file in
            (try? JSONDecoder().decode(Report.self, from: Data(contentsOf: file))).map { (file, $0) }
        }
    }
}

extension Result {
    fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
