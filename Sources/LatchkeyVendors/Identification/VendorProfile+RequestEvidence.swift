import Foundation
import LatchkeyCore

extension VendorProfile {
    /// Evidence in a key URI: query items that the profile's rules read.
    func evidence(in uri: KeyURI) -> [VendorMatch.Evidence] {
        guard let query = uri.query, !query.isEmpty else { return [] }
        return keyURIQueryNames.sorted().filter { uri.queryValue($0) != nil }.map {
            .init(weight: 12, sentence: "The profile reads the key URI's query item \($0).")
        }
    }

    /// Evidence in a request. The best fitting request of the profile counts.
    func evidence(in request: CapturedRequest, _ body: BodyShape) -> [VendorMatch.Evidence] {
        let candidates = placedRequests.filter { $0.request.method == request.method.uppercased() }
        let found = candidates.map { ownHost(request) + $0.request.evidence(in: request, body, of: self) }
        return found.max { $0.reduce(0) { $0 + $1.weight } < $1.reduce(0) { $0 + $1.weight } } ?? []
    }

    /// The names of the key URI's query items that rules read.
    private var keyURIQueryNames: Set<String> {
        let rules = placedRules.flatMap { $0.rule.tree }
        let read = rules.compactMap { if case .query(let name) = $0 { name } else { nil } }
        return Set(read + placedRequests.flatMap(\.request.url.changes).flatMap(\.copiedNames))
    }

    /// A host that only the profile names, as in a customer's own profile, and that is not a known host of the vendor.
    private func ownHost(_ request: CapturedRequest) -> [VendorMatch.Evidence] {
        let brand = VendorBrand.all.first { $0.owns(self) }
        guard let host = request.host, hosts.contains(where: { $0.hostName == host }),
            brand?.hosts.contains(where: host.isHost) != true
        else { return [] }
        return [.init(weight: 20, sentence: "The profile names the host.")]
    }
}

extension RequestRule {
    private static let common: Set = [
        "authorization", "accept", "content-type", "cache-control", "user-agent", "pragma", "origin", "referer",
    ]

    fileprivate func evidence(
        in request: CapturedRequest, _ body: BodyShape, of profile: VendorProfile
    ) -> [VendorMatch.Evidence] {
        var found = headers.flatMap { evidence(of: $0, in: request, profile) } + queryEvidence(request, profile)
        if let rule = self.body {
            if let fit = body.fit(BodyShape(rule)) { found.append(.init(weight: fit.weight, sentence: fit.words)) }
            found += alphabetEvidence(request, rule)
        }
        return found
    }

    private func evidence(
        of header: Header, in request: CapturedRequest, _ profile: VendorProfile
    ) -> [VendorMatch.Evidence] {
        let name = RuleContext(settings: profile.settings).text(.template(header.name)) ?? header.name
        let isNeeded = profile.parameters.contains {
            $0.isCredential && $0.isRequired && header.value.names.credentials.contains($0.name)
        }
        guard let value = request.header(name) else {
            guard !header.value.names.credentials.isEmpty else { return [] }
            let words = "The header field \(name) is missing."
            return [.init(weight: isNeeded ? -25 : -2, sentence: words)]
        }
        if name.lowercased() == "authorization" { return Self.authorization(value, header.value) }
        if name.lowercased() == "content-type", case .fixed(let type) = header.value, value.hasPrefix(type) {
            return [.init(weight: 10, sentence: "The content type is the one that the profile states.")]
        }
        guard !Self.common.contains(name.lowercased()) else { return [] }
        return [.init(weight: 50, sentence: "The profile sends the header field \(name).")]
    }

    private static func authorization(_ value: String, _ rule: TextRule) -> [VendorMatch.Evidence] {
        let isBearer = value.lowercased().hasPrefix("bearer ")
        let wantsBearer = rule.tree.contains { if case .fixed(let text) = $0 { text == "Bearer " } else { false } }
        switch (isBearer, wantsBearer) {
        case (true, true): return [.init(weight: 5, sentence: "Authorization holds a bearer token.")]
        case (false, false): return [.init(weight: 15, sentence: "Authorization holds a token without \"Bearer\".")]
        default: return [.init(weight: -20, sentence: "Authorization has another form.")]
        }
    }

    private func queryEvidence(_ request: CapturedRequest, _ profile: VendorProfile) -> [VendorMatch.Evidence] {
        let names = request.queryNames
        return url.changes.compactMap(\.queryItem).compactMap { name, rule in
            if names.contains(name.lowercased()) {
                let weight = name.count > 6 ? 20 : 8
                return .init(weight: weight, sentence: "The profile sends the query item \(name).")
            }
            let isNeeded = profile.parameters.contains {
                $0.isCredential && $0.isRequired && rule.names.credentials.contains($0.name)
            }
            return isNeeded ? .init(weight: -25, sentence: "The query item \(name) is missing.") : nil
        }
    }

    /// Whether the SPC is in the URL-safe alphabet, if the profile uses it.
    private func alphabetEvidence(_ request: CapturedRequest, _ rule: BodyRule) -> [VendorMatch.Evidence] {
        guard rule.rules.contains(.spcURLSafe), let text = request.body.flatMap({ String(data: $0, encoding: .utf8) }),
            text.contains("-") || text.contains("_"), !text.contains("+"), !text.contains("%2")
        else { return [] }
        return [.init(weight: 20, sentence: "The SPC is in the URL-safe base64 alphabet.")]
    }
}
