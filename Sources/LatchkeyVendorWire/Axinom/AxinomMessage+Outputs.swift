package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms

extension AxinomMessage {
    /// The allowed outputs of each key, by the usage policy that the key names. A key without one is left out.
    ///
    /// A license leaves out a key whose policy the client cannot keep. A FairPlay request is for one key, so the decision refuses it.
    ///
    /// Source: docs.axinom.com, entitlement message, content key usage policies, read on 2026-11-23.
    /// - Throws: `tokenMalformed` for a name without its policy or with two, and for rules that are not known.
    package func outputs() throws(LicenseRefusal) -> [KeyID: VendorOutput] {
        let policies = try usagePolicies()
        var outputs: [KeyID: VendorOutput] = [:]
        for entry in entries {
            guard let reference = entry["usage_policy"] else { continue }
            guard let name = reference.text else {
                throw .unknownRule("content_keys_source.inline", "has a “usage_policy” that is not a name")
            }
            guard let policy = policies[name], policy.count == 1 else {
                throw .unknownRule(
                    "content_key_usage_policies",
                    "has \(policies[name]?.count ?? 0) policies of the name “\(name.prefix(40))” instead of one")
            }
            guard let id = entry["id"]?.text.flatMap({ KeyID($0) }) else { continue }
            let output = try Self.output(policy[0].value, at: policy[0].place)
            outputs[id] = output.joined(with: outputs[id] ?? VendorOutput())
        }
        return outputs
    }

    /// The usage policies by name. Policies that no key names are ignored, as documented.
    private func usagePolicies() throws(LicenseRefusal) -> [String: [(value: JSONValue, place: String)]] {
        let place = "content_key_usage_policies"
        guard let policies = entitlement[place] else { return [:] }
        return Dictionary(grouping: try RuleObject.entries(policies, at: place)) { $0.value["name"]?.text ?? "" }
    }

    /// The rules for FairPlay. Other systems' rules do not matter.
    private static func output(_ policy: JSONValue, at place: String) throws(LicenseRefusal) -> VendorOutput {
        var output = VendorOutput()
        _ = try RuleObject(policy, at: place, known: ["name", "fairplay", "widevine", "playready"])
        guard let rules = policy["fairplay"] else { return output }
        let fairPlay = try RuleObject(
            rules, at: "\(place).fairplay", known: ["hdcp", "allow_airplay", "allow_av_adapter"])
        output.hdcp = try fairPlay.word("hdcp", hdcp)
        output.allowsAirPlay = try fairPlay.flag("allow_airplay") ?? true
        output.allowsAdapter = try fairPlay.flag("allow_av_adapter") ?? true
        return output
    }

    /// The requirement of each word. How strict type 1 differs from type 1 is not known; both refuse a device that does not state that it
    /// enforces HDCP.
    ///
    /// Source: `Documentation/Vendors/Axinom.md`, usage policies.
    private static let hdcp: KeyValuePairs<String, HDCPRequirement> = [
        "NONE": .notRequired, "TYPE0": .type0, "TYPE1": .type1, "TYPE1_STRICT": .type1,
    ]
}
