import LatchkeyCore
import LatchkeyForms
import LatchkeyVault

extension ServerSettings.Stores {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .defaulting("sessions", \.sessions, .text, to: "memory").explained(
                "Slots and used tokens: `memory`, `sqlite:PATH`, `postgresql://…`, `redis://…`, `redis+sentinel://…` or `redis+cluster://…`, and with `rediss` over TLS ([Cluster.md](Cluster.md#redis))."
            ),
            .defaulting("regions", \.regions, .members(.name, .text), to: [:]).explained(
                "In place of `sessions`: [a store for each region](Regions.md), by the region's name. Each account is at home in one of them. The same on all nodes."
            ),
            .optional("region", \.region, .name).explained("The region of this node. Required with `regions`."),
            .defaulting("keys", \.keys, .text, to: "memory")
                .explained("Content keys, seeds and data keys: `memory`, `sqlite:PATH` or `postgresql://…`."),
            .defaulting("audit", \.audit, .text, to: "memory")
                .explained("The audit: `memory`, `sqlite:PATH` or `postgresql://…`."),
            .optional("copy", \.copy, .text).explained(
                "`sqlite:PATH`: the node's sealed copy of keys, with which it starts and works while the database is away. None by default."
            ),
            .defaulting("copyRows", \.copyRows, .whole(1_000...10_000_000), to: 200_000)
                .explained("The copy's maximum number of keys."),
            .optional("fingerprint", \.fingerprint, .fingerprint).explained(
                "The only accepted database of keys, by [its fingerprint](Credentials.md#which-database-it-is), which `migrate`, `tenant create` and `tenant list` print. Without it every database is accepted."
            ),
            .defaulting("sessionMilliseconds", \.sessionMilliseconds, .whole(10...10_000), to: 50).explained(
                "The time for a call of the session store, in milliseconds, also to another region. A store that has been late for 2 s is out of service: then the policy's outage rule replaces it."
            ),
        ],
        check: { stores, place, problems in
            func problem(_ member: String, _ what: String, _ remedy: String) {
                problems.append(JSONProblem(place.member(member), what, remedy: remedy))
            }
            let names = stores.regions.keys.sorted()
            if stores.regions.isEmpty {
                guard stores.region != nil else { return }
                return problem(
                    "region", "There are no regions.", "Add their stores to “regions”, or remove this member.")
            }
            if stores.region.map({ stores.regions[$0] == nil }) ?? true {
                problem(
                    "region", "The node's region is not one of \(names.joined(separator: ", ")).",
                    "Name the region in which this node runs.")
            }
            if stores.sessions != "memory" {
                problem("sessions", "Sessions are kept in the regions' stores.", "Omit the member.")
            }
            for name in names where names.contains(where: { $0 < name && stores.regions[$0] == stores.regions[name] }) {
                problems.append(
                    JSONProblem(
                        place.member("regions").member(name), "Two regions have the same store.",
                        remedy: "Give each region a unique store."))
            }
        })
}

extension JSONForm where Value == DatabaseFingerprint {
    fileprivate static let fingerprint = JSONForm(
        text: "32 hexadecimal digits", read: { DatabaseFingerprint($0) }, write: \.description)
}
