import Foundation
import LatchkeyCore
import LatchkeyPlayback

/// The most that a request of the production server may allocate: 3 % more than it did on 2026-11-30, and 5 % more bytes; for a capture, 10 %
/// and 30 % more. CI fails above it; a change that needs more, or less, says so here.
///
/// A frame of a task is an allocation, too: a large value that lives across an `await` shows in the bytes.
struct AllocationBudget: Sendable {
    /// A kind of request, or of other work.
    let name: String
    let allocations: Double
    let bytes: Double

    static let license = Self(name: "A license of the server", allocations: 295, bytes: 61_000)
    static let renewal = Self(name: "A renewal of the server", allocations: 271, bytes: 58_500)
    static let heartbeat = Self(name: "A heartbeat of the server", allocations: 126, bytes: 25_200)
    static let slot = Self(name: "A slot of the server", allocations: 225, bytes: 49_000)
    static let speke = Self(name: "A SPEKE exchange of the server", allocations: 537, bytes: 151_000)
    /// A body that is read again for each profile allocates several times as much.
    static let capture = Self(name: "A KB of a browser's capture", allocations: 290, bytes: 45_000)

    /// The counts, with the budget as the aim. A debug build allocates more, and has no budget.
    func figures(_ count: AllocationCount, of build: String = BenchRun.thisBuild) -> [Figure] {
        let isAimed = build == "release"
        return [
            Figure(
                name: "\(name), allocations", value: count.allocations, unit: .allocations,
                aim: isAimed ? .atMost(allocations) : nil),
            Figure(
                name: "\(name), allocated bytes", value: count.bytes, unit: .bytes,
                aim: isAimed ? .atMost(bytes) : nil, note: "frames of tasks included"),
        ]
    }
}

#if os(Linux)
    import LatchkeyHTTP

    extension Bench {
        var budgetPart: Part { ("Allocations of the server", budgets) }

        /// The allocations of requests of each kind, one by one on one connection.
        private func budgets() async throws -> [Figure] {
            progress("Counting the server's allocations")
            let bench = try keyServer()
            return try await onThread {
                let folder = try WorkingFolder()
                defer { folder.remove() }
                let counter = try AllocationCounter(in: folder.url)
                let server = try LicenseServerBench(bench, policy: LicenseServerBench.heartbeats, counter: counter)
                defer { server.stop() }
                return try server.budgets(counter)
            }
        }
    }

    extension LicenseServerBench {
        fileprivate func budgets(_ counter: AllocationCounter) throws -> [Figure] {
            let players = RequestLoop(host: "127.0.0.1", port: Int(port), connections: 1)
            let packager = RequestLoop(host: "127.0.0.1", port: Int(packagers), connections: 1)
            func count(_ requests: [[UInt8]], of loop: RequestLoop) throws -> AllocationCount {
                let start = try counter.count()
                for request in requests { _ = try loop.reply(to: request) }
                return (try counter.count() - start).divided(by: requests.count)
            }
            // The least of some rounds, each with its own viewers: the server's occasional other work does not count as a request's. The
            // first round fills pools, and does not count.
            var rounds: [[AllocationCount]] = []
            for round in 0..<4 {
                let viewers = requests.count * round * 2
                let licenses = try requests(ofViewersFrom: viewers)
                let slots = try requests.indices.map { try slot(ofViewer: viewers + requests.count + $0) }
                let license = try count(licenses, of: players)
                let renewal = try count(licenses, of: players)
                let heartbeats = try Self.heartbeatRequests(port, licenses)
                rounds.append([
                    license, renewal, try count(heartbeats, of: players), try count(slots, of: players),
                    try count(requests.indices.map { _ in Self.speke }, of: packager),
                ])
            }
            let kinds: [AllocationBudget] = [.license, .renewal, .heartbeat, .slot, .speke]
            return kinds.enumerated().flatMap { index, kind in
                let counts = rounds.dropFirst().map { $0[index] }
                return kind.figures(
                    AllocationCount(
                        allocations: counts.map(\.allocations).min() ?? 0, bytes: counts.map(\.bytes).min() ?? 0))
            }
        }

        private func slot(ofViewer number: Int) throws -> [UInt8] {
            let body = Data(#"{"drm": "widevine", "asset": "bench", "session": "tv"}"#.utf8)
            return Self.request("slots", try token(ofViewer: number), number: number, body: body)
        }

        /// A packager requests the key of one track.
        private static let speke: [UInt8] = {
            let kid = "5a5a5a5a-0000-4000-8000-000000000001"
            let body = """
                <?xml version="1.0"?><cpix:CPIX contentId="bench" version="2.3" xmlns:cpix="urn:dashif:org:cpix"
                 xmlns:pskc="urn:ietf:params:xml:ns:keyprov:pskc"><cpix:ContentKeyList>
                <cpix:ContentKey kid="\(kid)" commonEncryptionScheme="cbcs"/></cpix:ContentKeyList><cpix:DRMSystemList>
                <cpix:DRMSystem kid="\(kid)" systemId="94ce86fb-07ff-4f43-adb8-93d2fa968ca2">
                <cpix:HLSSignalingData playlist="media"/></cpix:DRMSystem></cpix:DRMSystemList><cpix:ContentKeyUsageRuleList>
                <cpix:ContentKeyUsageRule kid="\(kid)" intendedTrackType="VIDEO"><cpix:VideoFilter/></cpix:ContentKeyUsageRule>
                </cpix:ContentKeyUsageRuleList></cpix:CPIX>
                """
            let headers: HTTPHeaders = [
                "X-API-Key": packagerKey, "X-Speke-Version": "2.0", .contentType: "application/xml",
            ]
            return HTTPRequest(method: .post, target: "/t/bench/speke", headers: headers, body: Data(body.utf8))
                .bytes(to: "127.0.0.1")
        }()
    }
#endif
