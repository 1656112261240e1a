public import Foundation
public import LatchkeyCore
public import LatchkeyVendors

/// Gets content keys from code of the app's own, which makes the requests to its secure session's service: `customer-ssm`.
///
/// The app opens the session before it makes this, and gives the certificate. Give key requests with `answer(_:)`; each is answered
/// exactly once. A license that states a number of seconds is kept alive as it says: by license renewals, for which the player has to
/// ask for its keys again, or by calls of `heartbeat()`. Safe to use from any thread.
///
/// Source: `vendors.md` §9.3.
public final class CustomerSession: Sendable {
    private let certificate: ApplicationCertificate
    private let callbacks: any CustomerSessionCallbacks
    private let deadline: Duration
    private let timekeeper: any Timekeeper
    private let contentIdentifier: @Sendable (KeyURI) throws -> ContentIdentifier
    private let open = OpenRequests()
    private let upkeep: CustomerUpkeep

    /// - Parameters:
    ///   - certificate: the application certificate, DER.
    ///   - callbacks: the app's code.
    ///   - deadline: how long a key may take from request to answer.
    ///   - timekeeper: the time.
    ///   - contentIdentifier: names a key for the SPC; as NAGRA's key URIs do unless given.
    /// - Throws: `IntegrationError` `certificateMalformed`.
    public init(
        certificate: Data, callbacks: some CustomerSessionCallbacks, deadline: Duration = RetryPolicy().deadline,
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
        upkeep = CustomerUpkeep(callbacks, timekeeper)
    }

    deinit { upkeep.stop() }

    /// Connects the player.
    /// - Parameters:
    ///   - renew: has the player ask for its keys again, with new SPCs and the purpose `renewal`.
    ///   - fail: has the player stop, because a heartbeat threw; called once.
    public func attach(
        renew: @escaping @Sendable () -> Void, fail: @escaping @Sendable (ContentKeyError) -> Void
    ) {
        upkeep.attach(renew, fail)
    }

    /// Takes a player's key request and answers it exactly once. Returns at once; call it from anywhere.
    @discardableResult
    public func answer(_ request: some PlayerKeyRequest) -> KeyRequestHandle {
        let exchange = open.add(request)
        exchange.open.attach(startTask { await self.run(exchange) })
        return KeyRequestHandle(open: exchange.open)
    }

    /// Calls nothing until `resume()`, for an app in the background that does not play.
    public func suspend() { upkeep.suspend() }

    /// Goes on after `suspend()`; what came due meanwhile is done once.
    public func resume() { upkeep.resume() }

    /// Ends everything: open key requests are answered with `cancelled`, as are later ones, and the app is called no more.
    public func cancel() {
        upkeep.stop()
        open.cancelAll()
    }
}

extension CustomerSession {
    /// FairPlay's key system id, as the callbacks are told.
    public static let keySystem = "94CE86FB-07FF-4F43-ADB8-93D2FA968CA2"

    private func run(_ exchange: OpenRequests.Exchange) async {
        defer { open.remove(exchange) }
        let progress = Progress()
        do {
            let request = exchange.open.request
            let start = timekeeper.uptime
            let license = try await withDeadline(
                deadline, timekeeper,
                expired: { [deadline] in
                    ContentKeyError.deadlineExceeded(deadline, stage: progress.stage, after: nil)
                },
                { try await self.license(for: request, progress) })
            guard exchange.open.answer(.success(license.ckc)) else { return }
            upkeep.keepUp(license, request.purpose, since: start)
        } catch {
            exchange.open.answer(
                .failure(ContentKeyError(error, stage: progress.stage, otherwise: .integrationFailed)))
        }
    }

    private func license(for request: any PlayerKeyRequest, _ progress: Progress) async throws -> CustomerLicense {
        let identifier = try contentIdentifier(request.keyURI)
        progress.note(.stageEnded(.contentIdentifier, took: .zero))
        progress.note(.stageEnded(.certificate, took: .zero))
        let spc: Data
        do {
            spc = try await request.makeSPC(certificate: certificate.der, contentIdentifier: identifier.bytes)
        } catch {
            throw ContentKeyError(error, stage: .spc, otherwise: .spcFailed)
        }
        progress.note(.stageEnded(.spc, took: .zero))
        let license = try await callbacks.license(
            keySystem: Self.keySystem, payload: spc, type: request.purpose == .renewal ? .renewal : .request)
        guard !license.ckc.isEmpty else {
            throw ContentKeyError(
                .init(rawValue: IntegrationError.Kind.licenseMalformed.rawValue), stage: .license,
                "The license callback gave an empty CKC.", remedy: "Return the CKC, or throw what went wrong.")
        }
        progress.note(.stageEnded(.license, took: .zero))
        return license
    }
}
