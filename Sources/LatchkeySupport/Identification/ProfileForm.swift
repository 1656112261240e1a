import Foundation
import Latchkey
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A profile, read once for comparison with many requests, replies and key URIs. A class, because a copy of a profile is expensive.
final class ProfileForm: Sendable {
    let profile: VendorProfile
    /// The place of the profile's vendor among all brands; `nil` without one.
    let brand: Int?
    /// Hosts that only the profile names, as in a customer's own profile.
    private let ownHosts: Set<String>
    private let brandHosts: [String]
    private let requests: [RequestForm]
    /// The names of the key URI's query items that rules read, in order.
    private let keyURIQueryNames: [String]
    private let sideValues: [String]
    private let lookupValues: [String]

    init(_ profile: VendorProfile) {
        self.profile = profile
        brand = VendorBrand.all.firstIndex { $0.owns(profile) }
        brandHosts = brand.map { VendorBrand.all[$0].hosts } ?? []
        ownHosts = Set(profile.hosts.map(\.hostName))
        let placed = profile.placedRequests
        requests = placed.map { RequestForm($0.request, of: profile) }
        let rules = profile.placedRules.flatMap { $0.rule.tree }
        let read = rules.compactMap { if case .query(let name) = $0 { name } else { nil } }
        keyURIQueryNames = Set(read + placed.flatMap(\.request.url.changes).flatMap(\.copiedNames)).sorted()
        let terms = profile.terms
        let places = [terms?.lease, terms?.rental, terms?.storage, terms?.playback].compactMap { $0 }
            .flatMap(\.tree).compactMap { if case .reply(let path) = $0 { path } else { nil } }
        sideValues = Set(profile.sideValues.values).union(places).sorted()
        lookupValues = profile.lookup.map { Set($0.values.values).union($0.allowedBy).sorted() } ?? []
    }

    /// Evidence in a key URI: query items that the profile's rules read.
    func evidence(in uri: KeyURI) -> [VendorMatch.Evidence] {
        guard let query = uri.query, !query.isEmpty else { return [] }
        return keyURIQueryNames.filter { uri.queryValue($0) != nil }.map {
            .init(weight: 12, sentence: "The profile reads the key URI's query item \($0).")
        }
    }

    /// Evidence in a request. The profile's best-matching request counts.
    func evidence(in facts: RequestFacts) -> [VendorMatch.Evidence] {
        let host = ownHost(facts)
        let found = requests.filter { $0.method == facts.method }.map { host + $0.evidence(in: facts) }
        return found.max { $0.reduce(0) { $0 + $1.weight } < $1.reduce(0) { $0 + $1.weight } } ?? []
    }

    /// A host that only the profile names, and that is not a known host of the vendor.
    private func ownHost(_ facts: RequestFacts) -> [VendorMatch.Evidence] {
        guard let host = facts.host, ownHosts.contains(host), !brandHosts.contains(where: host.isHost) else {
            return []
        }
        return [.init(weight: 20, sentence: "The profile names the host.")]
    }

    /// A reply's evidence for the profile: the place of the CKC, further values, the vendor's codes and header fields.
    func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] {
        let found =
            valueEvidence(seen, sideValues, "reads") + profile.errors.evidence(in: seen)
            + valueEvidence(seen, lookupValues, "looks up") + (profile.lookup?.errors.evidence(in: seen) ?? [])
        return (licenseEvidence(seen) + certificateEvidence(seen)).prefix(1) + found
    }

    private func licenseEvidence(_ seen: ReplyShape) -> [VendorMatch.Evidence] {
        guard profile.errors.successes.contains(seen.reply.status), seen.holdsCKC(for: profile.decoder) else {
            return []
        }
        return profile.decoder.evidence(in: seen)
    }

    private func certificateEvidence(_ seen: ReplyShape) -> [VendorMatch.Evidence] {
        guard profile.certificate.request != nil, seen.reply.status == 200,
            seen.isCertificate(for: profile.certificate.decoder)
        else { return [] }
        return [.init(weight: 2, sentence: "The reply is an application certificate.")]
    }

    private func valueEvidence(_ seen: ReplyShape, _ paths: [String], _ verb: String) -> [VendorMatch.Evidence] {
        guard let json = seen.json else { return [] }
        return paths.filter { json.text(at: $0) != nil }
            .map { .init(weight: 30, sentence: "The JSON reply has \($0), which the profile \(verb).") }
    }
}

/// A request that a profile sends, read once.
private struct RequestForm: Sendable {
    private struct Header {
        /// As the profile spells it, and in lowercase.
        let name, small: String
        let rule: RequestRule.Header
        let holdsCredential, isNeeded: Bool
    }

    private struct QueryItem {
        let name, small: String
        let isNeeded: Bool
    }

    let method: String
    private let headers: [Header]
    private let query: [QueryItem]
    private let body: BodyShape?
    private let isURLSafe: Bool

    private static let common: Set = [
        "authorization", "accept", "content-type", "cache-control", "user-agent", "pragma", "origin", "referer",
    ]

    init(_ rule: RequestRule, of profile: VendorProfile) {
        method = rule.method
        let needed = { (credentials: Set<String>) in
            profile.parameters.contains { $0.isCredential && $0.isRequired && credentials.contains($0.name) }
        }
        let context = RuleContext(settings: profile.settings)
        headers = rule.headers.map { header in
            let name = context.text(.template(header.name)) ?? header.name
            let credentials = Set(header.value.names.credentials)
            return Header(
                name: name, small: name.lowercased(), rule: header, holdsCredential: !credentials.isEmpty,
                isNeeded: needed(credentials))
        }
        query = rule.url.changes.compactMap(\.queryItem).map { name, rule in
            QueryItem(name: name, small: name.lowercased(), isNeeded: needed(Set(rule.names.credentials)))
        }
        body = rule.body.map { BodyShape($0) }
        isURLSafe = rule.body?.rules.contains(.spcURLSafe) ?? false
    }

    func evidence(in facts: RequestFacts) -> [VendorMatch.Evidence] {
        var found = headers.flatMap { evidence(of: $0, in: facts) } + query.compactMap { evidence(of: $0, in: facts) }
        if let body {
            if let fit = facts.body.fit(body) { found.append(.init(weight: fit.weight, sentence: fit.words)) }
            found += alphabetEvidence(facts)
        }
        return found
    }

    private func evidence(of header: Header, in facts: RequestFacts) -> [VendorMatch.Evidence] {
        guard let value = facts.header(header.small) else {
            guard header.holdsCredential else { return [] }
            let words = "The header field \(header.name) is missing."
            return [.init(weight: header.isNeeded ? -25 : -2, sentence: words)]
        }
        if header.small == "authorization" { return Self.authorization(value, header.rule.value) }
        if header.small == "content-type", case .fixed(let type) = header.rule.value, value.hasPrefix(type) {
            return [.init(weight: 10, sentence: "The content type matches the profile.")]
        }
        guard !Self.common.contains(header.small) else { return [] }
        return [.init(weight: 50, sentence: "The profile sends the header field \(header.name).")]
    }

    private static func authorization(_ value: String, _ rule: TextRule) -> [VendorMatch.Evidence] {
        let isBearer = value.prefix(7).lowercased() == "bearer "
        let wantsBearer = rule.tree.contains { if case .fixed(let text) = $0 { text == "Bearer " } else { false } }
        switch (isBearer, wantsBearer) {
        case (true, true): return [.init(weight: 5, sentence: "Authorization holds a bearer token.")]
        case (false, false): return [.init(weight: 15, sentence: "Authorization holds a token without \"Bearer\".")]
        default: return [.init(weight: -20, sentence: "Authorization has another form.")]
        }
    }

    private func evidence(of item: QueryItem, in facts: RequestFacts) -> VendorMatch.Evidence? {
        if facts.queryNames.contains(item.small) {
            let weight = item.name.count > 6 ? 20 : 8
            return .init(weight: weight, sentence: "The profile sends the query item \(item.name).")
        }
        return item.isNeeded ? .init(weight: -25, sentence: "The query item \(item.name) is missing.") : nil
    }

    /// Whether the SPC is in the URL-safe alphabet, if the profile uses it.
    private func alphabetEvidence(_ facts: RequestFacts) -> [VendorMatch.Evidence] {
        guard isURLSafe, let body = facts.request.body, String(data: body, encoding: .utf8) != nil,
            body.contains(where: { "-_".utf8.contains($0) }), !body.contains(UInt8(ascii: "+")),
            Array(body).place(of: Array("%2".utf8)) == nil
        else { return [] }
        return [.init(weight: 20, sentence: "The SPC is in the URL-safe base64 alphabet.")]
    }
}
