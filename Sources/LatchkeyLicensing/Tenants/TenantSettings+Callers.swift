import LatchkeyCore
import LatchkeyForms

extension TenantSettings.Caller {
    static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("name", \.name, .name).explained("The packager's name, in log and audit."),
            .optional("apiKey", \.apiKey, .sha256)
                .explained("The SHA-256 of its API key, in `X-API-Key` or as a bearer token. The key must be random."),
            .optional("basic", \.basic, .sha256)
                .explained("The SHA-256 of `USER:PASSWORD` of its Basic authorization. The password must be random."),
            .optional("certificate", \.certificate, .sha256).explained(
                "The SHA-256 of its client certificate, which a trusted proxy states in `X-Client-Cert-SHA256`. The proxy must remove that field from clients' requests."
            ),
            .defaulting("rights", \.rights, .distinct(.right), to: [.readSPEKE, .readCommonEncryption]).explained(
                "Its rights: to get keys by SPEKE or the common-encryption JSON, import and export them by CPIX, disable them, take [slots](Slots.md)."
            ),
        ],
        check: { caller, place, problems in
            guard caller.proofs.isEmpty else { return }
            problems.append(
                JSONProblem(
                    place, "This caller has no credential to identify it.",
                    remedy: "Set the SHA-256 of its API key, of its USER:PASSWORD, or of its certificate."))
        })

    /// How it proves itself: each member that is stated.
    private var proofs: [(member: String, digest: String)] {
        [("apiKey", apiKey), ("basic", basic), ("certificate", certificate)].compactMap { member, digest in
            digest.map { (member, $0) }
        }
    }

    /// The credentials that it has, as requests bring them.
    package var credentials: [CallerCredential] {
        proofs.flatMap { member, digest in
            let kinds: [CallerCredential.Scheme] =
                switch member {
                case "apiKey": [.apiKey, .bearer]
                case "basic": [.basic]
                default: [.certificate]
                }
            return kinds.compactMap { CallerCredential($0, sha256: digest) }
        }
    }

    /// Finds packagers of one tenant whom nothing tells apart: one name with different rights, and one key twice. A caller has several
    /// entries while its key is changed.
    static func check(_ callers: [Self], _ place: JSONPlace, _ problems: inout [JSONProblem]) {
        for (index, caller) in callers.enumerated() {
            let place = place.element(index)
            let before = callers.prefix(index)
            if let other = before.first(where: { $0.name == caller.name }), other.rights != caller.rights {
                problems.append(
                    JSONProblem(
                        place.member("rights"), "Another entry of “\(caller.name)” has other rights.",
                        remedy: "Use the same rights in both, or rename one."))
            }
            for (member, digest) in caller.proofs {
                guard
                    let other = before.first(where: { one in
                        one.proofs.contains { $0.member == member && $0.digest == digest }
                    })
                else { continue }
                problems.append(
                    JSONProblem(
                        place.member(member), "“\(caller.name)” and “\(other.name)” have the same key.",
                        remedy: "Give each packager of a tenant a unique key, or remove one of the two."))
            }
        }
    }
}
