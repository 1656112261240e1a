import LatchkeyCore
import LatchkeyForms

/// One rule of a kind in JSON: only its name, `"raw"`, or an object of one member, `{"setting": "licenseURL"}`.
struct RuleForm<Rule: Sendable>: Sendable {
    let name: String
    /// Reads the parameter, which is `nil` if there is only the name.
    let read: @Sendable (JSONValue?, JSONPlace, inout [JSONProblem]) -> Rule?

    /// A rule without a parameter.
    static func alone(_ name: String, _ rule: Rule) -> Self {
        Self(name: name) { parameter, place, problems in
            guard parameter != nil else { return rule }
            problems.append(
                JSONProblem(place.member(name), "The rule has no parameter.", remedy: "Write \"\(name)\" alone."))
            return nil
        }
    }

    /// A rule with a parameter.
    /// - Parameter form: the parameter's form. It is made only when it is needed, because it may have rules of the same kind inside.
    static func with<Parameter: Sendable>(
        _ name: String, _ form: @autoclosure @escaping @Sendable () -> JSONForm<Parameter>,
        _ make: @escaping @Sendable (Parameter) -> Rule
    ) -> Self {
        Self(name: name) { parameter, place, problems in
            guard let parameter else {
                problems.append(
                    JSONProblem(place, "\"\(name)\" needs a parameter.", remedy: "Write {\"\(name)\": …}."))
                return nil
            }
            return form().read(parameter, place.member(name), &problems).map(make)
        }
    }
}

extension JSONForm {
    /// A value that is one of several rules.
    static func rules(_ rules: [RuleForm<Value>], write: @escaping @Sendable (Value) -> JSONValue) -> JSONForm {
        JSONForm(
            read: { value, place, problems in
                let members: [String: JSONValue?]? =
                    switch value {
                    case .text(let name): [name: nil]
                    case .object(let members): members
                    default: nil
                    }
                if let member = members?.first, members?.count == 1,
                    let rule = rules.first(where: { $0.name == member.key })
                {
                    return rule.read(member.value, place, &problems)
                }
                let shown = (members?.keys.sorted().joined(separator: ", ")).map {
                    "\"\(String($0.prefix(60)).onOneLine)\""
                }
                let names = rules.map(\.name).joined(separator: ", ")
                problems.append(
                    JSONProblem(
                        place, "\(shown ?? "This") is not a rule.",
                        remedy: "Write the name of a rule, or an object with exactly one of \(names)."))
                return nil
            }, write: write)
    }
}
