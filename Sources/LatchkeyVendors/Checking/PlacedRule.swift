/// A rule and its place in the profile's JSON.
package struct PlacedRule {
    package let place: String
    package let rule: TextRule
}

extension VendorProfile {
    /// The requests with their places.
    package var placedRequests: [(place: String, request: RequestRule)] {
        let fetched: (String, RequestRule)? =
            switch certificate {
            case .fetched(let request, _): ("certificate.fetched.request", request)
            case .inlineOrFetched(_, let request, _): ("certificate.inlineOrFetched.request", request)
            case .inline: nil
            }
        let steps = session.map {
            [$0.setup.map { ("session.setup", $0) }].compactMap { $0 }
                + [("session.heartbeat", $0.heartbeat), ("session.teardown", $0.teardown)]
        }
        return [fetched, lookup.map { ("lookup.request", $0.request) }].compactMap { $0 } + (steps ?? [])
            + [("license", license), renewalRequest.map { ("renewalRequest", $0) }].compactMap { $0 }
    }

    /// All rules with their places.
    package var placedRules: [PlacedRule] {
        var rules = [PlacedRule(place: "contentIdentifier", rule: contentIdentifierRule)]
        rules += [PlacedRule("requestContentID", requestContentID)].compactMap { $0 }
        switch certificate {
        case .inline(let name): rules.append(PlacedRule(place: "certificate.inline", rule: .setting(name)))
        case .inlineOrFetched(let name, _, _):
            rules.append(PlacedRule(place: "certificate.inlineOrFetched.setting", rule: .setting(name)))
        case .fetched: break
        }
        rules += [PlacedRule("session.setting", session?.setting.map { .setting($0) })].compactMap { $0 }
        rules += placedRequests.flatMap { $0.request.placedRules(at: $0.place) }
        rules += (lookup?.echoes ?? [:]).sorted { $0.key < $1.key }
            .map { PlacedRule(place: "lookup.echoes.\($0.key)", rule: $0.value) }
        return rules + (terms?.placedRules ?? [])
    }
}

extension PlacedRule {
    init?(_ place: String, _ rule: TextRule?) {
        guard let rule else { return nil }
        self.init(place: place, rule: rule)
    }
}

extension TermsRule {
    fileprivate var placedRules: [PlacedRule] {
        [
            PlacedRule("terms.lease", lease), PlacedRule("terms.rental", rental), PlacedRule("terms.storage", storage),
            PlacedRule("terms.playback", playback),
        ].compactMap { $0 }
    }
}

extension RequestRule {
    fileprivate func placedRules(at place: String) -> [PlacedRule] {
        let changes = url.changes.enumerated().compactMap { index, change in
            change.rule.map { PlacedRule(place: "\(place).url.changes[\(index)]", rule: $0) }
        }
        let headers = headers.enumerated().flatMap { index, header in
            [
                PlacedRule(place: "\(place).headers[\(index)].name", rule: .template(header.name)),
                PlacedRule(place: "\(place).headers[\(index)].value", rule: header.value),
            ]
        }
        let base = PlacedRule(place: "\(place).url.base", rule: url.base)
        return [base] + changes + headers + (body?.placedRules(at: "\(place).body") ?? [])
    }
}

extension BodyRule {
    /// The fields of a form and their place.
    func placedFields(at place: String) -> [(place: String, field: Field)] {
        fields.enumerated().map { ("\(place).\(name)[\($0)]", $1) }
    }

    fileprivate func placedRules(at place: String) -> [PlacedRule] {
        if case .json(let template) = self { return [PlacedRule(place: "\(place).json", rule: .json(template))] }
        return placedFields(at: place).map { PlacedRule(place: "\($0.place).value", rule: $0.field.value) }
    }
}
