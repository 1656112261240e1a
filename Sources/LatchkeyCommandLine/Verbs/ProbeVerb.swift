import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyHTTP
import LatchkeySystem
import LatchkeyTerminal
import LatchkeyVendors

/// `latchkey probe`: checks whether a viewer gets a license, once or continuously.
struct ProbeVerb: Verb {
    private let licenseURL = Option("license-url", .text("URL"), "where licenses of the test tenant are")
    private let certificateURL = Option(
        "certificate-url", .text("URL"), "where its certificate is; defaults to certificate next to the licenses")
    private let credentials = Option("credentials", .path("DIR"), "the test credentials of the tenant")
    private let contentID = Option("content-id", .text("ID"), "the key URI that is asked for, such as skd://probe/KID")
    private let every = Option(
        "every", .timeSpan, "try again and again, at most 2m apart, and serve metrics; without it, once")
    private let host = Option("host", .text("ADDRESS"), "where metrics are served; defaults to 127.0.0.1")
    private let port = Option("port", .port, "the port of metrics; 0, the default, takes a free one")

    var usage: Usage {
        Usage(
            name: "probe", summary: "get a license as a viewer does, once or repeatedly with metrics",
            details: """
                Requests a license of a tenant with test credentials, through everything in front of the server, and opens it as a
                device does. The viewer is latchkey-probe, in one session for as long as the probe runs.
                With --every it serves latchkey_probe_success, latchkey_probe_duration_seconds and others at /metrics until a
                signal ends it; Deployment/prometheus has the alert for them.
                """,
            options: [licenseURL, certificateURL, credentials, contentID] + TokenOptions.all + [
                every, host, port, Network.authorities,
            ],
            examples: [
                "latchkey probe --license-url https://HOST/t/demo/fairplay --content-id skd://demo/video "
                    + "--credentials c …"
            ],
            yes: "a key came; with --every it continues until a signal", no: "no key came, and why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        let licenses = try arguments.url(licenseURL)
        let certificates =
            try arguments[certificateURL] == nil
            ? licenses.deletingLastPathComponent().appending(path: "certificate") : arguments.url(certificateURL)
        try check(arguments)
        let settings = ["licenseURL": licenses.absoluteString, "certificateURL": certificates.absoluteString]
        let probe = LicenseProbe(
            profile: try VendorProfile.latchkey.configured(settings).profile,
            uri: KeyURI(try arguments.required(contentID)),
            device: try DeviceCredentials(try arguments.required(credentials), console),
            tokens: try TokenOptions.tokens(arguments, console),
            transport: try Network.transport(trusting: arguments[Network.authorities], console))
        guard let period = arguments[every] else {
            return Self.tell(await probe.outcome(), console)
        }
        let metrics = Locked(ProbeMetrics())
        var configuration = HTTPServerConfiguration()
        configuration.port = arguments[port] ?? 0
        configuration.address = arguments[host] ?? configuration.address
        let server = HTTPServer(configuration) { request in
            guard request.path == "/metrics" else { return .text("Metrics are at /metrics.", status: 404) }
            return .text(metrics.withLock { $0.text })
        }
        console.print("Metrics: http://\(configuration.address):\(try server.start())/metrics")
        await withTaskGroup { group in
            group.addTask {
                while !Task.isCancelled {
                    let outcome = await probe.outcome()
                    metrics.withLock { $0.note(outcome) }
                    if let error = outcome.error { console.note("\(outcome.began.formatted(.iso8601)) \(error.line)") }
                    do { try await probe.timekeeper.sleep(for: period) } catch { return }
                }
            }
            await Interruption.first()
            group.cancelAll()
        }
        await server.stop(within: .zero)
        return .yes
    }

    private static let longestPeriod = Duration.seconds(120)

    /// Refuses settings that would fail, or be taken for a failure, later.
    private func check(_ arguments: Arguments) throws(UsageError) {
        guard TokenOptions.areGiven(arguments) else {
            throw UsageError("probe needs --token-key, --token-command or --token-file.")
        }
        guard let period = arguments[every] else {
            if let name = [host.name, port.name].first(where: { arguments.values[$0] != nil }) {
                throw UsageError("\(name) has no effect without --every.")
            }
            return
        }
        guard period <= Self.longestPeriod else {
            throw UsageError("--every takes at most 2m: the alert expects an attempt within five minutes.")
        }
        guard arguments[TokenOptions.file] == nil else {
            throw UsageError(
                "--token-file does not go with --every: its token expires.",
                hint: "Use --token-key or --token-command.")
        }
    }

    /// The result of one try.
    private static func tell(_ outcome: LicenseProbe.Outcome, _ console: Console) -> ExitStatus {
        guard let error = outcome.error else {
            console.print("A key came in \(outcome.time.wholeMilliseconds) ms.")
            return .yes
        }
        console.print("No key came. \(error.line)")
        return .no
    }
}

extension Failure {
    fileprivate var line: String { "\(code): \(reason) \(remedy)" }
}
