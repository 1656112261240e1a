import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDecision
import LatchkeySimulation
import LatchkeySystem
import LatchkeyTerminal

#if canImport(FoundationNetworking)
    import FoundationNetworking
    import LatchkeyFairPlay
#endif

/// `latchkey load`: many simulated devices against a license server.
struct LoadVerb: Verb {
    private let licenseURL = Option(
        "license-url", .text("URL"), "where licenses are; without it, --slots-url, --in-process or --virtual")
    private let certificateURL = Option(
        "certificate-url", .text("URL"), "where the certificate is; compared with that of --credentials before the load"
    )
    private let credentials = Option(
        "credentials", .path("DIR"), "the test credentials of the server; with --in-process also its private key")
    private let slotsURL = Option(
        "slots-url", .text("URL"), "where slots for other systems are; --slots-part of the playbacks take one there")
    private let slotsPart = Option(
        "slots-part", .count, "how many of 100 playbacks take a slot; defaults to 50, without --license-url to 100")
    private let contentID = Option(
        "content-id", .text("ID"), "key URI of the SPCs; {kid} is one of --keys UUIDs; defaults to skd://load/{kid}")
    private let keys = Option("keys", .count, "the number of different keys; defaults to 10, with --sizing to 5000")
    private let rate = Option("rate", .rate, "playbacks that begin in a second; defaults to 10")
    private let length = Option("for", .timeSpan, "for how long playbacks begin; defaults to 10s")
    private let arrivals = Option(
        "arrivals", .choice(["poisson": LoadPlan.Arrivals.poisson, "fixed": .fixed]),
        "random arrivals, or equal intervals; defaults to poisson")
    private let viewers = Option(
        "viewers", .count, "how many accounts there are; defaults to 100, with --sizing to 1000000")
    private let sessions = Option("sessions", .count, "how many sessions an account has; defaults to 1")
    private let watch = Option(
        "watch", .timeSpan, "how long a viewer watches, renewing and sending heartbeats; defaults to one license")
    private let retry = Option(
        "retry", .count, "retries of a request that got no answer; defaults to 0, with --sizing to 2")
    private let impatient = Flag("ignore-retry-after", "send again after 100 ms whatever Retry-After says")
    private let timeout = Option("timeout", .timeSpan, "how long to wait for a reply; defaults to 10s")
    private let connections = Option("connections", .count, "concurrent connections; defaults to 256")
    private let inProcess = Flag("in-process", "load a license server in this process, without a network")
    private let virtual = Flag("virtual", "only compute the arrivals of millions of devices, on virtual time")
    private let policy = Option("policy", .path("FILE"), "with --in-process, --virtual and --sizing: the policy")
    private let seed = Option("seed", .count, "draws arrivals, viewers and devices; defaults to 1")
    private let html = Option("html", .path("FILE"), "where to write the report as a page")

    var usage: Usage {
        Usage(
            name: "load", summary: "put a license server under load, with many simulated devices",
            details: """
                Playbacks begin on schedule, whether or not the server keeps up; a request's latency counts from its scheduled
                time. An http address gets --connections kept-alive connections of one thread; https uses the system's client. SPCs
                are made ahead, and the first license of each is opened as a device does.
                --sizing needs no server: it plays crowds of a million and ten million, and your own, on virtual time, and prints the
                nodes and primaries that they need. With --nodes or --primaries it assesses these.
                """,
            options: [
                licenseURL, certificateURL, slotsURL, slotsPart, credentials, contentID, keys,
            ] + TokenOptions.all + [
                rate, length, arrivals, viewers, sessions, watch, retry, impatient, timeout, connections, inProcess,
                virtual, policy, seed, html, TraceRecorder.option, Flag.json,
            ] + SizingOptions.all,
            examples: [
                "latchkey load --in-process --credentials credentials --rate 100 --for 2s",
                "latchkey load --virtual --viewers 1000 --rate 100 --for 10s --watch 15m --html storm.html",
                "latchkey load --sizing --viewers 3000000 --heartbeat 30s --kick-off 60s --html sizing.html",
            ],
            yes: "every request got an answer, a license or a refusal; with --sizing: the capacity suffices",
            no: "some got none, or it does not suffice; the report says why")
    }

    func run(_ arguments: Arguments, _ console: Console) async throws -> ExitStatus {
        if arguments[SizingOptions.sizing] { return try size(arguments, console) }
        try SizingOptions.refuseOutsideSizing(arguments)
        OpenFileLimit.raise()
        let plan = plan(arguments)
        let recorder = try arguments.traceRecorder()
        let progress: @Sendable (LoadTally) -> Void = { tally in
            let count = tally.parts.map(\.starts).reduce(0, +)
            console.progress("\(count) playbacks began, \(tally.retries) requests were sent again")
        }
        let (report, title) = try await report(plan, recorder, arguments, console, progress)
        console.endProgress()
        try recorder.write(console)
        if let path = arguments[html] {
            try OutputFile.write(
                Data(report.page(of: title).utf8), to: path, for: .everyone, console)
        }
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        return report.isComplete ? .yes : .no
    }

    /// Prints the needs of crowds.
    private func size(_ arguments: Arguments, _ console: Console) throws -> ExitStatus {
        let (plan, isOwn) = try sizingPlan(arguments, console)
        let report = SizingReport(plan, isOwn: isOwn)
        if let path = arguments[html] {
            try OutputFile.write(Data(report.page.utf8), to: path, for: .everyone, console)
        }
        if arguments[Flag.json] { try console.printJSON(report) } else { console.print(report.text) }
        return report.suffices ? .yes : .no
    }

    /// The crowd that the arguments state, and whether they include an operator's own column.
    /// - Throws: `UsageError`, `JSONProblems`, `FileError`.
    func sizingPlan(_ arguments: Arguments, _ console: Console) throws -> (plan: SizingPlan, isOwn: Bool) {
        let shared: [any Parameter] = [virtual, viewers, watch, keys, retry, policy, seed, html, Flag.json]
        let known = Set((shared + SizingOptions.all).map(\.name))
        if let name = arguments.values.keys.sorted().first(where: { !known.contains($0) }) {
            throw UsageError("\(name) has no effect with --sizing.")
        }
        return try SizingOptions.plan(
            arguments, viewers: arguments[viewers], watching: arguments[watch], keys: arguments[keys],
            retries: arguments[retry], seed: UInt64(clamping: arguments[seed] ?? 1),
            policy: arguments[policy].map { try LoadPolicy(InputFile.read($0, limit: 1 << 20, console)) }, console)
    }

    private func plan(_ arguments: Arguments) -> LoadPlan {
        var plan = LoadPlan()
        plan.rate = arguments[rate] ?? plan.rate
        plan.length = arguments[length] ?? plan.length
        plan.arrivals = arguments[arrivals] ?? plan.arrivals
        plan.viewers = arguments[viewers] ?? plan.viewers
        plan.watching = arguments[watch]
        plan.retries = arguments[retry] ?? 0
        plan.obeysRetryAfter = !arguments[impatient]
        plan.patience = arguments[timeout] ?? plan.patience
        if arguments[slotsURL] != nil {
            plan.slotPart = Double(arguments[slotsPart] ?? (arguments[licenseURL] == nil ? 100 : 50)) / 100
        }
        plan.seed = UInt64(clamping: arguments[seed] ?? 1)
        return plan
    }

    private func report(
        _ plan: LoadPlan, _ recorder: TraceRecorder, _ arguments: Arguments, _ console: Console,
        _ progress: @escaping @Sendable (LoadTally) -> Void
    ) async throws -> (LoadReport, title: String) {
        let policy = try LoadPolicy(arguments[policy].map { try InputFile.read($0, limit: 1 << 20, console) })
        let places = [
            arguments[licenseURL] != nil || arguments[slotsURL] != nil, arguments[inProcess], arguments[virtual],
        ]
        guard places.filter({ $0 }).count == 1 else {
            throw UsageError("load needs one of --license-url or --slots-url, --in-process, --virtual and --sizing.")
        }
        if let part = arguments[slotsPart] {
            guard arguments[slotsURL] != nil else {
                throw UsageError("--slots-part has no effect without --slots-url.")
            }
            guard part <= 100, part == 100 || arguments[licenseURL] != nil else {
                throw UsageError(
                    part > 100
                        ? "--slots-part needs a number up to 100."
                        : "--slots-part \(part) leaves playbacks for which --license-url is needed.")
            }
        }
        if arguments[virtual] {
            guard arguments[TraceRecorder.option] == nil else {
                throw UsageError("--virtual makes no requests that --trace could show.")
            }
            let load = VirtualLoad(plan: plan, policy: policy.policy, sessions: arguments[sessions] ?? 1)
            return (await load.run(progress), "decisions, on virtual time")
        }
        guard #available(macOS 14, *) else {
            throw Diagnosis(
                code: "loadImpossible", reason: "load needs macOS 14 or later.",
                remedy: "Run it on macOS 14 or on Linux.")
        }
        var run = try await self.run(plan, policy, arguments, console)
        if arguments[TraceRecorder.option] != nil {
            run.carrier = SampledCarrier(run.carrier, recorder, every: plan.traceInterval)
        }
        return (await run.run(progress), run.license.absoluteString)
    }

    /// The run against a server, here or elsewhere.
    private func run(
        _ plan: LoadPlan, _ policy: LoadPolicy, _ arguments: Arguments, _ console: Console
    ) async throws -> LoadRun {
        let slots = try arguments[slotsURL].map { _ in try arguments.url(slotsURL) }
        if let slots, arguments[licenseURL] == nil {
            let ofLicenses = [certificateURL.name, credentials.name, contentID.name, keys.name]
            if let name = ofLicenses.first(where: { arguments.values[$0] != nil }) {
                throw UsageError("\(name) has no effect without --license-url.")
            }
            let crowd = LoadCrowd(slotsOf: plan.viewers, sessions: arguments[sessions] ?? 1, seed: plan.seed)
            return LoadRun(
                plan: plan, license: slots, heartbeats: slots, slots: slots, crowd: crowd,
                tokens: try TokenOptions.tokens(arguments, console), carrier: try carrier(slots, arguments))
        }
        let folder = try arguments.required(credentials)
        let device = try DeviceCredentials(folder, console)
        let crowd = try LoadCrowd(
            device.certificate, device.secret, contents: contents(arguments), viewers: plan.viewers,
            sessions: arguments[sessions] ?? 1, slotPart: plan.slotPart, seed: plan.seed)
        if arguments[inProcess] {
            guard let license = InProcessServer.license else { throw UsageError("--in-process has no address.") }
            let server = try await InProcessServer(URL(filePath: folder), policy: policy)
            return LoadRun(
                plan: plan, license: license, heartbeats: license, crowd: crowd, tokens: .signed(server.signer),
                carrier: server.carrier)
        }
        let license = try arguments.url(licenseURL)
        if arguments[certificateURL] != nil {
            try await compare(arguments.url(certificateURL), device)
        }
        if let slots, (slots.scheme, slots.host(), slots.port) != (license.scheme, license.host(), license.port) {
            throw UsageError("--slots-url and --license-url must name the same server.")
        }
        return LoadRun(
            plan: plan, license: license,
            heartbeats: license.deletingLastPathComponent().appending(path: "sessions/heartbeat"), slots: slots,
            crowd: crowd, tokens: try TokenOptions.tokens(arguments, console), carrier: try carrier(license, arguments))
    }

    private func carrier(_ server: URL, _ arguments: Arguments) throws -> any LoadCarrier {
        server.scheme == "http"
            ? try SocketCarrier(server, connections: arguments[connections] ?? 256)
            : TransportCarrier(transport: SystemTransport())
    }

    private func contents(_ arguments: Arguments) -> [ContentIdentifier] {
        let pattern = arguments[contentID] ?? "skd://load/{kid}"
        var generator = SeededGenerator(seed: 0x6b69_6473)
        return (0..<(pattern.contains("{kid}") ? arguments[keys] ?? 10 : 1)).compactMap { _ in
            KeyID(bytes: generator.bytes(16)).map { ContentIdentifier(pattern.replacing("{kid}", with: "\($0)")) }
        }
    }

    /// - Throws: `loadImpossible` if the server has another certificate and could open no SPC.
    private func compare(_ url: URL, _ device: DeviceCredentials) async throws {
        let reply = try await SystemTransport().send(URLRequest(url: url), bodyLimit: 1 << 16)
        guard reply.status == 200, reply.body == device.certificate.der else {
            throw Diagnosis(
                code: "loadImpossible",
                reason: reply.status == 200
                    ? "The server's certificate differs from that of --credentials."
                    : "The server answered \(reply.status) for its certificate.",
                remedy: "Use the folder of the server's own test credentials.")
        }
    }
}

extension ValueForm<Double> {
    /// A rate per second.
    fileprivate static let rate = ValueForm(placeholder: "N") { text throws(UsageError) in
        guard let number = Double(text), number.isFinite, (0.01...1_000_000).contains(number) else {
            throw UsageError("needs a number from 0.01 to 1000000, not \(quoted(text))")
        }
        return number
    }
}

extension Arguments {
    /// - Throws: `UsageError` unless the value is an http or https URL.
    func url(_ option: Option<String>) throws(UsageError) -> URL {
        let text = try required(option)
        guard let url = URL(string: text), url.host() != nil, ["http", "https"].contains(url.scheme) else {
            throw UsageError("\(option.name) needs an http or https URL, not \(quoted(text)).")
        }
        return url
    }
}
