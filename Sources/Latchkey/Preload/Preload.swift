import Foundation
import LatchkeyCore
import LatchkeyHLS
import LatchkeyTransport
@_spi(Integrations) import LatchkeyVendors

/// One preload.
struct Preload: Sendable {
    typealias Outcome = PreloadResult.Outcome

    let draft: PreloadDraft
    private let loader: ContentKeyLoader
    private let player: (any PreloadingPlayer)?
    private let asset: AssetID?
    private let limits: PreloadLimits
    private let trace: Trace
    private let connections = Connections()

    private var caller: ServiceCaller { loader.caller }

    init(
        _ loader: ContentKeyLoader, _ player: (any PreloadingPlayer)?, _ asset: AssetID?, _ limits: PreloadLimits
    ) {
        let draft = PreloadDraft(keyLimit: limits.keys)
        self.draft = draft
        self.loader = loader
        self.player = player
        self.asset = asset
        self.limits = limits
        trace = loader.trace().part { [connections] in
            draft.note($0)
            connections.note($0)
        }
    }

    /// Prepares everything, session keys first.
    func run(_ playlist: URL) async {
        let certificate = Promise<ApplicationCertificate, any Error>()
        async let fetch: Void =
            _ = certificate.resolve(
                await Result { try await loader.certificates.certificate(trace) })
        let discovery = StreamDiscovery(
            PlaylistLoader(caller: caller, byteLimit: limits.playlistBytes, trace: trace), limits)
        await withTaskGroup { group in
            for await found in discovery.keys(at: playlist.absoluteString) {
                switch found {
                case .keys(let keys):
                    for key in draft.add(keys) {
                        let request = self.request(for: key, of: playlist)
                        group.addTask { await prepare(key, request, certificate) }
                    }
                case .unread(let error): draft.note(unread: error)
                }
            }
        }
        await fetch
    }

    private enum KeyRequest { case made(OpenPreloads.Watch), none(Outcome) }

    /// Makes the player request the key; not within the key's task, so that the requests are in order.
    private func request(for key: KeyURI, of stream: URL) -> KeyRequest {
        do {
            _ = try loader.contentIdentifier(for: key)
        } catch {
            return .none(.failed(error))
        }
        guard let player else { return .none(.skipped(.noPlayer)) }
        let watch = loader.preloads.watch(key) { [draft] in draft.note($0) }
        guard player.preload(key, as: asset, of: stream) else {
            loader.preloads.unwatch(watch)
            return .none(.skipped(.playerDeclined))
        }
        return .made(watch)
    }

    private func prepare(
        _ key: KeyURI, _ request: KeyRequest, _ certificate: Promise<ApplicationCertificate, any Error>
    ) async {
        note(.certificate, await Result { try await certificate.value }.outcome, key)
        switch request {
        case .made(let watch):
            defer { loader.preloads.unwatch(watch) }
            skipWhatLeadsToLicense(of: key)
            let answer = await Result { try await watch.answer.value }
            note(.license, (try? answer.get()) ?? answer.outcome, key)
        case .none(let outcome) where outcome.error != nil:
            skipWhatLeadsToLicense(of: key)
            note(.license, outcome, key)
        case .none(let outcome):
            note(.license, outcome, key)
            async let credentials: Void = prepareCredentials(for: key)
            let values = await prepareLookup(for: key)
            await prepareConnection(for: key, values)
            await credentials
        }
    }

    private func skipWhatLeadsToLicense(of key: KeyURI) {
        for part in [.lookup, .connection, .credentials] as [PreloadResult.Part] {
            note(part, .skipped(.notNeeded), key)
        }
    }

    /// Notes an outcome. Parts left undone by a cancellation are not noted, so that the result says why.
    private func note(_ part: PreloadResult.Part, _ outcome: Outcome, _ key: KeyURI) {
        if !Task.isCancelled || outcome.isPrepared { draft.note(part, outcome, for: key) }
    }
}

// MARK: - What needs no player

extension Preload {
    /// - Returns: the known values.
    private func prepareLookup(for key: KeyURI) async -> [String: Secret] {
        let prerequisites = loader.prerequisites
        let result: Result<[String: Secret], any Error>
        switch caller.integration.lookupScope {
        case .never:
            note(.lookup, .skipped(.notNeeded), key)
            return [:]
        case .key where !prerequisites.prefetched.isAllowed:
            note(.lookup, .skipped(.notConfigured), key)
            return [:]
        case .key: result = await Result { try await prerequisites.prepare(asking(.lookup, key), trace) }
        case .loader: result = await Result { try await prerequisites.values(for: .certificate, trace) }
        }
        note(.lookup, result.outcome, key)
        return (try? result.get()) ?? [:]
    }

    /// The request for credentials ahead of time, exactly as for the player's own request.
    private func asking(_ stage: ContentKeyError.Stage, _ key: KeyURI) -> Credentials.Request {
        Credentials.Request(stage, of: key, .streaming, asset)
    }

    private func prepareCredentials(for key: KeyURI) async {
        guard caller.prefetched.isAllowed else { return note(.credentials, .skipped(.notConfigured), key) }
        let limit = caller.configuration.retry.attemptTimeout
        let result = await Result {
            let permit = try await caller.limiter.permit(for: .building(.license, for: nil))
            defer { permit.release() }
            _ = try await withDeadline(limit, caller.timekeeper, expired: { ContentKeyError.credentialsMissing(limit) })
            {
                do {
                    let asking = asking(.license, key)
                    try await caller.prefetched.prepare(asking) { try await caller.credentials(asking) }
                } catch {
                    throw ContentKeyError(error, stage: .license, otherwise: .credentialsFailed)
                }
            }
        }
        note(.credentials, result.outcome, key)
    }

    private func prepareConnection(for key: KeyURI, _ values: [String: Secret]) async {
        guard let url = caller.integration.licenseURL(for: key, lookup: values) else {
            return note(.connection, .skipped(.hostUnknown), key)
        }
        let hosts = caller.configuration.hosts
        let adapted = hosts.adapted(url)
        do {
            try hosts.check(adapted, configured: caller.integration.configuredURLs + values.urls) { origin in
                caller.integration.source(of: origin, key)
            }
        } catch {
            return note(.connection, .failed(ContentKeyError(error, stage: .license, otherwise: .hostRefused)), key)
        }
        guard let origin = Origin(adapted), let target = origin.url else { return }
        let result = await connections.open(to: origin) { try await warm(target, origin) }
        note(.connection, result, key)
    }

    private func warm(_ url: URL, _ origin: Origin) async throws -> Outcome {
        let permit = try await caller.limiter.permit(for: .sending(to: origin))
        defer { permit.release() }
        let limit = caller.configuration.retry.attemptTimeout
        let isOpen = try await withDeadline(
            limit, caller.timekeeper,
            expired: { TransportError(.timedOut, "The server did not answer within \(limit.inWords).") },
            { [transport = caller.transport] in try await transport.warm(url) })
        guard isOpen else { return .skipped(.transportCannot) }
        draft.countRequest()
        return .prepared
    }
}

/// The connections that a preload opens, one to each origin without one.
private final class Connections: Sendable {
    private typealias Connection = Promise<PreloadResult.Outcome, any Error>

    private let open = Locked<[Origin: Connection]>([:])

    /// Notes that a server that replied has left its connection open.
    func note(_ event: KeyEvent.Kind) {
        guard case .exchanged(let summary) = event,
            let origin = URL(string: String(summary.url.prefix { $0 != "?" })).flatMap(Origin.init)
        else { return }
        connection(to: origin).promise.resolve(.success(.prepared))
    }

    /// Opens a connection, or waits for one that is being opened.
    func open(
        to origin: Origin, _ connect: () async throws -> PreloadResult.Outcome
    ) async -> PreloadResult.Outcome {
        let (promise, isNew) = connection(to: origin)
        if isNew { promise.resolve(await Result { try await connect() }) }
        do {
            return try await promise.value
        } catch {
            return .failed(ContentKeyError(error, stage: .license, otherwise: .integrationFailed))
        }
    }

    private func connection(to origin: Origin) -> (promise: Connection, isNew: Bool) {
        open.withLock { open in
            if let known = open[origin] { return (known, false) }
            let new = Connection()
            open[origin] = new
            return (new, true)
        }
    }
}

extension Result where Failure == any Error {
    fileprivate var outcome: PreloadResult.Outcome {
        switch self {
        case .success: .prepared
        case .failure(let error): .failed(ContentKeyError(error, otherwise: .integrationFailed))
        }
    }
}
