import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyDevice
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

@Suite(.timeLimit(.minutes(5))) struct ServiceTransportTests {
    private let time = ManualTimekeeper()

    @Test(arguments: StreamTests.emulated)
    func `a stream's keys arrive without a socket just as with one`(_ name: String) async throws {
        let profile = try #require(VendorProfile.named(name))
        let simulated = try SimulatedServices(timekeeper: time)
        let loader = try simulated.loader(profile)
        let service = try simulated.service(for: profile)
        let report = try await simulated.player(loader)
            .keys(of: "https://services.test/media/\(service.identifier)/two-keys/master.m3u8")
        let expected = try LiveServices.demoKeys()
        #expect(report.failure == nil)
        #expect(report.keys.count == 2)
        for key in report.keys {
            let content = try key.outcome.get().contentKey
            #expect(expected.keys.contains { $0.content == content })
        }
    }

    @Test func `media come whole and in parts`() async throws {
        let transport = try SimulatedServices(timekeeper: time).transport
        let path = try #require(
            FileManager.default.subpathsOfDirectory(atPath: DemoAsset.folder.path).first { $0.hasSuffix(".ts") })
        let file = try Data(contentsOf: DemoAsset.folder.appending(path: path))
        var request = try request("https://services.test/media/\(path)")
        #expect(try await transport.send(request, bodyLimit: file.count).body == file)
        request.setValue("bytes=10-19", forHTTPHeaderField: "Range")
        let part = try await transport.send(request, bodyLimit: file.count)
        #expect(part.status == 206)
        #expect(part.body == file[10..<20])
        #expect(part.url == request.url)
        request.httpMethod = "HEAD"
        #expect(try await transport.send(request, bodyLimit: file.count).body.isEmpty)
    }

    @Test(
        arguments: [
            ("https://other.test/vudrm/certificate/demo-client", Diagnosis.Kind.hostNotFound, 1_000_000),
            ("https://services.test/vudrm/certificate/demo-client", .bodyTooLarge, 10),
            ("https://services.test/media/ts/master.m3u8", .bodyTooLarge, 10),
        ])
    func `network errors are simulated`(_ url: String, _ kind: Diagnosis.Kind, _ limit: Int) async throws {
        let transport = try SimulatedServices(timekeeper: time).transport
        #expect(await failure(of: transport, url, limit) == kind)
    }

    @Test func `a connection that a service resets is lost`() async throws {
        let simulated = try SimulatedServices(timekeeper: time)
        try simulated.service(for: .vuDRM).faults.set(.connectionReset, at: .certificate)
        #expect(await failure(of: simulated.transport) == .connectionLost)
    }

    @Test func `the seed decides which requests are lost, half after the service`() async throws {
        func lost(seed: UInt64) async throws -> (lost: [Int], seen: Int) {
            let faults = NetworkFaults(lossRate: 0.05, seed: seed)
            let transport = try SimulatedServices(timekeeper: time, faults: faults).transport
            var lost: [Int] = []
            for number in 0..<2_000 {
                if await failure(of: transport) != nil { lost.append(number) }
            }
            return (lost, transport.journal.count)
        }
        let (first, again, other) = try await (lost(seed: 1), lost(seed: 1), lost(seed: 2))
        #expect(first.lost == again.lost)
        #expect(first.lost != other.lost)
        // 5 % of 2,000, within four standard deviations.
        #expect((61...139).contains(first.lost.count))
        let unseen = 2_000 - first.seen
        #expect((20...80).contains(unseen))
        #expect(unseen < first.lost.count)
    }

    @Test func `an outage includes its start and excludes its end`() async throws {
        let faults = NetworkFaults(outages: [.seconds(10)..<(.seconds(20)), .seconds(30)..<(.seconds(31))])
        let transport = try SimulatedServices(timekeeper: time, faults: faults).transport
        var failures: [Diagnosis.Kind?] = []
        for seconds in [9, 1, 9, 1, 10, 1] {
            time.advance(by: .seconds(seconds))
            failures.append(await failure(of: transport))
        }
        #expect(failures == [nil, .cannotConnect, .cannotConnect, nil, .cannotConnect, nil])
        #expect(transport.journal.count == 3)
    }

    @Test func `a delay uses the clock's time`() async throws {
        let transport = try SimulatedServices(timekeeper: time, faults: NetworkFaults(delay: .milliseconds(50)))
            .transport
        async let outcome = failure(of: transport)
        await time.untilSomeoneSleeps(for: .milliseconds(50))
        #expect(transport.journal.isEmpty)
        time.advance(by: .milliseconds(50))
        #expect(await outcome == nil)
    }

    @Test func `time is held while a service works, but not while a request is in transit`() async throws {
        let holds = Locked((open: 0, all: 0))
        let faults = NetworkFaults(lossRate: 0.2, delay: .milliseconds(1))
        let simulated = try SimulatedServices(timekeeper: time, faults: faults) {
            holds.withLock { holds in holds = (holds.open + 1, holds.all + 1) }
            return { holds.withLock { $0.open -= 1 } }
        }
        for _ in 0..<50 {
            async let outcome = failure(of: simulated.transport)
            await time.untilSomeoneSleeps()
            #expect(holds.withLock { $0.open } == 0)
            time.advance(by: .milliseconds(1))
            _ = await outcome
        }
        #expect(holds.withLock { $0.open } == 0)
        #expect(holds.withLock { $0.all } == simulated.transport.journal.count)
    }

    @Test func `cancelling ends a request`() async throws {
        let transport = try SimulatedServices(timekeeper: time, faults: NetworkFaults(delay: .seconds(1))).transport
        let request = try request("https://services.test/vudrm/certificate/demo-client")
        let task = Task { try await transport.send(request, bodyLimit: 1_000_000).status }
        await time.untilSomeoneSleeps()
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
    }

    private func failure(
        of transport: ServiceTransport, _ url: String = "https://services.test/vudrm/certificate/demo-client",
        _ limit: Int = 1_000_000
    ) async -> Diagnosis.Kind? {
        do {
            _ = try await transport.send(try request(url), bodyLimit: limit)
            return nil
        } catch {
            return (error as? TransportError)?.kind
        }
    }

    private func request(_ url: String) throws -> URLRequest { URLRequest(url: try #require(URL(string: url))) }
}
