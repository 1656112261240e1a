import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// Gets a license from a license server as a viewer does: certificate, token, SPC, license, key.
struct LicenseProbe: Sendable {
    let profile: VendorProfile
    let uri: KeyURI
    let device: DeviceCredentials
    let tokens: ViewerTokens
    let transport: any Transport
    var timekeeper: any Timekeeper = SystemTimekeeper()
    /// Shared by all tries: each renews the stream of the one before, and a limit on streams holds only one of them.
    let session = UUID().uuidString.lowercased()

    /// The result of one try.
    struct Outcome: Sendable {
        let began: Date
        let time: Duration
        /// `nil` if a key came.
        let error: Failure?
    }

    /// Tries once. Requests certificate and token anew, like a first-time viewer.
    func outcome() async -> Outcome {
        let (date, began) = (timekeeper.date, timekeeper.uptime)
        let loader = ContentKeyLoader(
            profile.unchecked,
            credentials: Credentials { [tokens, session] _ in
                CredentialSet(try await tokens.fresh("latchkey-probe", session).map { ["token": $0] } ?? [:])
            }, transport: transport, timekeeper: timekeeper)
        let player = SimulatedPlayer(
            loader: loader, applicationSecret: device.secret, certificate: device.certificate, timekeeper: timekeeper)
        let result = await player.key(uri).outcome
        let error = if case .failure(let error) = result { Failure(error) } else { Failure?.none }
        return Outcome(began: date, time: timekeeper.uptime - began, error: error)
    }
}

/// A probe's results, in Prometheus's text format.
struct ProbeMetrics: Sendable {
    private var last: LicenseProbe.Outcome?
    private var tries = 0
    private var failures: [String: Int] = [:]

    mutating func note(_ outcome: LicenseProbe.Outcome) {
        last = outcome
        tries += 1
        if let error = outcome.error { failures[error.code, default: 0] += 1 }
    }

    /// The metrics; before the first try only the count of tries.
    var text: String {
        var lines: [String] = []
        func add(_ name: String, _ type: String, _ help: String, _ values: [(labels: String, value: String)]) {
            lines += ["# HELP latchkey_probe_\(name) \(help)", "# TYPE latchkey_probe_\(name) \(type)"]
            lines += values.map { "latchkey_probe_\(name)\($0.labels) \($0.value)" }
        }
        if let last {
            add("success", "gauge", "1 if the last try got a key.", [("", last.error == nil ? "1" : "0")])
            add("duration_seconds", "gauge", "Time of the last try.", [("", "\(last.time.inSeconds)")])
            add(
                "timestamp_seconds", "gauge", "When the last try began.",
                [("", "\(last.began.timeIntervalSince1970)")])
        }
        add("tries_total", "counter", "Tries.", [("", "\(tries)")])
        add(
            "failures_total", "counter", "Tries without a key.",
            failures.sorted { $0.key < $1.key }.map { (#"{code="\#($0.key)"}"#, "\($0.value)") })
        return lines.joined(separator: "\n") + "\n"
    }
}
