public import LatchkeyCore
@_spi(Integrations) public import LatchkeyVendors

#if canImport(FoundationNetworking)
    import Foundation
    public import FoundationNetworking
#else
    public import Foundation
#endif

extension ContentKeyLoader {
    /// The application certificate: from the cache, or from one fetch that all callers share.
    public func applicationCertificate() async throws(ContentKeyError) -> ApplicationCertificate {
        try await certificates.certificate(trace())
    }
}

/// The steps of a key's way one by one, for a player that makes the SPC itself or does the I/O itself.
@_spi(Adapters) extension ContentKeyLoader {
    /// The identifier by which the license service knows a key.
    public func contentIdentifier(for key: KeyURI) throws(ContentKeyError) -> ContentIdentifier {
        let identifier: ContentIdentifier
        do {
            identifier = try caller.integration.contentIdentifier(for: key)
        } catch {
            throw ContentKeyError(error, stage: .contentIdentifier, otherwise: .integrationFailed)
        }
        // An empty identifier makes the system fail without stating the cause (−42669, −42675).
        guard identifier.bytes.count <= 200 else {
            throw ContentKeyError(
                .contentIdentifierMissing, stage: .contentIdentifier,
                "The content identifier has \(identifier.bytes.count) bytes; a device takes 200 at most.",
                remedy: "Package with shorter key URIs, or choose a profile variant that takes a part of them.")
        }
        guard identifier.bytes.count >= 2 else {
            throw ContentKeyError(
                .contentIdentifierMissing, stage: .contentIdentifier,
                "The content identifier has \(identifier.bytes.count) bytes; a device takes 2 at least.",
                remedy: "Choose the profile variant whose content-id rule fits the key URIs of the playlist.")
        }
        return identifier
    }

    /// Exchanges an SPC for a license: request, retries, reply.
    /// - Parameters:
    ///   - spc: the player's SPC.
    ///   - key: the key's URI.
    ///   - purpose: the intended use of the key.
    ///   - asset: the title that plays, for credentials and events. Defaults to `nil`: not known.
    ///   - player: the player whose secure session the license belongs to. Defaults to the only player.
    public func license(
        for spc: SPCMessage, key: KeyURI, purpose: KeyPurpose = .streaming, asset: AssetID? = nil,
        player: PlayerID = .only
    ) async throws(ContentKeyError) -> License {
        let identifier = try contentIdentifier(for: key)
        return try await license(for: spc, key, identifier, purpose, player, trace(key, asset))
    }

    /// The time after which the key of a license that has just come must be renewed; `nil` if it needs no renewal.
    ///
    /// For a player that schedules renewals or makes license requests itself. The loader renews the keys that it answers with
    /// `answer(_:)`.
    public func renewalDelay(after license: License) -> Duration? { requests.renewal(after: license) }

    /// The certificate request, for a player that sends it itself; `nil` if the certificate does not come over the network.
    public func certificateRequest() async throws(ContentKeyError) -> URLRequest? {
        let issued = IssuedCredentials { [caller] in try await caller.credentials(.certificate) }
        do {
            let values = try await prerequisites.values(for: .certificate, trace())
            return try await caller.request(.certificate, issued, for: nil, trusting: values.urls) {
                [integration = caller.integration] issued in
                let context = CertificateContext(lookup: values) { try await issued.credentials() }
                if let request = try await integration.certificateRequest(context) { return request }
                throw ContentKeyError(.certificateMissing, "There is no request.", remedy: "Use the bundled one.")
            }
        } catch {
            guard error.kind != .certificateMissing else { return nil }
            throw error
        }
    }

    /// The certificate in a reply that the player received.
    public func applicationCertificate(
        from exchange: HTTPExchange
    ) throws(ContentKeyError) -> ApplicationCertificate {
        try caller.read(.certificate, exchange) { try caller.integration.checkedCertificate(in: $0) }
    }

    /// The license request, for a player that sends it itself; the parameters are those of
    /// `license(for:key:purpose:asset:player:)`.
    public func licenseRequest(
        for spc: SPCMessage, key: KeyURI, purpose: KeyPurpose = .streaming, asset: AssetID? = nil,
        player: PlayerID = .only
    ) async throws(ContentKeyError) -> URLRequest {
        try checkNotEmpty(spc)
        let identifier = try contentIdentifier(for: key)
        let values = try await prerequisites.values(for: .init(.lookup, of: key, purpose, asset), trace(key, asset))
        let held = try await sessions?.session(of: player).values(for: purpose, asset) ?? [:]
        let issued = IssuedCredentials(alsoSecret: [spc.bytes] + values.values + held.values) { [caller] in
            try await caller.credentials(.init(.license, of: key, purpose, asset))
        }
        return try await caller.request(.license, issued, for: key, trusting: values.urls) {
            [integration = caller.integration] issued in
            let context = LicenseContext(
                keyURI: key, contentIdentifier: identifier, purpose: purpose, lookup: values, session: held
            ) { try await issued.credentials() }
            return try await integration.licenseRequest(for: spc, context)
        }
    }

    /// The license in a reply that the player received.
    public func license(
        from exchange: HTTPExchange, key: KeyURI, purpose: KeyPurpose = .streaming, player: PlayerID = .only
    ) throws(ContentKeyError) -> License {
        let identifier = try contentIdentifier(for: key)
        let context = LicenseContext(keyURI: key, contentIdentifier: identifier, purpose: purpose)
        let license = try caller.read(.license, exchange) { try caller.integration.checkedLicense(from: $0, context) }
        try sessions?.session(of: player).note(license, purpose)
        return license
    }
}

extension ContentKeyLoader {
    func license(
        for spc: SPCMessage, _ key: KeyURI, _ identifier: ContentIdentifier, _ purpose: KeyPurpose,
        _ player: PlayerID, _ trace: Trace
    ) async throws(ContentKeyError) -> License {
        try checkNotEmpty(spc)
        caller.record?.note(key, purpose, of: trace.number)
        caller.record?.noteSPC(spc.bytes.count, of: trace.number)
        let values = try await prerequisites.values(for: .init(.lookup, of: key, purpose, trace.asset), trace)
        let context = LicenseContext(keyURI: key, contentIdentifier: identifier, purpose: purpose, lookup: values)
        guard let sessions else { return try await license(for: spc, context, trace) { [:] } }
        let session = try sessions.session(of: player, for: trace.number)
        return try await session.license(for: purpose, trace.asset) { held throws(ContentKeyError) in
            try await self.license(for: spc, context, trace, held)
        }
    }

    /// - Parameter session: returns the secure session's values for each attempt, as a heartbeat may have changed them.
    private func license(
        for spc: SPCMessage, _ context: LicenseContext, _ trace: Trace,
        _ session: @escaping @Sendable () async throws -> [String: Secret]
    ) async throws(ContentKeyError) -> License {
        let (integration, timekeeper) = (caller.integration, caller.timekeeper)
        let lastAdvice = Locked<[TokenInspection.Advice]>([])
        return try await caller.perform(
            .init(
                asking: .init(.license, of: context.keyURI, context.purpose, trace.asset),
                alsoSecret: [spc.bytes] + context.lookup.values, trusted: context.lookup.urls,
                expected: integration.licenseURL(for: context.keyURI, lookup: context.lookup), trace: trace,
                makeRequest: { issued in
                    var context = context
                    context.session = try await session()
                    context.credentials = { try await issued.credentials() }
                    let request = try await integration.licenseRequest(for: spc, context)
                    let advice = integration.advice(on: issued.credentialSet, context, at: timekeeper.date)
                    lastAdvice.withLock { $0 = advice }
                    if !advice.isEmpty { trace.send(.tokenAdvice(advice)) }
                    return request
                },
                read: { exchange in
                    do {
                        let license = try integration.checkedLicense(from: exchange, context)
                        for warning in license.warnings { trace.send(.replyWarning(warning)) }
                        return license
                    } catch let error as IntegrationError {
                        throw error.informed(by: lastAdvice.withLock { $0 })
                    }
                }))
    }

    private func checkNotEmpty(_ spc: SPCMessage) throws(ContentKeyError) {
        guard spc.bytes.count == 0 else { return }
        throw ContentKeyError(
            .spcFailed, stage: .spc, "The player made an empty SPC.",
            remedy: "Check the application certificate and the content identifier.")
    }
}

extension IntegrationError {
    /// The refusal of a token, combined with the advice given before it was sent: the advice comes first if the service gave no reason, or
    /// if it says that there is no token because a session is missing.
    ///
    /// A token that is not yet valid makes it `notYetValid`; an expired one, `unauthenticated`.
    fileprivate func informed(by advice: [TokenInspection.Advice]) -> Self {
        guard [.unauthenticated, .forbidden].contains(kind) else { return self }
        let origin = ValueOrigin.credential(CredentialSet.tokenName)
        if let early = advice.first(where: { $0.code == "notYetValid" }) {
            return Self(.notYetValid, "\(reason) \(early.described(from: origin))", service: service)
        }
        let isWordless = service?.code == nil && service?.message == nil
        guard let notice = advice.first(where: { isWordless || $0 == .needsSession }) else { return self }
        let wantsAnother = ["expired", "mayHaveExpired"].contains(notice.code)
        return Self(
            wantsAnother ? .unauthenticated : kind, "\(notice.described(from: origin)) \(reason)",
            remedy: notice.remedy, service: service)
    }
}
