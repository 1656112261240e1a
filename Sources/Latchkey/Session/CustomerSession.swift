public import Foundation
public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

/// Gets content keys from code of the app's own, which makes the requests to its secure session's service: `customer-ssm`.
///
/// The app opens the session first, and passes the certificate. Pass key requests to `answer(_:)`; each ends exactly once, as with a
/// `ContentKeyLoader`. If a license states a number of seconds, the session is kept alive that often: by license renewals, for which the
/// player has to request its keys again, or by calls of `heartbeat()`. Safe to use from any thread.
///
/// Source: `Documentation/Vendors/NAGRA.md` §3.
@_spi(Adapters) public final class CustomerSession: Sendable {
    private let certificate: ApplicationCertificate
    private let callbacks: any CustomerSessionCallbacks
    private let deadline: Duration
    private let timekeeper: any Timekeeper
    private let contentIdentifier: @Sendable (KeyURI) throws -> ContentIdentifier
    private let requests: KeyRequests
    private let heartbeat: CustomerHeartbeat

    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - callbacks: the app's code.
    ///   - deadline: how long a key may take from request to answer. Defaults to 30 s.
    ///   - timekeeper: the time.
    ///   - contentIdentifier: names a key for the SPC. Defaults to the rule for NAGRA's key URIs.
    /// - Throws: `IntegrationError` `certificateMalformed`.
    public init(
        certificate: Data, callbacks: some CustomerSessionCallbacks, deadline: Duration = .seconds(30),
        timekeeper: any Timekeeper = SystemTimekeeper(),
        contentIdentifier: @escaping @Sendable (KeyURI) throws -> ContentIdentifier = {
            try VendorProfile.nagra.contentIdentifier(for: $0)
        }
    ) throws {
        self.certificate = try ApplicationCertificate(der: certificate)
        self.callbacks = callbacks
        self.deadline = deadline
        self.timekeeper = timekeeper
        self.contentIdentifier = contentIdentifier
        requests = KeyRequests(
            KeyRequests.Context(
                holdsKeys: false, timekeeper: timekeeper,
                trace: { number, _, asset in Trace(number, of: asset, timekeeper) { _ in } }))
        heartbeat = CustomerHeartbeat(callbacks, timekeeper)
    }

    deinit { heartbeat.stop() }

    /// Connects the player.
    /// - Parameters:
    ///   - renew: has the player ask for its keys again, with new SPCs and the purpose `renewal`.
    ///   - fail: stops the player, because a heartbeat threw; called once.
    public func attach(
        renew: @escaping @Sendable () -> Void, fail: @escaping @Sendable (ContentKeyError) -> Void
    ) {
        heartbeat.attach(renew, fail)
    }

    /// Takes a player's key request and ends it exactly once. Returns at once; call it from anywhere.
    @_spi(Adapters)
    @discardableResult
    public func answer(_ request: some PlayerKeyRequest) -> KeyRequest {
        let request = requests.add(request)
        request.start { await self.work(on: $0) }
        return request
    }

    /// Pauses all calls until `resume()`, for an app in the background that does not play.
    public func suspend() { heartbeat.suspend() }

    /// Resumes after `suspend()`. An overdue call is made once.
    public func resume() { heartbeat.resume() }

    /// Ends everything: pending key requests and later ones are answered with `cancelled`, and the app is no longer called.
    public func cancel() {
        heartbeat.stop()
        requests.close(.cancelled)
    }
}

extension CustomerSession {
    /// FairPlay's key system id, as the callbacks are told.
    public static let keySystem = "94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"

    private func work(on request: KeyRequest) async {
        let trace = request.trace
        do {
            let license = try await withDeadline(
                deadline, timekeeper, expired: { [deadline] in trace.deadlineExceeded(deadline) },
                { try await self.license(for: request.playerRequest, trace) })
            guard let license else {
                requests.finish(request, .heldBySystem)
                return
            }
            if requests.finish(request, .license(Secret(license.ckc), nil)) {
                heartbeat.follow(license, request.purpose, since: trace.start)
            }
        } catch {
            let error = ContentKeyError(error, stage: trace.stage, otherwise: .integrationFailed)
            requests.finish(request, .failure(error))
        }
    }

    /// The app's license; `nil` if the system holds the key.
    private func license(for request: any PlayerKeyRequest, _ trace: Trace) async throws -> CustomerLicense? {
        let identifier = try contentIdentifier(request.keyURI)
        trace.send(.stageEnded(.contentIdentifier, took: .zero))
        trace.send(.stageEnded(.certificate, took: .zero))
        let spc: Data?
        do {
            spc = try await request.makeOptionalSPC(certificate: certificate.der, contentIdentifier: identifier.bytes)
        } catch {
            throw ContentKeyError(error, stage: .spc, otherwise: .spcFailed)
        }
        guard let spc else { return nil }
        trace.send(.stageEnded(.spc, took: .zero))
        let license = try await callbacks.license(
            keySystem: Self.keySystem, payload: spc, type: request.purpose == .renewal ? .renewal : .request)
        guard !license.ckc.isEmpty else {
            throw ContentKeyError(
                .licenseMalformed, stage: .license,
                "The license callback gave an empty CKC.", remedy: "Return the CKC, or throw what went wrong.")
        }
        trace.send(.stageEnded(.license, took: .zero))
        return license
    }
}
