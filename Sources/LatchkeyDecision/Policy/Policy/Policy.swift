package import Foundation
import LatchkeyCore
import LatchkeyFairPlay
package import LatchkeyForms

/// The rules by which licenses are granted, decoded once and strictly from JSON.
///
/// A policy holds only its author's statements: `nil` leaves a question to the policy below it, and in the end to the default that each
/// member of its form documents.
///
/// Source: `Documentation/LicenseServer.md` §6.2.
package struct Policy: Sendable, Hashable {
    /// The policy's statements. Behind a reference: a request passes its policy on several times.
    private struct Statements: Sendable, Hashable {
        var name: String?
        var extends: String?
        var validity = Validity()
        var stream = Stream()
        var download = Download()
        var tracks = Tracks()
        var output = Output()
        var client = Client()
        var devices = Devices()
        var concurrency = Concurrency()
        var place = Place()
        var token = Token()
        var blocked = Blocked()
        var limits = Limits()
        var outage = Outage()
        var messages: [Section: String]?
    }

    private static let silent = CopyOnWrite(wrappedValue: Statements())
    @CopyOnWrite private var stated: Statements

    /// A policy that states nothing: streams without a limit, and no downloads.
    package init() { _stated = Self.silent }

    /// Decodes a policy.
    /// - Parameter json: an object with `"version":1`.
    /// - Throws: `JSONProblems` with the code `policyInvalid` and every problem by its place.
    package init(json: Data) throws(JSONProblems) { self = try PolicyFile(json: json).policy }

    /// The canonical form: equal policies have equal bytes.
    package var canonicalJSON: Data { Data(json.canonicalText.utf8) }

    /// The SHA-256 of the canonical form, 64 hexadecimal digits. Appears in records, in the audit and in metrics.
    package var digest: String {
        // Fails only without memory, and then the digest is that of no policy.
        (try? MessageDigest.sha256(Array(canonicalJSON)).hexString) ?? ""
    }

    /// Every member of a policy's file, as a reference lists it, without the facts of its examples.
    package static var entries: [MemberEntry] {
        PolicyFile.form.entries.filter { !$0.path.hasPrefix("examples[]") }
    }

    /// A policy's members, except the `examples` of its file.
    package static let schema: JSONSchema = {
        let members = PolicyFile.form.members.filter { $0.names != ["examples"] }
        return ObjectForm(empty: PolicyFile(), members: members).schema
            .with(["additionalProperties": .flag(true)]).named("Policy")
    }()

    package var json: JSONValue { PolicyFile.form.write(PolicyFile(policy: self, examples: [])) }

    /// The policy with another's members where that one states them.
    package func overlaid(with other: Policy) -> Policy {
        var result = Self.rules.overlaid(self, with: other)
        result.name = other.name ?? name
        return result
    }

    /// The policy narrowed by a grant's statements; only members of `token.mayWiden` may become wider.
    func narrowed(to grant: Policy) -> (policy: Policy, notes: [PolicyNote]) {
        guard grant != Policy() else { return (self, []) }
        var narrowing = Narrowing(mayWiden: token.mayWiden ?? [])
        var result = self
        Self.rules.narrow(&result, to: grant, prefix: "", &narrowing)
        return (result, narrowing.results.map { PolicyNote($0.result, of: $0.path) })
    }
}

// The policy's statements.
extension Policy {
    package internal(set) var name: String? {
        get { stated.name }
        set { stated.name = newValue }
    }
    package internal(set) var extends: String? {
        get { stated.extends }
        set { stated.extends = newValue }
    }
    package internal(set) var validity: Validity {
        get { stated.validity }
        set { stated.validity = newValue }
    }
    package internal(set) var stream: Stream {
        get { stated.stream }
        set { stated.stream = newValue }
    }
    package internal(set) var download: Download {
        get { stated.download }
        set { stated.download = newValue }
    }
    package internal(set) var tracks: Tracks {
        get { stated.tracks }
        set { stated.tracks = newValue }
    }
    package internal(set) var output: Output {
        get { stated.output }
        set { stated.output = newValue }
    }
    package internal(set) var client: Client {
        get { stated.client }
        set { stated.client = newValue }
    }
    package internal(set) var devices: Devices {
        get { stated.devices }
        set { stated.devices = newValue }
    }
    package internal(set) var concurrency: Concurrency {
        get { stated.concurrency }
        set { stated.concurrency = newValue }
    }
    package internal(set) var place: Place {
        get { stated.place }
        set { stated.place = newValue }
    }
    package internal(set) var token: Token {
        get { stated.token }
        set { stated.token = newValue }
    }
    package internal(set) var blocked: Blocked {
        get { stated.blocked }
        set { stated.blocked = newValue }
    }
    package internal(set) var limits: Limits {
        get { stated.limits }
        set { stated.limits = newValue }
    }
    package internal(set) var outage: Outage {
        get { stated.outage }
        set { stated.outage = newValue }
    }
    package internal(set) var messages: [Section: String]? {
        get { stated.messages }
        set { stated.messages = newValue }
    }
}

/// A policy's file: the policy, and decisions that it has to make.
struct PolicyFile: Sendable {
    var version = 1
    package var policy = Policy()
    var examples: [PolicyExample] = []

    init(policy: Policy = Policy(), examples: [PolicyExample] = []) {
        self.policy = policy
        self.examples = examples
    }

    init(json: Data) throws(JSONProblems) { self = try Self.form.decode(Array(json), code: "policyInvalid") }

    static let form: ObjectForm<PolicyFile> = ObjectForm(
        empty: PolicyFile(),
        members: [
            .required("version", \.version, .whole(1...1)).explained("The version of this form."),
            .optional("name", \.policy.name, .name).explained("The policy's name, which is that of the file."),
            .optional("extends", \.policy.extends, .name).explained(
                "The policy whose members apply where this one states none. It must not extend another policy itself."),
            .rules(\.policy, Policy.rules),
            .defaulting("examples", \.examples, .list(PolicyExample.form.form), to: []).explained(
                "Decisions that the policy must make, as tests: `facts` and the result, `expect`, which is `license`, `acknowledge` or a refusal's code. `run --check` and each reload evaluate them, and reject a policy whose decision differs."
            ),
        ])
}

extension Member {
    /// The members of another form, included among this one's.
    fileprivate static func rules<Inner: Sendable>(_ place: Member<Inner>, _ form: ObjectForm<Inner>) -> Self {
        Self(
            names: form.members.flatMap(\.names), paths: form.paths,
            read: { values, at, root, problems in
                for member in form.members { member.read(values, at, &root[keyPath: place], &problems) }
            },
            write: { root in
                guard case .object(let members) = form.write(root[keyPath: place]) else { return [:] }
                return members
            }, entries: form.entries,
            schemas: form.members.reduce(into: [:]) { $0.merge($1.schemas) { first, _ in first } })
    }
}
