package import Latchkey
package import LatchkeyCore
package import LatchkeyVendors

/// Finds the profiles that match a key URI, a request or a reply, best first.
///
/// Names that only one vendor uses, such as its host or its header field, have the most weight. Forms of bodies and key URIs weigh more the
/// rarer they are. Nothing is sent, and no sentence contains a secret.
package struct VendorIdentification: Sendable {
    private let profiles: [ProfileForm]

    /// - Parameter profiles: the profiles to choose from. Defaults to those of Latchkey.
    package init(profiles: [VendorProfile] = VendorProfile.all) { self.profiles = profiles.map { ProfileForm($0) } }

    /// The profiles that match a key URI; empty if its form is too common.
    package func identify(keyURI: KeyURI) -> [VendorMatch] {
        matches(brand: { $0.evidence(in: keyURI) }, profile: { $0.evidence(in: keyURI) })
    }

    /// The profiles that match a certificate, lookup, session or license request.
    package func identify(_ request: RecordedRequest) -> [VendorMatch] {
        identify(RequestFacts(request))
    }

    private func identify(_ facts: RequestFacts) -> [VendorMatch] {
        matches(brand: { $0.evidence(in: facts) }, profile: { $0.evidence(in: facts) })
    }

    /// The profiles that match a reply, which may be a refusal.
    package func identify(_ reply: HTTPReply) -> [VendorMatch] {
        identify(ReplyShape(reply, Recognition(reply.body)))
    }

    private func identify(_ seen: ReplyShape) -> [VendorMatch] {
        matches(brand: { $0.evidence(in: seen) }, profile: { $0.evidence(in: seen) })
    }

    /// The profile of an integration's name in a player's source, as THEOplayer's samples write it: `vudrm`, `titaniumDRM`,
    /// `customkeyosDRM`.
    package func identify(integration: String) -> [VendorMatch] {
        let name = integration.lowercased().replacing("custom", with: "").replacing("integration", with: "")
        let names = [integration.lowercased(), name, String(name.hasSuffix("drm") ? name.dropLast(3) : name[...])]
        return names.compactMap { name in profiles.first { $0.profile.identifier == name } }.prefix(1).map { found in
            VendorMatch(
                profile: found.profile.identifier, vendor: found.profile.vendor,
                unsorted: [.init(weight: 60, sentence: "The source names the integration \(found.profile.identifier).")]
            )
        }
    }

    /// Combines several observations of one stream. The same sentence counts once.
    package static func combined(_ findings: [[VendorMatch]]) -> [VendorMatch] {
        var order: [VendorMatch] = []
        var places: [String: Int] = [:]
        for match in findings.joined() {
            guard let place = places[match.key] else {
                places[match.key] = order.count
                order.append(match)
                continue
            }
            let known = Set(order[place].evidence.map(\.sentence))
            let more = match.evidence.filter { !known.contains($0.sentence) }
            order[place] = VendorMatch(
                profile: match.profile, vendor: match.vendor, unsorted: order[place].evidence + more)
        }
        return order.ranked
    }

    private func matches(
        brand: (VendorBrand) -> [VendorMatch.Evidence], profile: (ProfileForm) -> [VendorMatch.Evidence]
    ) -> [VendorMatch] {
        let ofBrands = VendorBrand.all.map { ($0, brand($0)) }
        let profiled = profiles.compactMap { candidate -> VendorMatch? in
            let own = candidate.brand.map { ofBrands[$0] }
            let evidence = (own?.1 ?? []) + profile(candidate)
            guard evidence.contains(where: { $0.weight > 0 }) else { return nil }
            return VendorMatch(
                profile: candidate.profile.identifier, vendor: own?.0.name ?? candidate.profile.name, unsorted: evidence
            )
        }
        let unprofiled = ofBrands.filter { $0.0.profile == nil }
            .map { VendorMatch(profile: nil, vendor: $0.0.name, unsorted: $0.1) }
        return (profiled + unprofiled).filter { !$0.reasons.isEmpty }.ranked
    }
}

extension VendorMatch {
    fileprivate var key: String { profile ?? "\u{0}\(vendor)" }
}

extension VendorIdentification {
    /// The profiles that match the traffic of a stream. Messages that match no vendor well, such as those for segments, do not count.
    package func identify(_ capture: TrafficCapture) -> [VendorMatch] {
        let findings = zip(capture.exchanges, capture.recognized).flatMap { exchange, found -> [[VendorMatch]] in
            let seen = exchange.reply.flatMap {
                $0.body.count > TrafficCapture.longestBody ? nil : ReplyShape($0, found.came)
            }
            guard seen?.isForeign != true || exchange.request?.method == "POST" else { return [] }
            let facts = exchange.request.map { RequestFacts($0, found.sent) }
            return [facts.map(identify), seen.map(identify)].compactMap(\.self)
        }
        let telling = findings.filter { $0.contains { $0.confidence >= .likely } }
        // A single request and its reply are not segments.
        return Self.combined(findings.count <= 2 ? findings : telling)
    }

    /// The names of vendors that are recognized although no profile supports them: their package pages do not describe the whole license
    /// request.
    package static var vendorsWithoutProfile: [String] { VendorBrand.withoutProfile.map(\.name) }
}

extension VendorProfile {
    /// The vendor's own name, the same for all variants.
    package var vendor: String { VendorBrand.all.first { $0.owns(self) }?.name ?? name }

    /// Whether a host is the vendor's own.
    /// - Parameter host: in lowercase, without a port.
    package func isHome(_ host: String) -> Bool {
        let brand = VendorBrand.all.first { $0.owns(self) }?.hosts ?? []
        return brand.contains(where: host.isHost) || hosts.contains { $0.hostName == host }
    }
}
