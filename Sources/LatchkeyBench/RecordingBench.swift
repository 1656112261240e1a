import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeySupport
@_spi(Integrations) import LatchkeyVendors

/// The cost of `recording: .support` for an app: processor time of a license request, and memory in a loader.
///
/// The vendor is VuDRM, whose request is JSON with the SPC in base64; the SPC has 6 KiB, the CKC 1 KiB, and the service
/// answers immediately.
struct RecordingBench: Sendable {
    /// The number of exchanges that a loader remembers.
    static let remembered = 64

    private let spc = SPCMessage(Data((0..<6_144).map { UInt8(truncatingIfNeeded: $0 &* 167 &+ 13) }))
    private let token = "client|2026-01-02T03:04:05Z|\(Data((0..<60).map { UInt8($0) }).base64EncodedString())"

    /// The processor time of a license request, in seconds, of all threads together, including later redaction of the record.
    func timePerRequest(_ recording: LoaderConfiguration.Recording, requests: Int) async throws -> Double {
        let loader = loader(recording)
        defer { loader.cancel() }
        try await request(10, of: loader)
        let start = Stopwatch.processTime
        try await request(requests, of: loader)
        // Waits for pending redaction, and makes a bundle, whose time is subtracted.
        _ = try? loader.supportBundle()
        let end = Stopwatch.processTime
        _ = try? loader.supportBundle()
        return max(0, (end - start) - (Stopwatch.processTime - end)) / Double(requests)
    }

    /// The processor time of a bundle of a full record, in seconds.
    func timePerBundle() async throws -> Double {
        let loader = loader(.support)
        defer { loader.cancel() }
        try await request(Self.remembered, of: loader)
        _ = try loader.supportBundle()
        let start = Stopwatch.processTime
        _ = try loader.supportBundle()
        return Stopwatch.processTime - start
    }

    /// The memory per exchange of a full record, in bytes: the growth of the process, minus that without records.
    /// - Returns: `nil` if the system does not report it.
    func bytesPerExchange(loaders: Int) async throws -> Double? {
        // One-time allocations of the first loaders are not part of a record.
        _ = try await growth(.support, loaders: 4)
        guard let bare = try await growth(.off, loaders: loaders),
            let whole = try await growth(.support, loaders: loaders)
        else { return nil }
        return Double(whole - bare) / Double(loaders * Self.remembered)
    }

    private func growth(_ recording: LoaderConfiguration.Recording, loaders count: Int) async throws -> Int? {
        guard let start = residentBytes else { return nil }
        var loaders: [ContentKeyLoader] = []
        defer { for loader in loaders { loader.cancel() } }
        for _ in 0..<count {
            let loader = loader(recording)
            try await request(Self.remembered, of: loader)
            _ = try? loader.supportBundle()
            loaders.append(loader)
        }
        return residentBytes.map { $0 - start }
    }

    private func loader(_ recording: LoaderConfiguration.Recording) -> ContentKeyLoader {
        ContentKeyLoader(
            VendorProfile.vuDRM.with([
                "certificateURL": "https://fairplay-license.vudrm.tech/certificate/demo"
            ]).unchecked, credentials: .fixed(.token(token)), configuration: LoaderConfiguration(recording: recording),
            transport: InstantService(ckcBytes: 1_020))
    }

    private func request(_ count: Int, of loader: ContentKeyLoader) async throws {
        for number in 0..<count {
            let key = KeyURI("skd://fairplay-license.vudrm.tech/license/\(number % 4)")
            _ = try await loader.license(for: spc, key: key)
        }
    }
}

extension Bench {
    /// The cost of a record for support.
    func recording() async throws -> [Figure] {
        progress("Recording for support")
        let bench = RecordingBench()
        var pairs: [(own: Double, other: Double)] = []
        for _ in 0..<rounds {
            let bare = try await bench.timePerRequest(.off, requests: isBrief ? 50 : 500)
            let recorded = try await bench.timePerRequest(.support, requests: isBrief ? 50 : 500)
            pairs.append((own: recorded * 1e6, other: bare * 1e6))
        }
        return [
            .share("A license request that is recorded, of one that is not", pairs) {
                "\($0) µs of \($1) µs of processor time, of the client alone"
            },
            Figure(
                name: "An exchange that is remembered",
                value: try await bench.bytesPerExchange(loaders: isBrief ? 4 : 40), unit: .bytes,
                note: "growth of the process; SPC of 6 KiB in JSON, CKC of 1 KiB, and their events; a loader remembers "
                    + "\(RecordingBench.remembered)"),
            Figure(
                name: "A support bundle of a full record", value: try await bench.timePerBundle() * 1e6,
                unit: .microseconds, note: "processor time"),
        ]
    }
}
