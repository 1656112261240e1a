package import Foundation
import LatchkeyCore
package import LatchkeyForms

extension Grant {
    /// The claim for values without a registered claim: `profile`, `device`, `label`, `address`, `contents`, `keys` and `policy`.
    package static let claim = "latchkey"

    /// A token's grant: `sub` is the account, `sid` the session, and the rest is in the claim `latchkey`.
    ///
    /// A token without `sub` is anonymous: its session, or else the token itself, counts as an account.
    ///
    /// Source: `Documentation/LicenseServer.md` §5.1.
    /// - Throws: `tokenMalformed` with the first problem by its place in the claim.
    package init(_ token: VerifiedToken) throws(LicenseRefusal) {
        var problems: [JSONProblem] = []
        let place = JSONPlace.root.member(Self.claim)
        let stated = token.claims[Self.claim].flatMap { Self.rights.read($0, place, &problems) }
        if let problem = problems.first {
            throw LicenseRefusal(
                .tokenMalformed, reason: "The token's claims at \(problem.place): \(problem.what)",
                remedy: problem.remedy)
        }
        self = stated ?? Grant()
        session = token.claims["sid"]?.text
        tokenID = token.identifier
        account = token.subject ?? session ?? tokenID ?? ""
        issued = token.issued
        expires = token.expiry
    }

    /// The grant of the operator's own service: the members of the claim `latchkey`, as a JSON object.
    /// - Throws: `JSONProblems` with the code `grantInvalid`.
    package init(calloutReply json: Data) throws(JSONProblems) {
        self = try Self.rights.decode(Array(json), code: "grantInvalid")
    }

    /// Narrows a token's grant by the reply of the operator's own service. The reply's statements count before the token's.
    package mutating func narrow(to reply: Grant) {
        profile = reply.profile ?? profile
        device = reply.device ?? device
        label = reply.label ?? label
        address = reply.address ?? address
        contents = Self.common(contents, reply.contents)
        keys = Self.common(keys, reply.keys)
        policy = policy.overlaid(with: reply.policy)
    }

    private static func common(_ one: Set<String>?, _ other: Set<String>?) -> Set<String>? {
        guard let one, let other else { return one ?? other }
        return one.intersection(other)
    }
}
