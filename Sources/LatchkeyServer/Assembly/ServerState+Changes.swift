import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyVault

extension ServerState {
    /// The differences from the former configuration, for the audit: names of policies and tenants, fingerprints of certificates, listeners
    /// with new ones. No secret, and nothing without a difference.
    func changes(since former: ServerState) -> [String: String] {
        let policies = { (state: ServerState) in
            Dictionary(state.policies.names.compactMap { name in state.policies[name].map { (name, $0.digest) } }) {
                $1
            }
        }
        var changes: [String: String] = [:]
        changes["policies"] = Self.names(policies(former), policies(self))
        changes["tenants"] = Self.names(former.settings.tenants, settings.tenants)
        changes["credentials"] = Self.names(former.certificates, certificates)
        changes["certificates"] = Self.names(
            former.identities.named.mapValues(\.sha1), identities.named.mapValues(\.sha1))
        changes["wrapper"] = former.wrapping.current.id == wrapping.current.id ? nil : wrapping.current.id
        return changes
    }

    private var certificates: [String: Bool] {
        Dictionary(credentials.map { one in ((one.tenant.map { "\($0)/" } ?? "") + one.credential.sha1, true) }) { $1 }
    }

    /// The names whose values differ, sorted: `+` for a new one, `-` for one that is gone; `nil` without any.
    private static func names<Value: Equatable>(_ former: [String: Value], _ new: [String: Value]) -> String? {
        let names = Set(former.keys).union(new.keys).sorted().compactMap { name -> String? in
            switch (former[name], new[name]) {
            case (nil, _): "+\(name)"
            case (_, nil): "-\(name)"
            case (let one, let other): one == other ? nil : name
            }
        }
        return names.isEmpty ? nil : names.joined(separator: " ")
    }
}
