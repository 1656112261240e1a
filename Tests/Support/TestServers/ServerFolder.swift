// It reaches into the server's program, which only a build with its tests allows.
#if DEBUG
    import Foundation
    import LatchkeyCore
    import LatchkeyFairPlay
    package import LatchkeyForms
    import LatchkeyLicensing
    import LatchkeyTesting

    @testable import LatchkeyServerTool

    /// A demonstration's folder on free ports, with an operator of each role next to its own. A change of a file has to change something.
    ///
    /// A busy machine is not an outage: its store of sessions has ten seconds.
    @dynamicMemberLookup
    struct ServerFolder: Sendable {
        let root: TemporaryFolder
        let demo: DemoFolder

        // Making an RSA key takes longer than starting a server.
        private static let credentials = Result { try TestCredentials.make(bits: 2048) }

        /// - Parameters:
        ///   - changes: changes the configuration.
        ///   - root: the folder around it. One that has a demonstration keeps it, with a new configuration.
        init(_ changes: [String: JSONValue?] = [:], in root: TemporaryFolder? = nil) throws {
            self.root = try root ?? TemporaryFolder()
            demo = try DemoFolder(self.root.file("demo"), ports: [0, 0, 0], credentials: Self.credentials.get())
            var usual: [String: JSONValue?] = ["stores.sessionMilliseconds": 10_000]
            for (number, role) in AdminRole.allCases.enumerated() {
                let key = try MessageDigest.sha256(Array(TestServer.key(role).utf8)).hexString
                usual["admins.\(number + 1)"] = [
                    "name": "\(role.rawValue)-1", "key": .text(key), "role": .text(role.rawValue),
                ]
            }
            try edit(usual)
            if !changes.isEmpty { try edit(changes) }
        }

        /// The demonstration's `url`, `configuration`, `credentials`, `packagerKey` and `adminKey`.
        subscript<Value>(dynamicMember member: KeyPath<DemoFolder, Value>) -> Value { demo[keyPath: member] }

        func file(_ name: String) -> URL { demo.url.appending(path: name) }

        func text(_ name: String = "server.json") throws -> String {
            try String(contentsOf: file(name), encoding: .utf8)
        }

        /// Changes members of a JSON file by their places, as `tenants.demo.packagers.0.rights`; a list's length is the place behind its end.
        /// - Parameter changes: the new values; `nil` removes a member.
        /// - Throws: `NothingChanged` for a place that is not there, and for a value that is there already.
        func edit(_ changes: [String: JSONValue?], in name: String = "server.json") throws {
            var value = JSONValue(try Data(contentsOf: file(name))) ?? .null
            for (place, new) in changes.sorted(by: { $0.key < $1.key }) {
                guard let changed = value.setting(place.split(separator: ".")[...], new), changed != value else {
                    throw NothingChanged(place: place, file: name)
                }
                value = changed
            }
            try write(value.canonicalText, to: name)
        }

        /// Replaces a text in a file that is not JSON, or that is to become invalid.
        /// - Throws: `NothingChanged` if the other is not there.
        func replace(_ old: String, _ new: String, in name: String = "server.json") throws {
            let former = try text(name)
            let changed = former.replacing(old, with: new)
            guard changed != former else { throw NothingChanged(place: old, file: name) }
            try write(changed, to: name)
        }

        func write(_ text: String, to name: String) throws { try Data(text.utf8).write(to: file(name)) }

        /// Writes a file that is its owner's alone.
        func write(secret text: String, to name: String) throws { try PrivateFile.write(Secret(text), to: file(name)) }

        func makeTenants() async throws { try await demo.makeTenants() }
    }

    /// An edit without an effect, so that the rest of its test proves nothing.
    struct NothingChanged: Error, CustomStringConvertible {
        let place, file: String
        var description: String { "\(place) of \(file) is not there, or is as it was." }
    }

    extension JSONValue {
        /// The value with another one at a place, which `nil` removes; `nil` if there is no such place.
        fileprivate func setting(_ path: ArraySlice<Substring>, _ new: JSONValue?) -> JSONValue? {
            guard let name = path.first.map(String.init) else { return new }
            let rest = path.dropFirst()
            switch self {
            case .array(var values):
                guard let index = Int(name), values.indices.contains(index) || (index == values.count && rest.isEmpty)
                else { return nil }
                let inner = rest.isEmpty ? new : values[index].setting(rest, new)
                guard inner != nil || rest.isEmpty else { return nil }
                values.replaceSubrange(index..<min(index + 1, values.count), with: inner.map { [$0] } ?? [])
                return .array(values)
            case .object(var members):
                guard new != nil || members[name] != nil else { return nil }
                let inner = rest.isEmpty ? new : (members[name] ?? .object([:])).setting(rest, new)
                guard inner != nil || rest.isEmpty else { return nil }
                members[name] = inner
                return .object(members)
            default: return nil
            }
        }
    }

    extension JSONValue: ExpressibleByStringInterpolation, ExpressibleByIntegerLiteral, ExpressibleByBooleanLiteral,
        ExpressibleByArrayLiteral, ExpressibleByDictionaryLiteral
    {
        package init(stringLiteral text: String) { self = .text(text) }
        package init(integerLiteral number: Int) { self = .number(Double(number)) }
        package init(booleanLiteral flag: Bool) { self = .flag(flag) }
        package init(arrayLiteral values: JSONValue...) { self = .array(values) }
        package init(dictionaryLiteral members: (String, JSONValue)...) {
            self = .object(Dictionary(members) { $1 })
        }
    }
#endif
