import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeySimulation
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

// The certificate and the licenses.
extension StreamDiagnosis {
    /// - Parameter mayCarryCredentials: whether the request may be the vendor's own, with its token, if it has one.
    func certificate(
        _ loader: ContentKeyLoader, _ watch: TrafficWatch, mayCarryCredentials: Bool
    ) async -> [Checkup] {
        let wantsCredentials = await certificateWantsCredentials()
        if wantsCredentials, let bytes = await anonymousCertificate(loader, watch) {
            return checks(of: bytes, from: watch.notes.lastReply)
        }
        guard mayCarryCredentials || !wantsCredentials else {
            return [.skipped(.certificate, "Its request would carry the token.")]
        }
        do {
            let bytes = try await loader.applicationCertificate().bytes
            return checks(of: bytes, from: watch.notes.lastReply)
        } catch {
            let step = Checkup.Step(error.stage)
            let check =
                step == .lookup
                ? Checkup(.lookup, Failure(error), about: watch.notes.lastAddress)
                : Checkup(.certificate, Failure(error))
            return [explained(check, error, watch.notes, spcFor: spcCertificate)]
        }
    }

    private func certificateWantsCredentials() async -> Bool {
        let isAsked = Locked(false)
        let context = CertificateContext {
            isAsked.withLock { $0 = true }
            return credentials
        }
        _ = try? await vendor.certificateRequest(context)
        return isAsked.withLock { $0 }
    }

    /// The certificate that a service returns without a token; `nil` if it does not. Most do, as it is public.
    private func anonymousCertificate(_ loader: ContentKeyLoader, _ watch: TrafficWatch) async -> Data? {
        guard vendor.lookupScope == .never, var request = try? await loader.certificateRequest() else { return nil }
        for (name, value) in request.allHTTPHeaderFields ?? [:] where watch.isSecret(value) {
            request.setValue(nil, forHTTPHeaderField: name)
        }
        let transport = recorder?.watching(watch, at: "certificate", timekeeper: timekeeper) ?? watch
        guard !watch.carriesSecret(request), let reply = try? await transport.send(request, bodyLimit: 1 << 20),
            reply.status == 200
        else { return nil }
        return try? loader.applicationCertificate(from: HTTPExchange(request: request, reply: reply)).bytes
    }

    /// - Parameter reply: the reply that the certificate was in; `nil` if the app has it.
    func checks(of bytes: Data, from reply: HTTPReply?) -> [Checkup] {
        let report = CertificateReport(bytes, at: timekeeper.date)
        guard let bits = report.rsaBits, let sha1 = report.sha1 else { return [unreadable(bytes, report)] }
        let kind =
            report.isTestCertificate == true ? "of a service for tests" : "for \(report.subject ?? "an unknown owner")"
        let found = reply.map { Recognition($0.body) } ?? Recognition(bytes)
        let problems =
            (found.holdsPrivateKey ? [Checkup(.certificate, .privateKeyPublished(found))] : [])
            + report.problems.map { Checkup(.certificate, $0) }
        let form = reply.map { Recognition($0.body) }.flatMap { $0 == .certificate ? nil : ", from \($0.noun)" } ?? ""
        return [.ok(.certificate, "RSA \(bits), \(kind), SHA-1 \(sha1)\(form)")] + problems + mismatches(sha1)
    }

    /// A certificate of no known form is passed on, as the client does; a recognizably different body is an error.
    private func unreadable(_ bytes: Data, _ report: CertificateReport) -> Checkup {
        let found = Recognition(bytes)
        return switch found {
        case .bundle, .unknown: Checkup(.certificate, .bundle(found))
        default: Checkup(.certificate, report.problems.first ?? .bundle(found))
        }
    }

    /// Reports a service certificate that differs from the one the SPC is or will be made for.
    private func mismatches(_ sha1: String) -> [Checkup] {
        if let recorded = recordedCertificateSHA1, recorded != sha1 {
            return [
                .error(
                    .certificate, "spcForOtherCertificate",
                    "The SPC was made for another certificate than the service's: \(recorded) ≠ \(sha1).",
                    "Ship the service's certificate in the app.")
            ]
        }
        guard case .device(let certificate, _) = player, certificate.fingerprint.hexString != sha1 else { return [] }
        return [
            .error(
                .certificate, "foreignCertificate",
                "The service's certificate (SHA-1 \(sha1)) is not that of --credentials (\(certificate.fingerprint.hexString)).",
                "Point certificateURL at the certificate of --credentials, or give the credentials that belong to this one."
            )
        ]
    }

    /// The licenses of a stream's first keys, with the device's keys.
    func licenses(
        for keys: [KeyURI], _ loader: ContentKeyLoader, _ watch: TrafficWatch
    ) async -> (checks: [Checkup], keys: [KeyURI: ContentKey]) {
        switch player {
        case .none: return ([], [:])
        case .recorded(let bytes, let key):
            guard let key = key ?? keys.first else { return ([], [:]) }
            do {
                let license = try await loader.license(for: SPCMessage(bytes), key: key)
                let terms = license.terms.map { ", \(TermsSummary($0))" } ?? ""
                let reason = "\(shown(key)): a CKC came\(terms); only the device that made the SPC can open it"
                return ([.ok(.license, reason)] + unusualReply(license), [:])
            } catch {
                return (
                    [
                        explained(
                            Checkup(.license, Failure(error), about: shown(key)), error, watch.notes,
                            spcFor: spcCertificate)
                    ], [:]
                )
            }
        case .device(let certificate, let secret):
            let player = SimulatedPlayer(
                loader: loader, applicationSecret: secret, certificate: certificate, timekeeper: timekeeper)
            return await licenses(for: keys, player, watch)
        }
    }

    private func licenses(
        for keys: [KeyURI], _ player: SimulatedPlayer, _ watch: TrafficWatch
    ) async -> (checks: [Checkup], keys: [KeyURI: ContentKey]) {
        var checks: [Checkup] = []
        var opened: [KeyURI: ContentKey] = [:]
        for key in keys.prefix(licenseLimit) {
            let start = timekeeper.uptime
            do {
                let got = try await player.key(key).outcome.get()
                opened[key] = got.contentKey
                let time = Int((timekeeper.uptime - start).inMilliseconds.rounded())
                checks.append(
                    .ok(.license, "\(shown(key)): the device has the key after \(time) ms, \(TermsSummary(got.terms))"))
                checks += oddTerms(got.terms, of: key)
            } catch {
                let step = Checkup.Step((error as? ContentKeyError)?.stage)
                let subject = step == .license ? shown(key) : watch.notes.lastAddress ?? shown(key)
                var check = explained(
                    Checkup(step, Failure(error), about: subject), error, watch.notes, spcFor: spcCertificate)
                if step == .license, source == nil, !opened.isEmpty, check.open.contains(.token) {
                    let other = check.remedy.map { " Otherwise: \($0)" } ?? ""
                    check = check.adding(
                        "An earlier key's license came with the same token, which may be for one license only.",
                        remedy:
                            "If it is, request one license with --licenses 1, or give the address of new tokens (--set token=@https://…).\(other)"
                    )
                }
                // Steps that precede all licenses fail once for all of them.
                if !checks.contains(where: { $0.step == step && $0.reason == check.reason }) { checks.append(check) }
            }
        }
        checks = preceding(checks)
        if keys.count > licenseLimit {
            checks.append(
                .unseen(
                    .license, "\(keys.count - licenseLimit) more keys were not requested: services bill licenses.",
                    "Request more with --licenses N."))
        }
        return (checks, opened)
    }

    /// The checks of licenses, after those of the preceding steps: the entitlement, the secure session.
    private func preceding(_ licenses: [Checkup]) -> [Checkup] {
        let wanted: [(step: Checkup.Step, isWanted: Bool, words: String)] = [
            (.lookup, vendor.lookupScope != .never, "The entitlement came."),
            (.session, vendor.sessionScope == .source, "The session opened."),
        ]
        let came = wanted.filter { row in
            row.isWanted && !licenses.contains { $0.step == row.step }
                && licenses.contains { $0.step == .license && $0.result != .unseen }
        }
        let isReached = licenses.contains { $0.step == .license }
        return came.map { .ok($0.step, $0.words) } + licenses
            + (isReached ? [] : [.skipped(.license, "None was requested, because an earlier step failed.")])
    }

    /// Terms that end before a viewer can watch.
    func oddTerms(_ terms: LicenseTerms, of key: KeyURI) -> [Checkup] {
        let summary = TermsSummary(terms)
        let times = [
            ("lease", summary.lease), ("rental", summary.rental), ("storage", summary.storage),
            ("playback", summary.playback),
        ]
        guard
            let (name, seconds) = times.lazy.compactMap({ name, seconds in seconds.map { (name, $0) } })
                .first(where: { $0.1 < Self.shortestTerm })
        else { return [] }
        return [
            .warning(
                .license, "shortTerms", "\(shown(key)): the key's \(name) ends after \(seconds) s.",
                "Ask the service for a longer \(name); renewals need some 30 s.")
        ]
    }

    /// In seconds.
    private static let shortestTerm: Int64 = 30

    /// A CKC that arrived in a form the vendor does not document, or whose version is unknown.
    func unusualReply(_ license: License) -> [Checkup] {
        let remedy = "Compare the reply with the vendor's documentation, and choose the profile's variant that fits."
        let found = Recognition(license.ckc.revealed)
        let warnings = license.warnings.map { Checkup.warning(.license, $0.code, $0.text, remedy) }
        return found == .ckc
            ? warnings
            : warnings + [.warning(.license, "ckcIs\(found.name)", "The CKC in the reply is \(found.noun).", remedy)]
    }
}
