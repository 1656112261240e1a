import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyFairPlay
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeySystem

/// A check of everything that a configuration names, which writes nothing: not to a store, and not to a folder.
///
/// It continues after a problem, and reports all of them.
package struct ServerCheck {
    /// The problems found.
    package private(set) var problems = ServerProblems()
    /// Facts that need attention but stop no server, one sentence each.
    package private(set) var notices: [String] = []
    /// A summary, if there is no problem.
    package private(set) var summary = ""

    /// - Parameters:
    ///   - path: the configuration.
    ///   - derivation: a licensee's library in place of the configuration's.
    /// - Throws: for a file that cannot be read, or is not a JSON object.
    package init(_ path: String, derivation: String?) async throws {
        let (file, form) = try await ConfigurationFile.readWhatFits(path, derivation: derivation)
        var found = ServerProblems()
        let engines = await ServerEngines.checking(file, &found, &notices)
        defer { engines.close() }
        for listener in file.settings.listeners {
            await ListenerCheck(listener.name, listener.settings).look(on: file.threads, &found, &notices)
        }
        if let record = file.settings.record {
            await RecordCheck(settings: record, file: file).look(&found, &notices)
        }
        if let builder = await Self.builder(file, engines, &found) {
            await lookAtAddresses(file, builder, &found)
            await builder.lookAtProvider(&found)
            do throws(ServerProblems) {
                let state = try await builder.state()
                notices += (state.keySetNotices + state.notices).map(\.text)
                state.retire()
                summary =
                    "\(state.tenants.count.counted("tenant")), \(state.policies.names.count.counted("policy", "policies")), "
                    + state.credentials.count.counted("certificate")
                    + (file.settings.record == nil ? ", no record of licenses" : ", a record of licenses")
            } catch {
                found.add(error)
                notices += file.settings.hazards(await file.policies())
            }
        }
        // Invalid members have their defaults in the settings, so findings about them are wrong.
        let places = form.problems.map(\.place)
        let isOfForm = { (place: String) in places.contains { place == $0 || place.hasPrefix($0 + ".") } }
        problems = form
        for problem in found.problems where !isOfForm(problem.place) { problems.add(problem) }
        notices.removeAll { notice in isOfForm(String(notice.prefix { $0 != ":" })) }
    }

    private static func builder(
        _ file: ConfigurationFile, _ engines: ServerEngines, _ problems: inout ServerProblems
    ) async -> ServerBuilder? {
        let lines = LineWriter { _ in }
        var shared = await problems.awaiting("nodeSecret") { try await ServerShared.read(file, engines, lines) }
        if shared == nil { shared = try? ServerShared(file, engines, lines, hasOwnSecret: true) }
        var builder = shared?.builder(file)
        builder?.isChecking = true
        return builder
    }

    /// Asks the addresses of key sets and of the operators' own services, all at the same time.
    private mutating func lookAtAddresses(
        _ file: ConfigurationFile, _ builder: ServerBuilder, _ problems: inout ServerProblems
    ) async {
        let tenants = file.settings.tenants.sorted { $0.key < $1.key }
        let looks = await withTaskGroup(of: (Int, ServerProblems, [String]).self) { group in
            for (number, (name, tenant)) in tenants.enumerated() {
                group.addTask {
                    var (found, notices) = (ServerProblems(), [String]())
                    await builder.lookAtKeySet(tenant.tokens, of: name, &found, &notices)
                    await builder.lookAtCallout(tenant.callout, of: name, &found, &notices)
                    return (number, found, notices)
                }
            }
            return await group.reduce(into: []) { $0.append($1) }
        }
        for (_, found, notices) in looks.sorted(by: { $0.0 < $1.0 }) {
            problems.add(found)
            self.notices += notices
        }
    }
}

extension ConfigurationFile {
    /// The policies, if all of them can be read; their problems are reported elsewhere.
    fileprivate func policies() async -> PolicySet? {
        guard let name = settings.policies else { return nil }
        let folder = URL(filePath: path(name))
        return try? await threads.run(name) { try? PolicySet(folder: folder) }
    }
}
