package import Foundation
import LatchkeyCore
package import LatchkeyForms

/// A decision with everything that it depended on, to explain it and to make it again.
///
/// Holds no token, no key and no SPC: a token's identifier and a device's digest name them.
///
/// Source: `Documentation/LicenseServer.md` §6.3.
package struct DecisionRecord: Sendable {
    /// The written form of the policy and the decision.
    private struct Written: Sendable, Equatable {
        var policyName: String?
        var policyDigest = ""
        var outcome = JSONValue.null
    }

    /// Writing takes longer than deciding, and few records are read: a record is written only when it is read.
    private enum Source: Sendable {
        /// Behind a reference, because records are passed on.
        indirect case made(Policy, Decision)
        case written(Written)
    }

    /// The request's identifier, which the log and the refusal have too; `nil` for a decision without a request.
    package internal(set) var requestID: String?
    package internal(set) var facts: Facts
    package internal(set) var policyName: String? {
        get { written.policyName }
        set { written.policyName = newValue }
    }
    /// The SHA-256 of the policy by which it was decided, 64 hexadecimal digits.
    package internal(set) var policyDigest: String {
        get { written.policyDigest }
        set { written.policyDigest = newValue }
    }
    var outcome: JSONValue {
        get { written.outcome }
        set { written.outcome = newValue }
    }
    private var source: Source

    private init() { (facts, source) = (Facts(), .written(Written())) }

    /// Decides, and records it.
    ///
    /// The decision is made on the facts as they are written, so that they give the same one when they are read.
    /// - Returns: the record, and the decision in it.
    package static func deciding(
        _ facts: Facts, by policy: Policy, requestID: String? = nil
    ) -> (record: DecisionRecord, decision: Decision) {
        let written = (try? Facts(json: facts.canonicalJSON)) ?? facts
        let decision = decide(written, by: policy)
        return (DecisionRecord(written, by: policy, requestID: requestID, decision), decision)
    }

    /// A decision that was made on facts as they are written.
    package init(_ facts: Facts, by policy: Policy, requestID: String?, _ decision: Decision) {
        self.requestID = requestID
        self.facts = facts
        source = .made(policy, decision)
    }

    private var written: Written {
        get {
            switch source {
            case .written(let written): written
            case .made(let policy, let decision):
                Written(policyName: policy.name, policyDigest: policy.digest, outcome: decision.json)
            }
        }
        set { source = .written(newValue) }
    }

    /// The policy and the decision of a record that was not read; they cost nothing to look at.
    package var made: (policy: Policy, decision: Decision)? {
        guard case .made(let policy, let decision) = source else { return nil }
        return (policy, decision)
    }

    /// The record with addresses cut, as it may be kept where whole ones would name a person.
    package func cutting(_ cut: (AddressRange) -> AddressRange) -> DecisionRecord {
        var record = self
        record.facts.request.address = facts.request.address.map(cut)
        record.facts.grant.address = facts.grant.address.map(cut)
        return record
    }

    /// Decides the same facts again, maybe by another policy.
    package func decidedAgain(by policy: Policy) -> (record: DecisionRecord, decision: Decision) {
        Self.deciding(facts, by: policy, requestID: requestID)
    }

    /// Decodes a record.
    /// - Throws: `JSONProblems` with the code `recordInvalid` and every problem by its place.
    package init(json: Data) throws(JSONProblems) { self = try Self.form.decode(Array(json), code: "recordInvalid") }

    /// The record in its canonical form, one line.
    package var canonicalJSON: Data { Data(Self.form.write(self).canonicalText.utf8) }

    /// `license`, `acknowledge`, or the refusal's code.
    package var word: String { outcome["result"]?.text ?? "" }

    private static let form: ObjectForm<DecisionRecord> = ObjectForm(
        empty: DecisionRecord(),
        members: [
            .optional("requestId", \.requestID, .anyText), .required("facts", \.facts, Facts.form.form),
            .optional("policyName", \.policyName, .anyText), .required("policyDigest", \.policyDigest, .anyText),
            .required("decision", \.outcome, JSONForm("any value", read: { $0 }, write: { $0 })),
        ])
}

extension DecisionRecord: Equatable {
    /// Whether two are written alike.
    package static func == (one: Self, other: Self) -> Bool {
        one.requestID == other.requestID && one.facts == other.facts && one.written == other.written
    }
}

extension Decision {
    /// The decision for people and programs that explain it.
    package var json: JSONValue {
        var members: [String: JSONValue] = ["result": .text(word), "change": change.json]
        members["notes"] = .array(
            notes.map { .object(["code": .text($0.code.rawValue), "text": .text($0.text)]) })
        switch self {
        case .license(let terms, _, let renewAfter, let delivers, _):
            members["terms"] = StatedValidity.form.write(StatedValidity(validity: terms.validity, hdcp: terms.hdcp))
            members["renewAfter"] = renewAfter.map { .text(DurationText.text($0)) }
            members["delivers"] = .text(delivers.rawValue)
        case .refuse(let refusal, _, _):
            members["refusal"] = .object(refusal.json)
            members["status"] = .number(Double(refusal.status))
            members["retry"] = .text(refusal.retry.rawValue)
        case .acknowledge: break
        }
        return .object(members)
    }
}

extension SessionChange {
    fileprivate var json: JSONValue {
        let stops = JSONValue.array(stopping.map { .text($0) })
        return switch self {
        case .none: .object(["kind": .text("none")])
        case .release(let session): .object(["kind": .text("release"), "session": .text(session)])
        case .take(let slot, _): .object(["kind": .text("take"), "slot": Slot.form.write(slot), "stopping": stops])
        case .renew(let slot, _): .object(["kind": .text("renew"), "slot": Slot.form.write(slot), "stopping": stops])
        }
    }
}
