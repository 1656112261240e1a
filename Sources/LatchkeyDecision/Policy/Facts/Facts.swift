package import Foundation
package import LatchkeyForms

/// Everything that a decision depends on besides the policy.
package struct Facts: Sendable, Hashable {
    @CopyOnWrite package var request: LicenseRequestFacts
    @CopyOnWrite package var grant: Grant
    package var key = KeyFacts()
    @CopyOnWrite package var account: AccountState
    package var now = Date(timeIntervalSince1970: 0)

    private static let none = (
        request: CopyOnWrite(wrappedValue: LicenseRequestFacts()), grant: CopyOnWrite(wrappedValue: Grant()),
        account: CopyOnWrite(wrappedValue: AccountState())
    )

    /// Facts of which nothing is known.
    package init() { (_request, _grant, _account) = Self.none }

    /// Decodes facts.
    /// - Parameter json: an object, at least `{"now":"2026-11-22T15:00:00Z"}`.
    /// - Throws: `JSONProblems` with the code `factsInvalid` and every problem by its place.
    package init(json: Data) throws(JSONProblems) { self = try Self.form.decode(Array(json), code: "factsInvalid") }

    /// The facts in their canonical form. Holds no token, no key and no SPC. Dates are cut to milliseconds.
    package var canonicalJSON: Data { Data(Self.form.write(self).canonicalText.utf8) }
}
