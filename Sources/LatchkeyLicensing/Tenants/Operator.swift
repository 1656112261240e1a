package import Foundation
import LatchkeyCore
import LatchkeyForms

/// Somebody who operates the server, once a request has proved who it is.
///
/// Whatever proves it, such as a key of the configuration, makes one of these, and the admin API goes by nothing else.
///
/// Source: `Documentation/Server/Tenants.md`.
package struct Operator: Sendable, Hashable {
    /// The name for audit and log, such as `olga`.
    package let name: String
    /// What they may do, within their tenants.
    package let role: AdminRole
    /// Whose things they see and change.
    package let tenants: TenantScope
    /// The name that people know them by.
    package let shownName: String
    package let proof: Proof

    /// What proved who they are.
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
    ///   - shownName: the name that people know them by. Defaults to the name.
    ///   - proof: what proved it. Defaults to a key.
    package init(
        name: String, role: AdminRole, tenants: TenantScope, shownName: String? = nil, proof: Proof = .key
    ) {
        (self.name, self.role, self.tenants) = (name, role, tenants)
        (self.shownName, self.proof) = (shownName ?? name, proof)
    }
}

/// What an operator may do; each role may do what those before it may.
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
