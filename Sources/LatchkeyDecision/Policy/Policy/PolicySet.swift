package import Foundation
package import LatchkeyCore
package import LatchkeyForms
import LatchkeySystem

/// The policies of a server by their names, each combined with the policy that it extends.
///
/// Source: `Documentation/LicenseServer.md` §6.2.
package struct PolicySet: Sendable {
    /// The policies, resolved.
    private let policies: [String: Policy]
    private let examples: [String: [PolicyExample]]

    /// Decodes policies.
    /// - Parameter files: the JSON of each policy by its name.
    /// - Throws: `JSONProblems` with the code `policyInvalid` and every problem of every file, whose places begin with the
    ///   policy's name and a colon.
    package init(_ files: [String: Data]) throws(JSONProblems) {
        var problems: [JSONProblem] = []
        var stated: [String: PolicyFile] = [:]
        for (name, json) in files.sorted(by: { $0.key < $1.key }) {
            do throws(JSONProblems) {
                stated[name] = try Self.file(json, name)
            } catch {
                problems += error.problems.map { $0.inPolicy(name) }
            }
        }
        var resolved: [String: Policy] = [:]
        for (name, file) in stated.sorted(by: { $0.key < $1.key }) {
            do throws(JSONProblems) {
                resolved[name] = try Self.resolved(file.policy, name, among: stated, isBroken: { files[$0] != nil })
            } catch {
                problems += error.problems.map { $0.inPolicy(name) }
            }
        }
        guard problems.isEmpty else { throw JSONProblems(code: "policyInvalid", problems: problems) }
        policies = resolved
        examples = stated.mapValues(\.examples)
    }

    /// Decodes every `.json` file of a folder. A policy's name is its file's, without the extension.
    /// - Throws: `JSONProblems` with the code `policyInvalid`; also for files that cannot be read, or have more than 1 MiB.
    package init(folder: URL) throws(JSONProblems) {
        var files: [String: Data] = [:]
        var problems: [JSONProblem] = []
        FileThreads.visits(folder.path)
        guard let names = try? FileManager.default.contentsOfDirectory(atPath: folder.path) else {
            throw JSONProblems(
                code: "policyInvalid",
                problems: [
                    JSONProblem(
                        .root, "The folder of policies \(folder.path.onOneLine) cannot be read.",
                        remedy: "Check its path and permissions.")
                ])
        }
        for name in names.sorted() where name.hasSuffix(".json") && !name.hasPrefix(".") {
            let policy = String(name.dropLast(5))
            do throws(FileError) {
                let path = folder.appendingPathComponent(name).path
                files[policy] = try PlainFile.read(path, limit: Self.fileLimit)
            } catch {
                problems.append(
                    JSONProblem(
                        .root,
                        error.code == "fileTooLarge"
                            ? "The file is larger than 1 MiB." : "The file cannot be read: \(error.what).",
                        remedy: "Put a regular file there, and check its size and permissions."
                    )
                    .inPolicy(policy))
            }
        }
        do throws(JSONProblems) {
            try self.init(files)
        } catch {
            throw JSONProblems(code: "policyInvalid", problems: problems + error.problems)
        }
        guard problems.isEmpty else { throw JSONProblems(code: "policyInvalid", problems: problems) }
    }

    /// The names of the policies, in order.
    package var names: [String] { policies.keys.sorted() }

    /// A policy, combined with the policies that it extends.
    package subscript(name: String) -> Policy? { policies[name] }

    /// The policy for a key: the tenant's, the content's over it, and the key's over both.
    /// - Parameter tenant: the name of the tenant's own policy; `nil` for one that states nothing.
    /// - Throws: `Diagnosis` with the code `policyUnknown` for a name that no policy has.
    package func policy(for key: KeyFacts, tenant: String?) throws(Diagnosis) -> Policy {
        var result: Policy?
        for name in [tenant].compactMap({ $0 }) + key.contentPolicies + key.policies {
            guard let policy = policies[name] else {
                throw Diagnosis(
                    code: "policyUnknown",
                    reason: "The policy “\(name.prefix(64).description.onOneLine)” does not exist.",
                    remedy: "Correct the name at the tenant, the content or the key, or add the policy.")
            }
            result = result?.overlaid(with: policy) ?? policy
        }
        return result ?? Policy()
    }

    /// Decides the examples of all policies, each with its policy as the tenant's.
    /// - Returns: the examples that are decided otherwise; none if all is well.
    package func check() -> [JSONProblem] {
        examples.sorted { $0.key < $1.key }.flatMap { name, examples in
            examples.enumerated().compactMap { index, example in
                let place = JSONPlace.root.member("examples").element(index)
                return problem(of: example, in: name, at: place)?.inPolicy(name)
            }
        }
    }

    private func problem(of example: PolicyExample, in name: String, at place: JSONPlace) -> JSONProblem? {
        let policy: Policy
        do {
            policy = try self.policy(for: example.facts.key, tenant: name)
        } catch {
            return JSONProblem(place.member("facts").member("key"), error.reason, remedy: error.remedy)
        }
        let decision = decide(example.facts, by: policy)
        guard decision.word != example.expect else { return nil }
        let reason = decision.refusal.map { " \($0.reason)" } ?? ""
        return JSONProblem(
            place.member("expect"), "The policy decides \(decision.word), not \(example.expect).\(reason)",
            remedy: "Correct the policy or the example.")
    }
}

extension PolicySet {
    private static func file(_ json: Data, _ name: String) throws(JSONProblems) -> PolicyFile {
        var file = try PolicyFile(json: json)
        var problems: [JSONProblem] = []
        _ = JSONForm<String>.name.read(.text(name), .root, &problems)
        if let stated = file.policy.name, stated != name {
            problems.append(
                JSONProblem(
                    JSONPlace.root.member("name"),
                    "The policy is called “\(stated)” in its file and “\(name.onOneLine)” elsewhere.",
                    remedy: "Use one name."))
        }
        guard problems.isEmpty else { throw JSONProblems(code: "policyInvalid", problems: problems) }
        file.policy.name = name
        return file
    }

    /// A policy over the policy that it extends, checked as one.
    /// - Parameter isBroken: whether there is a file of a name, whose own problems say enough.
    private static func resolved(
        _ policy: Policy, _ name: String, among files: [String: PolicyFile], isBroken: (String) -> Bool
    ) throws(JSONProblems) -> Policy {
        guard let base = policy.extends else { return policy }
        guard let parent = files[base]?.policy else {
            if isBroken(base) { return policy }
            throw .extends("The policy “\(base)” does not exist.", "Correct the name, or add the policy.")
        }
        if let further = parent.extends {
            let isCircle = further == name || base == name
            throw .extends(
                isCircle
                    ? "The policies extend each other in a cycle."
                    : "The policy “\(base)” extends “\(further)”: only one level is allowed.",
                "Extend a policy that does not extend another.")
        }
        var result = parent.overlaid(with: policy)
        result.extends = nil
        var problems: [JSONProblem] = []
        _ = PolicyFile.form.read(result.json, .root, &problems)
        guard problems.isEmpty else { throw JSONProblems(code: "policyInvalid", problems: problems) }
        return result
    }

    private static let fileLimit = 1 << 20
}

extension JSONProblem {
    /// The problem with a place that begins with the policy's name.
    fileprivate func inPolicy(_ name: String) -> JSONProblem {
        JSONProblem(JSONPlace(text: "\(name.prefix(64).description.onOneLine):\(place)"), what, remedy: remedy)
    }
}

extension JSONProblems {
    fileprivate static func extends(_ what: String, _ remedy: String) -> JSONProblems {
        JSONProblems(
            code: "policyInvalid", problems: [JSONProblem(JSONPlace.root.member("extends"), what, remedy: remedy)])
    }
}
