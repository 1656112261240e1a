package import LatchkeyDecision

/// A sentence of a vendor's page that its emulated service enforces.
///
/// A rule is a row of the table “Rules” on the vendor's page, a name for `latchkey serve --lenient VENDOR/NAME`, and a breach in the
/// vendor's transcript. A breach that cannot be allowed, such as a request without an SPC, needs no rule.
package struct VendorRule: Sendable {
    /// Also the code of the warning if the service is lenient.
    package let name: String
    /// How a breach is refused.
    package let refusal: LicenseRefusal.Kind
    /// The tags of the page's sources.
    package let source: String
    /// The sentence on the page.
    package let text: String
    /// Whether the license server accepts a breach of the rule. Defaults to no.
    let passesHere: Bool

    init(_ name: String, _ refusal: LicenseRefusal.Kind, _ source: String, _ text: String, passesHere: Bool = false) {
        (self.name, self.refusal, self.source, self.text, self.passesHere) = (name, refusal, source, text, passesHere)
    }
}

extension VendorRequest {
    package func objection(to rule: VendorRule, _ text: String) -> LicenseRefusal? {
        rule.passesHere ? nil : LicenseRefusal(rule.refusal, reason: text)
    }

    /// Refuses the breach of a rule, unless the server that mounts the wire allows it.
    /// - Parameter text: the request's breach, without secrets.
    package func breach(of rule: VendorRule, _ text: String) throws(LicenseRefusal) {
        if let objection = objection(to: rule, text) { throw objection }
    }
}
