import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyTransport

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// FairPlay credentials: the server's, and those of tenants with their own.
extension ServerBuilder {
    /// The credentials of tenants without their own. Where all have theirs, the server needs none.
    func licensee(_ problems: inout ServerProblems) async -> LicenseeSetup? {
        let needsNone = !settings.tenants.isEmpty && settings.tenants.values.allSatisfy { $0.licensee != nil }
        if needsNone, settings.licensee.credentials.isEmpty { return LicenseeSetup.none }
        return await setup(file.licensee, of: "", &problems)
    }

    /// The credentials of tenants with their own, by the tenants' names.
    func licensees(_ problems: inout ServerProblems) async -> [String: LicenseeSetup] {
        var setups: [String: LicenseeSetup] = [:]
        for (name, tenant) in settings.tenants.sorted(by: { $0.key < $1.key }) {
            guard let configuration = file.licensee(of: tenant) else { continue }
            setups[name] = await setup(configuration, of: name, &problems)
        }
        return setups
    }

    /// - Parameter tenant: the tenant; empty for the server.
    private func setup(
        _ configuration: LicenseeConfiguration, of tenant: String, _ problems: inout ServerProblems
    ) async -> LicenseeSetup? {
        let (folder, place) = (file.folder, tenant.isEmpty ? "licensee" : "tenants.\(tenant).licensee")
        let observer = configuration.module == nil ? ModuleObserver() : moduleObserver(tenant)
        // Reads files, logs in to tokens, tests the derivation and starts the licensee's module.
        let setup = await problems.reading(place, on: file.threads, within: Self.tokenLimit) { problems in
            do throws(LicenseeError) {
                return try LicenseeSetup(
                    configuration, folder: folder, at: Date(), post: Self.post(by: SystemTransport()),
                    observer: observer)
            } catch {
                for problem in error.problems {
                    problems.add(.init("\(place).\(problem.place)", problem.reason, problem.remedy))
                }
                return nil
            }
        }
        guard let setup else { return nil }
        do throws(ModuleFailure) { try await setup.licenseeModule?.selfTest() } catch {
            problems.add(.init("\(place).module.selfTest", error.reason, error.remedy))
            return nil
        }
        return setup
    }

    /// Sends the input of a module behind a URL.
    private static func post(by transport: any Transport) -> ModulePost {
        { url, body, time in
            var request = URLRequest(url: url, timeoutInterval: time.inSeconds)
            (request.httpMethod, request.httpBody) = ("POST", body)
            request.setValue("application/json", forHTTPHeaderField: "Content-Type")
            let reply = try await transport.send(request, bodyLimit: LicenseeModule.replyBytes)
            return (reply.status, reply.body)
        }
    }

    /// Notices to tenants' operators about their credentials, and to operators of all tenants about certificates that several share.
    static func notices(of licensees: [String: LicenseeSetup], beside server: LicenseeSetup) -> [Notice] {
        var notices: [Notice] = []
        var places = Dictionary(server.credentials.map { ($0.sha1, "licensee") }) { first, _ in first }
        for (name, setup) in licensees.sorted(by: { $0.key < $1.key }) {
            let place = "tenants.\(name).licensee"
            notices += setup.ownNotices.map { Notice("\(place): \($0)", of: name) }
            for sha1 in setup.credentials.map(\.sha1) {
                guard let other = places.updateValue(place, forKey: sha1) else { continue }
                notices.append(
                    Notice(
                        "\(place).credentials: The certificate \(sha1) is also that of \(other): an SPC for one opens with the other. Give each its own certificate, or remove \(place)."
                    ))
            }
        }
        return notices
    }
}
