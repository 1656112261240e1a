import Foundation
import LatchkeyDecision
import LatchkeyForms

extension ServerSettings.Admin {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("name", \.name, .name).explained("The operator's name, in the audit as `admin:NAME`."),
            .required("key", \.key, .sha256).explained(
                "The SHA-256 of the key, which must be random, with 128 bits or more."
            ),
            .defaulting("role", \.role, .word, to: .viewer).explained(
                "`viewer` reads. `operator` also stops sessions, disables keys and reloads. `security` also changes credentials, key encryption keys and data keys, and moves keys in and out."
            ),
            .defaulting("tenants", \.tenants, .tenantScope, to: .all).explained(
                "The tenants that the operator sees and changes: [Tenants.md](Tenants.md#operators). An unknown name is a fault."
            ),
        ])

    /// Finds operators that cannot be distinguished: one name with different roles or tenants, and one key twice. An operator has two
    /// entries while the key is changed. Finds unknown tenants: one that is added later would silently be theirs.
    static func check(
        _ admins: [Self], _ tenants: some Collection<String>, _ place: JSONPlace, _ problems: inout [JSONProblem]
    ) {
        for (index, admin) in admins.enumerated() {
            let place = place.element(index)
            if case .listed(let names) = admin.tenants {
                for name in names.sorted() where !tenants.contains(name) {
                    problems.append(
                        JSONProblem(
                            place.member("tenants"), "The tenant “\(name)” does not exist.",
                            remedy: "Correct the name, or add the tenant first."))
                }
            }
            if let other = admins.prefix(index).first(where: { $0.name == admin.name }), other.tenants != admin.tenants
            {
                problems.append(
                    JSONProblem(
                        place.member("tenants"), "Another entry of “\(admin.name)” has other tenants.",
                        remedy: "Use the same tenants in both, or rename one."))
            }
            if let other = admins.prefix(index).first(where: { $0.name == admin.name }), other.role != admin.role {
                problems.append(
                    JSONProblem(
                        place.member("role"), "Another entry of “\(admin.name)” has another role.",
                        remedy: "Use the same role in both, or rename one."))
            }
            if !admin.key.isEmpty, let other = admins.prefix(index).first(where: { $0.key == admin.key }) {
                problems.append(
                    JSONProblem(
                        place.member("key"), "“\(admin.name)” and “\(other.name)” have the same key.",
                        remedy: "Give each operator a unique key, or remove one of the two."))
            }
        }
    }
}
