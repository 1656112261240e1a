import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyTerminal

/// All measurements, in one run.
///
/// Where possible, a figure is a ratio to a measurement in the same run, because the machine and its other users differ from
/// day to day. Both sides of a ratio are measured in turn, and the median counts.
struct Bench: Sendable {
    /// Whether each measurement is done only once, as a test that it works; the figures then mean little.
    var isBrief = false
    /// The option with which this program, started again, counts allocations.
    let countingFlag: String
    /// Called with the name of the next step.
    var progress: @Sendable (String) -> Void = { _ in }

    /// The number of repetitions of each measurement.
    var rounds: Int { isBrief ? 1 : 5 }

    /// Figures that are measured together.
    typealias Part = (name: String, measure: () async throws -> [Figure])

    /// Everything; takes some minutes.
    var parts: [Part] {
        var parts: [Part] = [
            ("CKCs with RSA 1024", { try keyServer(bits: 1024) }),
            ("CKCs with RSA 2048", { try keyServer(bits: 2048) }),
            ("Allocations", allocations), ("Playlists", discovery), ("Licenses over HTTP", licenses),
            ("Time to key", timeToKey), ("Held keys", heldKeys), ("Recording for support", recording),
            ("Captures", captures),
        ]
        #if os(Linux)
            parts.append(("Transport", transport))
            parts += serverParts
        #endif
        return parts
    }

    /// The figures of all parts. A failed part gives one figure with the reason; the other parts are still measured.
    static func figures(of parts: [Part]) async -> [Figure] {
        var figures: [Figure] = []
        for part in parts {
            do { figures += try await part.measure() } catch { figures.append(.failed(part.name, error)) }
        }
        return figures
    }

    private func median(_ measure: () throws -> Double) rethrows -> Double {
        try (0..<rounds).map { _ in try measure() }.median ?? 0
    }
}

// MARK: - The key server alone

extension Bench {
    private func keyServer(bits: Int) throws -> [Figure] {
        progress("Making CKCs with RSA \(bits)")
        let bench = try KeyServerBench(bits: bits)
        let beside = try median { try bench.timeBesideRSA(seconds: 0.1) } * 1e6
        let alone = try (0..<rounds).map { _ in
            let other = try 1 / Stopwatch.threadTime(perPieceFor: 0.2) { try bench.unwrap($0) }
            return (own: try bench.rate(seconds: 0.2), other: other)
        }
        return [
            try share(of: bench, bits: bits),
            .share("CKCs on one core, of its RSA-OAEP alone, \(bits)", alone) {
                "\($0) CKCs/s of \($1) RSA-OAEP decryptions/s"
            },
            Figure(
                name: "Time outside RSA per CKC, RSA \(bits)", value: beside, unit: .microseconds, aim: .below(10),
                note: "processor time"),
        ]
    }

    /// Processor time on both sides, because `openssl speed` counts processor time.
    private func share(of bench: KeyServerBench, bits: Int) throws -> Figure {
        let name = "CKCs on one core, of RSA \(bits)"
        let pairs: [(own: Double, other: Double)]
        do {
            let speed = try OpenSSLSpeed()
            pairs = try (0..<min(rounds, 3)).map { _ in
                let other = try speed.privateOperations(bits: bits, seconds: 1)
                return (try bench.rate(seconds: 0.7), other)
            }
        } catch let error as Diagnosis {
            return Figure(name: name, value: nil, unit: .share, aim: .atLeast(0.9), note: error.reason)
        }
        return .share(name, pairs, aim: .atLeast(0.9)) { "\($0) CKCs/s of \($1) private operations/s by openssl speed" }
    }
}

// MARK: - Playlists, the service, the whole way

extension Bench {
    private func discovery() throws -> [Figure] {
        progress("Reading playlists")
        let bench = try DiscoveryBench()
        let discovery = try median { try bench.discovery(seconds: 0.2) } / 1e6
        let scan = try median { try bench.lineScan(seconds: 0.2) } / 1e6
        return [
            Figure(
                name: "Key discovery", value: discovery, unit: .megabytesPerSecond, aim: .atLeast(1_000),
                note: "\(LargePlaylist.segmentCount) segments"),
            Figure(name: "A bare memchr line scan, to compare", value: scan, unit: .megabytesPerSecond),
        ]
    }

    /// Licenses over HTTP: takes some 10 seconds.
    func licenses() async throws -> [Figure] {
        progress("Serving licenses over HTTP")
        let bench = try KeyServerBench(bits: 2048)
        let service = try LicenseService(bench)
        let load = LicenseLoad(port: service.port, requests: service.requests)
        let figures = try await licenses("over HTTP", load, bench, aim: .atMost(30))
        await service.host.stop(within: .seconds(2))
        return figures
    }

    /// Licenses and RSA alone, in turn.
    /// - Parameters:
    ///   - what: follows “Licenses”.
    ///   - aim: for the time outside RSA, in µs.
    func licenses(
        _ what: String, _ load: LicenseLoad, _ bench: KeyServerBench, aim: Figure.Aim
    ) async throws -> [Figure] {
        let cores = ProcessInfo.processInfo.activeProcessorCount
        let bound = RSABound(bench: bench, threads: cores)
        _ = try await load.run(seconds: 0.3)
        var pairs: [(own: Throughput, other: Throughput)] = []
        for _ in 0..<rounds {
            let other = try await bound.run(seconds: 0.6)
            pairs.append((try await load.run(seconds: 1.2), other))
        }
        return Figure.licenses(what, pairs, cores: cores, aim: aim)
    }

    private func timeToKey() async throws -> [Figure] {
        progress("Getting keys over a round trip of 50 ms")
        let bench = try TimeToKeyBench(
            roundTrip: .milliseconds(50))
        // The first of each opens the connections, which are kept.
        for order in TimeToKeyBench.Order.allCases { _ = try await bench.time(order) }
        var times: [TimeToKeyBench.Order: [Double]] = [:]
        for _ in 0..<rounds {
            for order in TimeToKeyBench.Order.allCases {
                times[order, default: []].append(try await bench.time(order) * 1_000)
            }
        }
        await bench.stop()
        let pairs = { (own: TimeToKeyBench.Order, other: TimeToKeyBench.Order) in
            zip(times[own] ?? [], times[other] ?? []).map { (own: $0, other: $1) }
        }
        let note = { (own: String, other: String) in "\(own) ms of \(other) ms in the order of the samples" }
        let preload = { (own: String, other: String) in
            "\(own) ms of \(other) ms without, each token fetched over a round trip"
        }
        return [
            .share("Time to key, new loader", pairs(.cold, .samples), aim: .atMost(0.5), note: note),
            .share("Time to key, warm loader", pairs(.warm, .samples), aim: .atMost(0.5), note: note),
            .share("Time to key, preloaded", pairs(.preloaded, .fetchedTokens), aim: .atMost(0.6), note: preload),
            .share(
                "Time to key, preloaded into the player", pairs(.preloadedIntoPlayer, .fetchedTokens),
                aim: .atMost(0.35), note: preload),
        ]
    }
}

// MARK: - Keys that are kept alive

extension Bench {
    private func heldKeys() async throws -> [Figure] {
        guard #available(macOS 15, *) else { return [] }
        progress("Keeping 100 keys alive for a day")
        let bench = HeldKeysBench()
        var days: [HeldKeysBench.Day] = []
        for _ in 0..<min(rounds, 3) { days.append(try await bench.live()) }
        let renewals = days.first?.renewals ?? 0
        let cpu = (days.map(\.timePerRenewal).median ?? 0) * Double(renewals)
        let pairs = days.map { (own: $0.timePerRenewal * 1e6, other: $0.timePerRequest * 1e6) }
        return [
            .share("A renewal of one of 100 keys, of a license request alone", pairs) {
                "\($0) µs of \($1) µs; \(renewals) renewals in a day take \(cpu.shown(places: 1)) s of one core"
            },
            Figure(
                name: "A key that is held", value: try await bench.bytesPerKey(), unit: .bytes,
                note: "growth of the process, each key with its request and URI"),
        ]
    }
}

extension Figure {
    /// Licenses relative to RSA alone, by the server's processor time, which other users of the machine do not change, and by
    /// the clock, which also shows idle time. The clock counts only if RSA alone had nearly all of the cores: otherwise the
    /// program with more threads gets more of them, and the share is meaningless.
    /// - Parameters:
    ///   - what: follows “Licenses”.
    ///   - aim: for the time outside RSA, in µs.
    static func licenses(
        _ what: String, _ pairs: [(own: Throughput, other: Throughput)], cores: Int, aim: Aim
    ) -> [Figure] {
        let undisturbed = pairs.filter { $0.other.processTime >= 0.9 * $0.other.seconds * Double(cores) }
        let onProcessor = pairs.map { (own: $0.own.processRate, other: $0.other.processRate) }
        let onClock = undisturbed.map { (own: $0.own.rate, other: $0.other.rate) }
        let name = "Licenses \(what) on the clock, of RSA 2048"
        let beside = pairs.map { $0.own.processTimePerPiece - $0.other.processTimePerPiece }.median ?? 0
        let (whole, rsa) = (pairs.map(\.own.processTimePerPiece).median, pairs.map(\.other.processTimePerPiece).median)
        return [
            Figure(
                name: "Time outside RSA per license \(what), RSA 2048", value: beside * 1e6, unit: .microseconds,
                aim: aim,
                note: "\(((whole ?? 0) * 1e6).shown(places: 0)) µs of the server's processor time, "
                    + "\(((rsa ?? 0) * 1e6).shown(places: 0)) µs of them RSA"),
            .share("Licenses \(what) by processor time, of RSA 2048", onProcessor, aim: .atLeast(0.85)) {
                "\($0) licenses/s of \($1) private operations/s on one core of the server"
            },
            onClock.isEmpty
                ? Figure(name: name, value: nil, unit: .share, aim: .atLeast(0.85), note: "others use the machine")
                : .share(name, onClock, aim: .atLeast(0.85)) {
                    "\($0) licenses/s of \($1) private operations/s on \(cores) cores, the clients among them"
                },
        ]
    }

    /// The median of ratios, with the medians of both sides in the note.
    static func share(
        _ name: String, _ pairs: [(own: Double, other: Double)], aim: Aim? = nil, note: (String, String) -> String
    ) -> Figure {
        let (own, other) = (pairs.map(\.own).median ?? 0, pairs.map(\.other).median ?? 0)
        return Figure(
            name: name, value: pairs.map { $0.own / $0.other }.median, unit: .share, aim: aim,
            note: note(own.shown(places: 0), other.shown(places: 0)))
    }
}
