import LatchkeyDecision
import LatchkeyForms
import LatchkeyLicensing

/// The reference of the configuration and of policies, in Markdown, made of their forms.
///
/// A test compares it with `Documentation/Server/Settings.md`.
package enum SettingReference {
    /// The whole page.
    package static var page: String { introduction + tables(of: all) }

    /// The settings at a path and below it, or `nil`.
    /// - Parameter path: as in a problem, such as `tenants.acme.packagers[0].name`, or in the page.
    package static func tables(at path: String) -> String? {
        func names(in path: String) -> [String] {
            path.split(separator: ".").map { name in String(name.prefix { $0 != "[" }) }
        }
        let wanted = names(in: path)
        let found = all.filter { entry in
            let known = names(in: entry.path)
            return wanted.count <= known.count && zip(known, wanted).allSatisfy { ["*", $1].contains($0) }
        }
        return found.isEmpty || wanted.isEmpty ? nil : tables(of: found)
    }

    static let all = ServerSettings.entries + Policy.entries.map { $0.within("policies.*.") }

    private static let introduction = """
        # Settings

        Every member of the configuration, `server.json`, and of a policy's file, `policies.NAME`. `latchkey-server settings` prints this
        page from the server's own declarations, and `latchkey-server settings PATH` the part that explains one member or section:

        ```sh
        latchkey-server settings stores.copy
        ```

        Do not edit this page: after a change of a declaration, run `latchkey-server settings > Documentation/Server/Settings.md`.

        A member without “required” may be absent. Paths are relative to the configuration's file. Secrets are never in it: they are files of mode
        0600, or environment variables. Unknown members, wrong types and impossible values are faults with place and remedy, reported
        together; a repeated member is a single fault, reported alone, by line and column. `NAME` is a name that you choose.


        """

    /// A section for each object, with a table of its members; an object with the members of an earlier one refers to that.
    private static func tables(of entries: [MemberEntry]) -> String {
        var objects: [(path: String, members: [MemberEntry])] = []
        for entry in entries {
            let index = objects.firstIndex { $0.path == entry.parent } ?? objects.endIndex
            if index == objects.endIndex { objects.append((entry.parent, [])) }
            if !entry.isObject { objects[index].members.append(entry) }
        }
        objects.removeAll(where: \.members.isEmpty)
        return objects.enumerated().map { index, object in
            let isElement = object.path.hasSuffix("[]") || object.path.hasSuffix(".*")
            let path = isElement ? String(object.path.dropLast(2)) : object.path
            let other = objects.prefix(index).first { $0.members.map(\.meaning) == object.members.map(\.meaning) }
            return [
                object.path.isEmpty ? "## The file" : "## `\(object.path.heading)`",
                all.first { $0.path == path }?.text,
                other.map { reference(to: $0, object.members) } ?? table(object.members),
            ].compactMap { $0 }.joined(separator: "\n\n")
        }.joined(separator: "\n\n")
    }

    private static func reference(to other: (path: String, members: [MemberEntry]), _ members: [MemberEntry]) -> String
    {
        let heading = other.path.heading
        let differences = zip(members, other.members).filter { $0.standard != $1.standard }.map {
            "; `\($0.0.name)` defaults to `\($0.0.standard ?? "")`"
        }
        let anchor = heading.lowercased().filter { $0.isLetter || $0.isNumber }
        return "It has the members of [`\(heading)`](#\(anchor))\(differences.joined())."
    }

    /// A line for each member; neighbors with the same meaning share one.
    private static func table(_ members: [MemberEntry]) -> String {
        var lines: [(names: [String], rest: String)] = []
        for member in members {
            let usual = member.isRequired ? "required" : member.standard.map { "default `\($0)`" } ?? ""
            let values = [member.values, usual].filter { !$0.isEmpty }.joined(separator: "; ")
            let rest = " | \(member.text) | \(values.isEmpty ? "–" : values) |"
            if lines.last?.rest != rest { lines.append(([], rest)) }
            lines[lines.count - 1].names.append("`\(member.name)`")
        }
        return
            (["| Member | Meaning | Values |", "|---|---|---|"]
            + lines.map { "| \($0.names.joined(separator: ", "))\($0.rest)" }).joined(separator: "\n")
    }
}

extension String {
    /// A path in a heading, where names stand for asterisks.
    fileprivate var heading: String { replacing("*", with: "NAME") }
}

extension MemberEntry {
    /// The path of the object that has the member.
    fileprivate var parent: String { path.lastIndex(of: ".").map { String(path[..<$0]) } ?? "" }
    fileprivate var name: String { path.lastIndex(of: ".").map { String(path[path.index(after: $0)...]) } ?? path }
    fileprivate var meaning: [String] { [name, values, text] }
}
