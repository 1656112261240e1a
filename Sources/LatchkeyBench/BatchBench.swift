import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyLicensees

/// The cost of RSA if Intel's crypto_mb does eight operations in parallel.
struct BatchBench: Sendable {
    /// The library's folder, from `LATCHKEY_CRYPTO_MB` or `make engines`.
    static var folder: String {
        ProcessInfo.processInfo.environment["LATCHKEY_CRYPTO_MB"] ?? URL(filePath: ".build/crypto-mb").path
    }

    let batch: RSABatch
    private let operations: [RSABatch.Operation]
    private let bench: KeyServerBench

    /// - Throws: `LicenseeError` if the library is missing or does not run.
    init(_ bench: KeyServerBench) throws {
        let library = try CryptoMBLibrary(path: Self.folder)
        batch = RSABatch(library.function, check: library.check)
        self.bench = bench
        operations = try bench.spcs.compactMap { spc in
            guard let key = bench.credentials.credential.key as? RSAPrivateKey else { return nil }
            let container = try bench.module.locate(spc).container
            return RSABatch.Operation(key: key, text: container.bytes[container.wrappedKeyRange])
        }
    }

    /// Operations per second of one thread's processor time: eight in parallel, with results checked and padding removed; and one by one.
    func rates(seconds: Double) throws -> (own: Double, other: Double) {
        let one = try 1 / Stopwatch.threadTime(perPieceFor: seconds) { try bench.unwrap($0) }
        let calls = operations.count / RSABatch.lanes
        let eight =
            1
            / Stopwatch.threadTime(perPieceFor: seconds) { number in
                let start = number % calls * RSABatch.lanes
                _ = batch.decryptOAEP(Array(operations[start..<start + RSABatch.lanes]))
            }
        return (eight * Double(RSABatch.lanes), one)
    }
}

extension Bench {
    /// RSA alone, eight operations in parallel, relative to one at a time.
    func together(bits: Int) throws -> Figure {
        let name = "RSA \(bits) in batches of eight on one core, of one at a time"
        do {
            let bench = try BatchBench(KeyServerBench(bits: bits))
            let pairs = try (0..<rounds).map { _ in try bench.rates(seconds: 0.2) }
            return .share(name, pairs, aim: .atLeast(2)) { "\($0) by crypto_mb of \($1) by OpenSSL a second" }
        } catch let error as LicenseeError {
            return Figure(name: name, value: nil, unit: .share, note: error.reason)
        }
    }
}

#if os(Linux)
    extension Bench {
        /// Licenses of a server with crypto_mb, and of one without, in turn: takes some 20 seconds.
        func licensesTogether(_ bench: KeyServerBench) async throws -> [Figure] {
            let name = "Licenses of the server, in batches of eight"
            do { _ = try BatchBench(bench) } catch let error as LicenseeError {
                return [Figure(name: name, value: nil, unit: .share, note: error.reason)]
            }
            progress("Serving licenses in batches of eight, and one by one")
            let policy = LicenseServerBench.policy
            let together = try LicenseServerBench(bench, policy: policy, cryptoMB: BatchBench.folder)
            defer { together.stop() }
            let alone = try LicenseServerBench(bench, policy: policy)
            defer { alone.stop() }
            let cores = ProcessInfo.processInfo.activeProcessorCount
            let bound = RSABound(bench: bench, threads: cores)
            var loads = [together.load, alone.load]
            for index in loads.indices { loads[index].connections = 16 * cores }
            for load in loads { _ = try await load.run(seconds: 0.3) }
            var rounds: [(bound: Throughput, together: Throughput, alone: Throughput)] = []
            for _ in 0..<self.rounds {
                rounds.append(
                    (
                        try await bound.run(seconds: 0.6), try await loads[0].run(seconds: 1.2),
                        try await loads[1].run(seconds: 1.2)
                    ))
            }
            return try [1_024, 2_048].map { try self.together(bits: $0) }
                + Figure.together(name, rounds, cores: cores, perCall: try together.operationsPerCall() ?? 1)
        }
    }
#endif

extension Figure {
    fileprivate static func together(
        _ name: String, _ rounds: [(bound: Throughput, together: Throughput, alone: Throughput)], cores: Int,
        perCall: Double
    ) -> [Figure] {
        let times = rounds.compactMap { round in
            round.together.p99.flatMap { own in round.alone.p99.map { (own: own * 1e6, other: $0 * 1e6) } }
        }
        return [
            .share(
                "\(name), by processor time, of RSA 2048 one at a time",
                rounds.map { ($0.together.processRate, $0.bound.processRate) }, aim: .atLeast(1.5)
            ) {
                "\($0) licenses/s of \($1) private operations/s of OpenSSL on one core of the server, \(perCall.shown(places: 1)) licenses a call"
            },
            .share(
                "\(name), on the clock, of RSA 2048 one at a time",
                rounds.map { ($0.together.rate, $0.bound.rate) }, aim: .atLeast(1.5)
            ) { "\($0) licenses/s of \($1) private operations/s of OpenSSL on \(cores) cores, the clients among them" },
            .share("\(name), on the clock, of one by one", rounds.map { ($0.together.rate, $0.alone.rate) }) {
                "\($0) licenses/s of \($1) licenses/s without crypto_mb"
            },
            .share("\(name), p99 of one by one", times, aim: .atMost(1)) { "\($0) µs of \($1) µs without crypto_mb" },
        ]
    }
}
