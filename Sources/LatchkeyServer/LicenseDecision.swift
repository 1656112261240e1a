public import Foundation
import LatchkeyDecision
import LatchkeySystem

/// A policy's decision on facts, without a server, a store or a clock. The server uses the same decision.
///
///     let decision = try LicenseDecision(policy: "sports", in: URL(filePath: "policies"), facts: Data(contentsOf: facts))
///     if !decision.isLicense { print(decision.explanation) }
///
/// Source: `Documentation/LicenseServer.md` §4.
public struct LicenseDecision: Sendable {
    /// Whether a license is issued.
    public let isLicense: Bool
    /// `license`, `acknowledge`, or the code of the refusal, such as `concurrencyLimit`.
    public let outcome: String
    /// Why, in lines for people.
    public let explanation: String

    /// Decides.
    /// - Parameters:
    ///   - name: the policy; a file of the folder without `.json`.
    ///   - folder: the policies; one may extend others.
    ///   - facts: as JSON, or a record of `latchkey-server explain`.
    /// - Throws: `FileError` `cannotRead`; errors that say which file or member is wrong.
    public init(policy name: String, in folder: URL, facts: Data) throws {
        let policies = try PolicySet(folder: folder)
        guard let policy = policies[name] else {
            let file = folder.appending(path: "\(name).json")
            throw FileError.cannotRead(file.path, because: "it is not a policy; policies' names end in .json")
        }
        let record =
            if let recorded = try? DecisionRecord(json: facts) {
                recorded.decidedAgain(by: policy).record
            } else {
                DecisionRecord.deciding(try Facts(json: facts), by: policy).record
            }
        outcome = record.word
        isLicense = record.word == "license"
        explanation = record.explanation
    }
}
