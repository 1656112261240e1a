package import LatchkeyDecision

/// A sentence of a vendor's page that its emulated service holds clients to.
///
/// A rule is a row of the table “Rules” on the vendor's page, a name for `latchkey serve --lenient VENDOR/NAME`, and a breach in the
/// vendor's transcript. What cannot be let pass, such as a request without an SPC, is no rule.
package struct VendorRule: Sendable {
    /// Also the code of the warning where the service is lenient.
    package let name: String
    /// How a breach is refused.
    package let refusal: LicenseRefusal.Kind
    /// The tags of the page's sources.
    package let source: String
    /// What the page says.
    package let text: String
    /// Whether the license server takes what breaks the rule. Defaults to no.
    let passesHere: Bool

    init(_ name: String, _ refusal: LicenseRefusal.Kind, _ source: String, _ text: String, passesHere: Bool = false) {
        (self.name, self.refusal, self.source, self.text, self.passesHere) = (name, refusal, source, text, passesHere)
    }
}

extension VendorRequest {
    package func objection(to rule: VendorRule, _ text: String) -> LicenseRefusal? {
        rule.passesHere ? nil : LicenseRefusal(rule.refusal, reason: text)
    }

    /// Refuses the breach of a rule, unless whoever mounts the wire lets it pass.
    /// - Parameter text: what the request did, without secrets.
    package func breach(of rule: VendorRule, _ text: String) throws(LicenseRefusal) {
        if let objection = objection(to: rule, text) { throw objection }
    }
}
