import Foundation
import LatchkeyCore
import LatchkeyVendors

/// What the integration looks up before its other requests: once for the loader and kept, or anew for each key.
final class Lookups: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    private let caller: ServiceCaller
    private let kept: KeptFetch<[String: Secret]>

    init(_ caller: ServiceCaller) {
        self.caller = caller
        kept = KeptFetch(caller.timekeeper)
    }

    /// The values for a key's license, or without a key for the certificate.
    func values(for key: KeyURI?, _ report: @escaping Report) async throws(ContentKeyError) -> [String: Secret] {
        do {
            switch (caller.integration.lookupScope, key) {
            case (.never, _), (.key, nil): return [:]
            case (.key, let key?): return try await Self.lookUp(caller, key, report)
            case (.loader, _):
                return try await kept.shared { [caller] in try await Self.lookUp(caller, nil, report) }.value()
            }
        } catch {
            throw ContentKeyError(error, stage: .lookup, otherwise: .integrationFailed)
        }
    }

    /// Ends the lookup under way, and lets none begin.
    func close() { kept.close() }

    private static func lookUp(
        _ caller: ServiceCaller, _ key: KeyURI?, _ report: @escaping Report
    ) async throws -> [String: Secret] {
        let integration = caller.integration
        let messageID = UUID().uuidString.lowercased()
        return try await caller.perform(
            .init(
                stage: .lookup, reason: .first, report: report,
                makeRequest: { issued in
                    let context = LookupContext(keyURI: key, messageID: messageID) { try await issued.credentials() }
                    guard let request = try await integration.lookupRequest(context) else {
                        throw ContentKeyError(
                            .integrationFailed, "The integration makes no lookup request.",
                            remedy: "Return a request, or give the lookup scope never.")
                    }
                    return request
                },
                read: { try integration.lookup(from: $0, LookupContext(keyURI: key, messageID: messageID)) }))
    }
}

extension [String: Secret] {
    /// The values that are http or https URLs.
    var urls: [URL] {
        values.compactMap { URL(string: $0.revealedText) }.filter {
            ["http", "https"].contains($0.scheme?.lowercased())
        }
    }
}
