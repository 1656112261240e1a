package import Foundation
import LatchkeyCore
import LatchkeyForms

/// An operator of the server, identified by a request.
///
/// Every proof, such as a key of the configuration, makes one of these, and the admin API uses nothing else.
///
/// Source: `Documentation/Server/Tenants.md`.
package struct Operator: Sendable, Hashable {
    /// The name for audit and log, such as `olga`.
    package let name: String
    /// Their role within their tenants.
    package let role: AdminRole
    /// The tenants that they see and change.
    package let tenants: TenantScope
    /// The name that people know them by.
    package let shownName: String
    package let proof: Proof

    /// The proof of their identity.
    package enum Proof: Sendable, Hashable {
        /// A key of the configuration.
        case key
        /// An OpenID provider, until a date.
        case openID(until: Date)
        /// A trusted proxy's header.
        case proxy
    }

    /// - Parameters:
    ///   - name: the name for audit and log. One that no key of the configuration has contains a colon.
    ///   - shownName: the name that people use for them. Defaults to the name.
    ///   - proof: the proof of their identity. Defaults to a key.
    package init(
        name: String, role: AdminRole, tenants: TenantScope, shownName: String? = nil, proof: Proof = .key
    ) {
        (self.name, self.role, self.tenants) = (name, role, tenants)
        (self.shownName, self.proof) = (shownName ?? name, proof)
    }
}

/// An operator's role; each role includes the rights of the roles before it.
package enum AdminRole: String, Sendable, CaseIterable, Comparable {
    /// Look.
    case viewer
    /// Stop sessions, disable keys, reload.
    case `operator`
    /// Change credentials, key encryption keys and data keys.
    case security

    package static func < (one: Self, other: Self) -> Bool {
        (allCases.firstIndex(of: one) ?? 0) < (allCases.firstIndex(of: other) ?? 0)
    }
}

extension JSONForm where Value == TenantScope {
    /// `"all"`, or a list of names.
    static let tenantScope: JSONForm<TenantScope> = {
        let names = JSONForm<Set<String>>.distinct(.name)
        return JSONForm(
            expected: "`\"all\"`, or a list of tenants' names",
            read: { value, place, problems in
                if value == .text("all") { return .all }
                guard case .array(let listed) = value, !listed.isEmpty else {
                    problems.append(
                        JSONProblem(
                            place, "It lists no tenants.", remedy: "Use \"all\", or a list of tenants' names."))
                    return nil
                }
                return names.read(value, place, &problems).map { .listed($0) }
            },
            write: { scope in
                switch scope {
                case .all: .text("all")
                case .listed(let listed): names.write(listed)
                }
            })
    }()
}
