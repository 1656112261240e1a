import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyHLS
import LatchkeySimulation
import LatchkeyVendors

/// Looks at each step of a stream's keys, from the playlist to the license, and goes on where one is wrong.
struct Diagnosis: Sendable {
    let profile: VendorProfile
    let credentials: CredentialSet
    let hosts: HostPolicy
    /// Where the SPC comes from.
    let player: Player
    var timekeeper: any Timekeeper = SystemTimekeeper()

    /// Who makes the SPC.
    enum Player: Sendable {
        /// The simulated device, with the certificate of a service for tests and its ASk.
        case device(certificate: LatchkeyFairPlay.ApplicationCertificate, applicationSecret: Secret)
        /// A device, earlier: an SPC for the stream's first key, or for the one named.
        case recorded(SPCMessage, key: KeyURI?)
        /// Nobody.
        case none
    }

    /// The checks of a stream.
    func report(on playlist: String) async -> DoctorReport {
        let watch = ClockWatch(timekeeper: timekeeper)
        let loader = ContentKeyLoader(
            profile, credentials: .fixed(credentials),
            configuration: LoaderConfiguration(
                retry: RetryPolicy(maximumAttempts: 1), hosts: hosts, certificateFetch: .withFirstKey),
            transport: watch, timekeeper: timekeeper)
        defer { loader.cancel() }
        let settings = settings
        let (playlists, keys) = await playlists(at: playlist, WebResources(transport: watch))
        var checks = settings + playlists + identifiers(of: keys, loader) + tokens(for: keys, loader)
        if settings.contains(where: { $0.result == .error }) {
            checks += [Checkup.Step.certificate, .license].map { .skipped($0, "The settings are not complete.") }
        } else {
            checks += await exchange(for: keys, loader)
        }
        return DoctorReport(checks + clocks(watch))
    }

    private func exchange(for keys: [KeyURI], _ loader: ContentKeyLoader) async -> [Checkup] {
        let certificate = await certificate(loader)
        if case .device = player, certificate.contains(where: { $0.result == .error }) {
            return certificate + [.skipped(.license, "There is no certificate to make an SPC with.")]
        }
        return certificate + (await licenses(for: keys, loader))
    }
}

// MARK: - Before anything is sent

extension Diagnosis {
    private var settings: [Checkup] {
        let missing = profile.parameters.filter { parameter in
            guard parameter.isRequired else { return false }
            return parameter.isCredential
                ? credentials.values[parameter.name, default: Secret("")].count == 0
                : profile.missingSettings.contains(parameter.name)
        }
        guard missing.isEmpty else {
            return missing.map {
                .error(
                    .settings, $0.isCredential ? "missingCredential" : "missingSetting",
                    "\(profile.identifier) needs \($0.name): \($0.meaning).", "Add --set '\($0.name)=\($0.example)'.")
            }
        }
        let given = profile.parameters.map(\.name).filter {
            profile.settings[$0] != nil || credentials.values[$0] != nil
        }
        return [
            .ok(.settings, "\(profile.name) with \(given.isEmpty ? "no parameters" : given.joined(separator: ", "))")
        ]
    }

    private func identifiers(of keys: [KeyURI], _ loader: ContentKeyLoader) -> [Checkup] {
        var names: [Data: [KeyURI]] = [:]
        var checks: [Checkup] = []
        for key in keys {
            do {
                let identifier = try loader.contentIdentifier(for: key)
                names[identifier.bytes, default: []].append(key)
                let name = profile.redaction.redacted(urlText: "\(identifier)")
                checks.append(.ok(.identifier, "\(shown(key)) is \(name)"))
            } catch {
                checks.append(Checkup(.identifier, Failure(error), about: shown(key)))
            }
        }
        let shared = names.values.first { $0.count > 1 }
        guard let shared else { return checks }
        return checks + [
            .warning(
                .identifier, "identifiersNotDistinct",
                "\(shared.count) keys have the same content identifier.",
                "Choose the profile's variant whose rule tells the stream's keys apart; -19152 comes of it otherwise.")
        ]
    }

    private func tokens(for keys: [KeyURI], _ loader: ContentKeyLoader) -> [Checkup] {
        guard profile.parameters.contains(where: \.isCredential) else { return [.ok(.token, "None is needed.")] }
        guard credentials.values.contains(where: { $0.value.count > 0 }) else {
            return [.skipped(.token, "None was given.")]
        }
        guard !keys.isEmpty else { return [.skipped(.token, "There is no key that it could be for.")] }
        let findings = keys.flatMap { key -> [InspectionFinding] in
            guard let identifier = try? loader.contentIdentifier(for: key) else { return [] }
            let context = LicenseContext(keyURI: key, contentIdentifier: identifier)
            return profile.advice(on: credentials, context, at: timekeeper.date).map(InspectionFinding.init)
        }
        var seen: Set<InspectionFinding> = []
        let checks = findings.filter { seen.insert($0).inserted }.map { Checkup(.token, $0) }
        return checks.isEmpty ? [.ok(.token, "Nothing speaks against it; only its service can check it.")] : checks
    }

    private func shown(_ key: KeyURI) -> String { profile.redaction.redacted(urlText: key.raw) }
}

// MARK: - On the network

extension Diagnosis {
    private func playlists(at place: String, _ resources: WebResources) async -> ([Checkup], [KeyURI]) {
        let found: DiscoveredKeys
        do { found = try await KeyDiscovery(resources).keys(at: place) } catch {
            return ([Checkup(.playlist, Failure(error))], [])
        }
        var checks = found.failures.map { Checkup(.playlist, Failure($0.error), about: "A playlist is missing") }
        checks += found.warnings.prefix(Self.mostWarnings).map {
            .warning(.playlist, "oddPlaylist", "\($0)", "Look at the packager's settings.")
        }
        let keys = found.fairPlayURIs
        let others = Set(found.keys.filter { $0.format != .fairPlay }.map { $0.format.text })
        if keys.isEmpty {
            let instead = others.isEmpty ? "" : ", but keys of \(others.sorted().joined(separator: ", "))"
            checks.append(
                .error(
                    .playlist, "noFairPlayKey", "The stream names no FairPlay key\(instead).",
                    "Have the packager write EXT-X-KEY with KEYFORMAT \"com.apple.streamingkeydelivery\"."))
        } else {
            let count = keys.count == 1 ? "1 FairPlay key" : "\(keys.count) FairPlay keys"
            let read = found.playlists.count == 1 ? "1 playlist" : "\(found.playlists.count) playlists"
            checks.insert(.ok(.playlist, "\(count) in \(read)"), at: 0)
        }
        return (checks, keys)
    }

    /// How many oddities of the playlists are shown.
    private static let mostWarnings = 10

    private func certificate(_ loader: ContentKeyLoader) async -> [Checkup] {
        do {
            let report = CertificateReport(try await loader.applicationCertificate().der, at: timekeeper.date)
            let kind = report.isTestCertificate == true ? "of a service for tests" : "for \(report.subject ?? "nobody")"
            let fact = Checkup.ok(.certificate, "RSA \(report.rsaBits ?? 0), \(kind)")
            return (report.rsaBits == nil ? [] : [fact]) + report.problems.map { Checkup(.certificate, $0) }
        } catch {
            return [Checkup(.certificate, Failure(error))]
        }
    }

    private func licenses(for keys: [KeyURI], _ loader: ContentKeyLoader) async -> [Checkup] {
        switch player {
        case .none:
            return [
                .skipped(
                    .license, "Nobody makes an SPC.",
                    "Give --spc FILE, one that a device made, or --credentials DIR with those of a service for tests.")
            ]
        case .recorded(let spc, let key):
            guard let key = key ?? keys.first else { return [.skipped(.license, "There is no key to ask for.")] }
            return [await license(for: key) { License(try await loader.license(for: spc, key: key)) }]
        case .device(let certificate, let secret):
            guard !keys.isEmpty else { return [.skipped(.license, "There is no key to ask for.")] }
            let player = SimulatedPlayer(
                loader: loader, applicationSecret: secret, certificate: certificate, timekeeper: timekeeper)
            var checks: [Checkup] = []
            for key in keys {
                checks.append(await license(for: key) { License(try await player.key(key).outcome.get()) })
            }
            return checks
        }
    }

    /// What a license turned out to be.
    private struct License {
        let terms: LicenseTerms?
        /// Whether the device took it.
        let isOpened: Bool

        init(_ license: LatchkeyVendors.License) { (terms, isOpened) = (license.terms, false) }

        init(_ key: DeviceKey) { (terms, isOpened) = (key.terms, true) }
    }

    private func license(for key: KeyURI, _ fetch: () async throws -> License) async -> Checkup {
        let start = timekeeper.uptime
        do {
            let license = try await fetch()
            let time = "\(Int((timekeeper.uptime - start).inMilliseconds.rounded())) ms"
            let terms = license.terms.map { ", \(TermsSummary($0))" } ?? ""
            let verdict = license.isOpened ? "the device has the key" : "a CKC came; only the device can open it"
            return .ok(.license, "\(shown(key)): \(verdict) after \(time)\(terms)")
        } catch {
            return Checkup(.license, Failure(error), about: shown(key))
        }
    }

    private func clocks(_ watch: ClockWatch) -> [Checkup] {
        let offsets = watch.aheadByHost.sorted { $0.key < $1.key }
        guard !offsets.isEmpty else { return [.skipped(.clock, "No server said its time.")] }
        let wrong = offsets.filter { abs($0.value) > Self.clockLeeway }.map { host, ahead in
            Checkup.warning(
                .clock, "clocksDiffer",
                "\(host) is \(Int(abs(ahead).rounded())) s \(ahead > 0 ? "ahead of" : "behind") this machine.",
                "Set the clock that is wrong; tokens and SPCs live for minutes.")
        }
        return wrong.isEmpty ? [.ok(.clock, "This machine and the servers agree.")] : wrong
    }

    /// How far clocks may be apart, in seconds: a reply's date has no fraction, and tokens are made with some leeway.
    private static let clockLeeway = 60.0
}
