import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// Values that the integration looks up before its other requests: once for the loader, or for each key.
final class Prerequisites: Sendable {
    private typealias LookedUp = (values: [String: Secret], took: Duration)

    /// Values that a preload looked up for single keys.
    let prefetched: PrefetchedValues<Credentials.Request, [String: Secret]>
    private let caller: ServiceCaller
    private let shared: SharedFetch<LookedUp>

    init(_ caller: ServiceCaller) {
        self.caller = caller
        prefetched = PrefetchedValues(
            caller.timekeeper, lifetime: caller.configuration.preparedCredentialsLifetime)
        shared = SharedFetch(caller.timekeeper)
    }

    /// The values for a key's license, or for the certificate, which belongs to no key.
    func values(for request: Credentials.Request, _ trace: Trace) async throws(ContentKeyError) -> [String: Secret] {
        do {
            switch (caller.integration.lookupScope, request.key) {
            case (.never, _), (.key, nil): return [:]
            case (.key, _?):
                guard let ready = prefetched.take(request) else { return try await Self.lookUp(caller, request, trace) }
                trace.send(.prepared(.lookup, saved: ready.took))
                return ready.value
            case (.loader, _): return try await sharedValues(trace)
            }
        } catch {
            throw ContentKeyError(error, stage: .lookup, otherwise: .integrationFailed)
        }
    }

    /// Looks up the values for a key's next license.
    func prepare(_ request: Credentials.Request, _ trace: Trace) async throws -> [String: Secret] {
        try await prefetched.prepare(request) { try await Self.lookUp(caller, request, trace) }
    }

    /// Cancels the current lookup; later ones fail with `cancelled`.
    func close() {
        shared.close()
        prefetched.removeAll()
    }

    private func sharedValues(_ trace: Trace) async throws -> [String: Secret] {
        let fetch = shared.current { [caller] in
            let start = caller.timekeeper.uptime
            let values = try await Self.lookUp(caller, Credentials.Request(.first, stage: .lookup), trace)
            return (values, caller.timekeeper.uptime - start)
        }
        let isCached = fetch.outcome != nil
        let lookedUp = try await fetch.value
        if isCached { trace.send(.prepared(.lookup, saved: lookedUp.took)) }
        return lookedUp.values
    }

    private static func lookUp(
        _ caller: ServiceCaller, _ asking: Credentials.Request, _ trace: Trace
    ) async throws -> [String: Secret] {
        let (integration, key) = (caller.integration, asking.key)
        let messageID = UUID().uuidString.lowercased()
        return try await caller.perform(
            .init(
                asking: asking, trace: trace,
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
