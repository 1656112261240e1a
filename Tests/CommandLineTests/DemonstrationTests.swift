import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
import LatchkeyTesting
import LatchkeyVendors
import Testing

@testable import LatchkeyCommandLine

@Suite(.timeLimit(.minutes(5))) struct DemonstrationTests {
    private let folder: TemporaryFolder
    private let demonstration: Demonstration

    init() throws {
        folder = try TemporaryFolder()
        demonstration = try Demonstration(on: DemoStage(output: folder.url))
    }

    @Test func `the demo has one row for each service, under the profile's name if there is one`() async {
        let services = demonstration.bench.host.services.map { "\($0.identifier)" }
        let rows = demonstration.profiles.map(\.identifier)
        #expect(Set(rows).count == services.count)
        for service in services {
            #expect(rows.contains(service) || rows.contains { $0.hasPrefix("\(service)-") }, "\(service)")
        }
        #expect(rows.contains("vudrm") && !rows.contains("vudrm-raw"))
        await demonstration.bench.host.stop(within: .seconds(1))
    }

    @Test func `every profile has a service to play against`() async {
        for profile in VendorProfile.all {
            #expect(demonstration.bench.service(forProfile: profile.identifier) != nil, "\(profile.identifier)")
        }
        await demonstration.bench.host.stop(within: .seconds(1))
    }

    @Test func `the documented profile plays against the generic service`() async throws {
        let article = URL(filePath: #filePath).deletingLastPathComponent()
            .appending(path: "../../Sources/LatchkeyVendors/LatchkeyVendors.docc/DescribeAVendorInJSON.md")
        let text = try String(contentsOf: article, encoding: .utf8)
        let start = try #require(text.range(of: "```json\n")?.upperBound)
        let end = try #require(text[start...].range(of: "\n```")?.lowerBound)
        var profile = try VendorProfile(json: Data(text[start..<end].utf8))
        // The name leads to the service.
        profile.identifier = "generic-acme"
        let row = await demonstration.play(profile, .twoKeys)
        #expect(row.isRight, "\(row.text(nameWidth: 0))")
        #expect(row.text(nameWidth: 10).hasPrefix("Acme Keys   two-keys  key in "))
        await demonstration.bench.host.stop(within: .seconds(1))
    }
}
