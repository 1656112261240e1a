import Foundation
import LatchkeyCore
import LatchkeyVendors

/// What the integration looks up before its other requests: once for the loader and kept, or anew for each key.
final class Lookups: Sendable {
    typealias Report = @Sendable (KeyEvent.Kind) -> Void

    typealias LookedUp = (values: [String: Secret], took: Duration)

    /// What a preload looked up for single keys.
    let ahead: PreparedValues<KeyURI, [String: Secret]>
    private let caller: ServiceCaller
    private let kept: KeptFetch<LookedUp>

    init(_ caller: ServiceCaller) {
        self.caller = caller
        ahead = PreparedValues(
            caller.timekeeper, lifetime: caller.configuration.preparedCredentialsLifetime)
        kept = KeptFetch(caller.timekeeper)
    }

    /// The values for a key's license, or without a key for the certificate.
    func values(for key: KeyURI?, _ report: @escaping Report) async throws(ContentKeyError) -> [String: Secret] {
        do {
            switch (caller.integration.lookupScope, key) {
            case (.never, _), (.key, nil): return [:]
            case (.key, let key?):
                guard let ready = ahead.take(key) else { return try await Self.lookUp(caller, key, report) }
                report(.prepared(.lookup, saved: ready.took))
                return ready.value
            case (.loader, _): return try await kept(report)
            }
        } catch {
            throw ContentKeyError(error, stage: .lookup, otherwise: .integrationFailed)
        }
    }

    /// Looks up the values for a key's next license.
    func prepare(_ key: KeyURI, _ report: @escaping Report) async throws -> [String: Secret] {
        try await ahead.prepare(key) { try await Self.lookUp(caller, key, report) }
    }

    /// Ends the lookup under way, and lets none begin.
    func close() {
        kept.close()
        ahead.removeAll()
    }

    private func kept(_ report: @escaping Report) async throws -> [String: Secret] {
        let shared = kept.shared { [caller] in
            let start = caller.timekeeper.uptime
            let values = try await Self.lookUp(caller, nil, report)
            return (values, caller.timekeeper.uptime - start)
        }
        let isAtHand = shared.hasEnded
        let lookedUp = try await shared.value()
        if isAtHand { report(.prepared(.lookup, saved: lookedUp.took)) }
        return lookedUp.values
    }

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
