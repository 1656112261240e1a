import Foundation
import LatchkeyCore

@testable import LatchkeyDecision
@testable import LatchkeyForms

/// A server's policy, and behind a zero byte the facts to decide. The canonical form of a policy is read as the same policy, a
/// recorded decision is reproduced exactly, and a grant never gets a license that the policy alone refuses.
func fuzzPolicy(_ data: Data) {
    let parts = data.split(separator: 0, maxSplits: 1, omittingEmptySubsequences: false)
    guard let policy = read(parts.first ?? Data(), Policy.init(json:)) else { return }
    let again = try? Policy(json: policy.canonicalJSON)
    require(again == policy && again?.digest == policy.digest, "written, it is another policy")
    _ = read(policy.canonicalJSON) { json throws(JSONProblems) in try PolicySet([policy.name ?? "policy": json]).check()
    }
    guard var facts = read(parts.dropFirst().first ?? Data(#"{"now":"2026-11-22T15:00:00Z"}"#.utf8), Facts.init(json:))
    else { return }
    require((try? Facts(json: facts.canonicalJSON)) == facts, "written, these are other facts")
    let (record, decision) = DecisionRecord.deciding(facts, by: policy, requestID: "r")
    require(!record.canonicalJSON.contains { $0 < 0x20 }, "a record with a control character")
    let kept = try? DecisionRecord(json: record.canonicalJSON)
    require(kept == record && kept?.decidedAgain(by: policy).record == record, "read, it is another record")
    facts.grant.policy = Policy()
    let wide = decide(facts, by: policy)
    guard policy.token.mayWiden == nil else { return }
    require(wide.refusal == nil || decision.refusal != nil, "a grant widens a policy")
}

/// Reads one form. Each problem is one line.
private func read<Value>(_ data: Data, _ body: (Data) throws(JSONProblems) -> Value) -> Value? {
    do throws(JSONProblems) {
        return try body(Data(data))
    } catch {
        require(!error.problems.isEmpty && error.reason.onOneLine == error.reason, "problems on several lines")
        return nil
    }
}
