import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeySupport
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

// The license requests, each compared with the profile's request, and their replies.
extension TrafficDiagnosis {
    /// - Parameters:
    ///   - sorted: the exchanges by role.
    ///   - checks: the findings so far.
    ///   - places: where the profile would send the requests.
    ///   - sha1s: the certificates that were seen.
    func licenses(
        _ sorted: [TrafficRoles.Role: [TrafficExchange]], for stream: StreamDiagnosis.Stream, after checks: [Checkup],
        _ places: [RecordedAddress], _ sha1s: Set<String>
    ) -> [Checkup] {
        let asked = (sorted[.license] ?? []).filter { !$0.isHop(before: exchanges) }
        let loads = sorted[.keyLoad] ?? []
        guard !asked.isEmpty else {
            return withoutCertificate(sha1s, checks) + notAsked(loads, for: stream, after: checks, sha1s)
        }
        let tellsFirst = !checks.contains { $0.result == .error }
        var found: [(exchange: TrafficExchange, checks: [Checkup])] = []
        for exchange in asked {
            let isFirst = tellsFirst && !found.contains { $0.checks.contains { $0.result == .error } }
            found.append((exchange, check(exchange, stream.keys, places, sha1s, isFirst: isFirst)))
        }
        let good = found.filter { $0.checks.contains { $0.result == .ok } }
        let coverage = LicensedKeys(stream.keys, isKnown ? profile : nil).coverage(of: good.map(\.exchange))
        // A request that was refused and then repeated, for instance with a fresh token, is not a fault if every key arrived in the end.
        let isRepaired =
            !stream.keys.isEmpty && !good.isEmpty && coverage.missingCount == 0
            && found.last?.checks.hasError(at: .license, .token) == false
        let told = found.prefix(Self.mostShown).flatMap(\.checks).map {
            $0.result == .error && isRepaired ? $0.asWarning : $0
        }
        let rest = found.dropFirst(Self.mostShown).flatMap(\.checks).filter { $0.result != .ok }.prefix(Self.mostShown)
        return withoutCertificate(sha1s, checks, good.first?.exchange) + told + rest
            + missing(coverage, of: stream.keys.count, after: told + rest, good.count)
            + loads.prefix(1).map { loaded($0, loads.count).asWarning }
    }

    // Requests that were not made.

    /// The keys without a license in the capture.
    private func missing(
        _ coverage: LicensedKeys.Coverage, of keys: Int, after checks: [Checkup], _ licenses: Int
    ) -> [Checkup] {
        guard !checks.hasError(at: .license, .token) else { return [] }
        if coverage.isUnclear {
            return [
                .unseen(
                    .license,
                    "\(licenses.counted("license")) came for \(keys.counted("key")), and the requests do not say which key each is for.",
                    "Record one playback from its start, without renewals, or name the vendor with --vendor.")
            ]
        }
        guard coverage.missingCount > 0 else { return [] }
        let count = coverage.missingCount
        let named = coverage.missing.first.map { ": \(RecordedAddress($0.raw).shown)" } ?? ""
        return [
            .unseen(
                .license,
                "\(count) of the stream's \(keys.counted("key")) \(count == 1 ? "has" : "have") no license in the capture\(named).",
                "Play the whole stream while it is recorded.")
        ]
    }

    private func notAsked(
        _ loads: [TrafficExchange], for stream: StreamDiagnosis.Stream, after checks: [Checkup], _ sha1s: Set<String>
    ) -> [Checkup] {
        if let load = loads.first { return [loaded(load, loads.count)] }
        if checks.hasError(at: .playlist, .certificate, .token) {
            return [.skipped(.license, "The capture has no license request, because an earlier step is wrong.")]
        }
        guard !stream.keys.isEmpty, !sha1s.isEmpty else {
            return [.unseen(.license, "The capture has no license request.", Self.recordAll)]
        }
        return [
            .error(
                .license, "licenseNotAsked",
                "The stream has FairPlay keys and the certificate came, but no license was requested.",
                "Check how the player uses the certificate: its FairPlay configuration, its errors, and whether the browser supports FairPlay."
            )
        ]
    }

    /// A key URI loaded by a player like a file shows that it does not support FairPlay.
    private func loaded(_ exchange: TrafficExchange, _ count: Int) -> Checkup {
        let times = count == 1 ? "" : ", \(count) times"
        return .error(
            .license, "keyLoadedAsFile",
            "The player loaded the key URI \(exchange.address.shown) as a file\(times), as a player without FairPlay for this stream does.",
            "Give the player its FairPlay configuration, and play in a browser or with a player that has FairPlay.")
    }

    /// The findings if no certificate was recorded.
    private func withoutCertificate(
        _ sha1s: Set<String>, _ checks: [Checkup], _ licensed: TrafficExchange? = nil
    ) -> [Checkup] {
        guard !checks.contains(where: { $0.step == .certificate }) else { return [] }
        let isShipped = isKnown && profile.shipsCertificate
        if isShipped, case .spc(let sha1)? = licensed?.sent.core {
            return [.ok(.certificate, "The app ships it: the SPC was made for the one with SHA-1 \(sha1).")]
        }
        return [.unseen(.certificate, "The capture has no request for a certificate.", Self.recordAll)]
    }

    // One request.

    private func check(
        _ exchange: TrafficExchange, _ keys: [KeyURI], _ places: [RecordedAddress], _ sha1s: Set<String>, isFirst: Bool
    ) -> [Checkup] {
        guard let pair = exchange.pair else { return [unanswered(.license, exchange)] }
        do {
            let license = try license(of: exchange, keys)
            if let gap = exchange.replyGap { return [unseen(.license, exchange, gap)] }
            let terms = license.terms.map { ", \(TermsSummary($0))" } ?? ""
            let unusual = diagnosis.unusualReply(license)
            let gap = exchange.request.gap.map { gap in
                Checkup.unseen(
                    .license, "\(exchange.shown): the body of the request \(gap.words).",
                    "Save the traffic again with the bodies of requests.")
            }
            let inside = inside(license, of: exchange, keys)
            let came = Checkup.ok(.license, "\(exchange.shown): a CKC came\(terms)")
            return (inside.hasError(at: .license) ? [] : [came]) + unusual + inside + [gap].compactMap(\.self)
        } catch {
            if let gap = exchange.replyGap, (200..<300).contains(pair.reply.status) {
                return [unseen(.license, exchange, gap)]
            }
            return refusal(exchange, error, pair.reply, keys, places, sha1s, isFirst: isFirst)
        }
    }

    /// The license in a reply.
    /// - Throws: the profile's error for a reply without a license.
    func license(of exchange: TrafficExchange, _ keys: [KeyURI]) throws -> License {
        guard let pair = exchange.pair else {
            throw IntegrationError(Diagnosis.Kind.licenseMalformed, "No reply is in the capture.")
        }
        let context = LicenseContext(
            keyURI: keys.first ?? KeyURI(""), contentIdentifier: ContentIdentifier(""), purpose: .streaming)
        return try profile.unchecked.license(from: pair, context)
    }

    private func refusal(
        _ exchange: TrafficExchange, _ error: any Error, _ reply: HTTPReply, _ keys: [KeyURI],
        _ places: [RecordedAddress],
        _ sha1s: Set<String>, isFirst: Bool
    ) -> [Checkup] {
        if (300..<400).contains(reply.status), let target = reply.header("location") {
            return [
                .error(
                    .license, "redirectRefused",
                    "\(exchange.shown): the service redirects with \(reply.status) to \(RecordedAddress(target).shown), and the client did not follow.",
                    "Configure the URL that the service redirects to, if it is the vendor's.")
            ]
        }
        let sha1: String? = if case .spc(let sha1) = exchange.sent.core { sha1 } else { nil }
        let refusal = diagnosis.refusal(reply, error, at: .license)
        let faults =
            RequestFault.general(exchange, isAlone: !isKnown)
            + (isKnown ? RequestFault.differences(exchange, from: profile, places: places, leftOut: leftOut) : [])
        if let fault = refusal.leading(faults) {
            let first = isFirst ? "; nothing else was wrong before it" : ""
            let reason =
                "refused. \(answer(reply, exchange)): \(fault.words). Seen in request \(exchange.number)\(first)."
            return [Checkup.error(.license, fault.code, reason, fault.remedy).adding(refusal.partUnknown)]
        }
        // Oddities that are not the cause.
        let asides = faults.prefix(1).map { fault in
            Checkup.warning(.license, fault.code, "Request \(exchange.number): \(fault.words).", fault.remedy)
        }
        if let sha1, !sha1s.isEmpty, !sha1s.contains(sha1), refusal.open.contains(.body) {
            return [
                .error(
                    .certificate, "spcForOtherCertificate",
                    "The SPC was made for another certificate than the service's: \(sha1) ≠ \(sha1s.sorted().joined(separator: ", ")).",
                    "Have the app make its SPCs with the service's certificate.")
            ]
        }
        if exchange.came.core == exchange.sent.core, sha1 != nil {
            return [
                .error(
                    .license, "licenseIsSPC",
                    "\(exchange.shown): the reply is \(exchange.came.noun), the same as in the request.",
                    "Check the address: it belongs to a server that echoes requests, not to a license service.")
            ]
        }
        let check = Checkup(.license, Failure(error), about: exchange.shown)
        let told = explained(check, error, exchange, sha1).adding("Seen in request \(exchange.number).").adding(
            unseen(in: exchange, refusal))
        let token = tokenFaults(exchange, keys).map { refusal.open.contains(.token) ? $0 : $0.asWarning }
        return token + [told] + asides
    }

    /// Parts that the recorder left out and that might explain the refusal.
    private func unseen(in exchange: TrafficExchange, _ refusal: Refusal) -> String? {
        let body = exchange.request.gap.map { "The request's body \($0.words)." }
        let removed = exchange.request.headers.filter { RemovedValue.isOne($0.value) }.map(\.name)
        let left = leftOut.filter { $0 == "authorization" && isKnown && profile.license.sends($0) }
        let token =
            removed.first.map { "The value of \($0.prefix(40).description.visible) was removed from the capture." }
            ?? left.first.map { _ in
                "Chrome leaves Authorization out of a HAR file unless sensitive data is exported."
            }
        let said = [refusal.open.contains(.body) ? body : nil, refusal.open.contains(.token) ? token : nil]
        return said.contains { $0 != nil } ? said.compactMap(\.self).joined(separator: " ") : nil
    }

    /// `EZDRM answered 500 "Unable to parse SPC"`.
    private func answer(_ reply: HTTPReply, _ exchange: TrafficExchange) -> String {
        let who = isKnown ? profile.vendor : "The service"
        let nothing = reply.body.isEmpty && exchange.replyGap == nil ? " and nothing" : ""
        let words = profile.errors.words(of: reply).map { " \"\($0.visible)\"" } ?? nothing
        return "\(who) answered \(reply.status)\(words)"
    }

    /// Faults that the token's own claims show at the time it was sent.
    private func tokenFaults(_ exchange: TrafficExchange, _ keys: [KeyURI]) -> [Checkup] {
        guard isKnown, let date = exchange.date, let token = profile.license.token(in: exchange) else {
            return []
        }
        let key = keys.count == 1 ? keys[0] : KeyURI("")
        let context = LicenseContext(
            keyURI: key, contentIdentifier: (try? profile.contentIdentifier(for: key)) ?? ContentIdentifier(""))
        let advice = profile.unchecked.advice(
            on: CredentialSet([CredentialSet.tokenName: Secret(token)]), context, at: date)
        // A session may have been opened before the recording, at an address that is in no setting.
        let telling = advice.filter { $0 != .needsSession && (keys.count == 1 || $0 != .keyNotCovered) }
            .map(InspectionFinding.init)
        return telling.filter { $0.severity == .error }.prefix(1).map {
            Checkup(.token, $0).adding("It was sent in request \(exchange.number).")
        }
    }
}

extension VendorProfile {
    /// Whether the app ships the certificate, so that none is requested.
    fileprivate var shipsCertificate: Bool {
        switch certificate {
        case .fetched: false
        case .inline: true
        case .inlineOrFetched(let setting, _, _): settings[setting] != nil
        }
    }
}

extension RequestRule {
    /// Whether it sends a header field.
    fileprivate func sends(_ name: String) -> Bool { headers.contains { $0.name.lowercased() == name } }

    /// The token of a request that was made by the rule; `nil` if it has none, or if it was removed.
    fileprivate func token(in exchange: TrafficExchange) -> String? {
        func holdsToken(_ rule: TextRule) -> Bool { rule.names.credentials.contains(CredentialSet.tokenName) }
        let inHeader = headers.first { holdsToken($0.value) }.flatMap { exchange.request.header($0.name) }
        let inQuery = url.changes.compactMap(\.queryItem).first { holdsToken($0.value) }
            .flatMap { exchange.address.value(of: $0.name) }
        let inBody: String? =
            switch body {
            case .json(.object(let members)):
                members.first { if case .rule(let rule) = $0.value { holdsToken(rule) } else { false } }
                    .flatMap { member in exchange.fields.first { $0.name == member.key }?.value }
            case .form(let fields), .formWithKeyURIQuery(let fields), .multipart(let fields):
                fields.first { holdsToken($0.value) }.flatMap { field in
                    exchange.fields.first { $0.name == field.name }?.value
                }
            default: nil
            }
        guard let text = inHeader ?? inQuery ?? inBody, !RemovedValue.isOne(text) else { return nil }
        return text.lowercased().hasPrefix("bearer ") ? String(text.dropFirst(7)) : text
    }
}
