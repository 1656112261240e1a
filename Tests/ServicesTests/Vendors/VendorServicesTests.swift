import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyTesting
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The invariants of every vendor's service, on the one host that `latchkey serve` runs.
@Suite(.timeLimit(.minutes(5))) struct VendorServicesTests {
    private static let names =
        [
            "vudrm", "cloud-drm", "azure", "uplynk", "ezdrm", "verimatrix", "titanium", "expressplay", "nagra",
            "axinom",
            "keyos", "drmtoday", "bunny-stream", "sigma", "latchkey",
        ] as [ServiceIdentifier]

    @Test(arguments: names)
    func `the certificate is at the stated address`(_ name: ServiceIdentifier) async throws {
        try await with(name) { service, base in
            let url = try #require(service.parameters(at: base)["certificateURL"])
            let (data, response) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            #expect((response as? HTTPURLResponse)?.statusCode == 200)
            #expect(data == Stage.certificate)
        }
    }

    @Test(arguments: names)
    func `a path belongs to one vendor`(_ name: ServiceIdentifier) async throws {
        try await with(name) { service, base in
            for address in service.parameters(at: base).filter({ $0.key.hasSuffix("URL") }).values {
                let atRoot = try #require(URL(string: address.replacing("/\(name)/", with: "/")))
                let (data, _) = try await URLSession.shared.data(from: atRoot)
                #expect(!String(decoding: data, as: UTF8.self).contains("Several vendors"))
            }
        }
    }

    @Test(arguments: names)
    func `any input gets an error that repeats no secret`(
        _ name: ServiceIdentifier
    ) async throws {
        try await with(name) { service, base in
            let key = try #require(service.environment.authority.keys.keys.first)
            let host = base.dropFirst("http://".count).prefix { $0 != "/" }
            let address =
                service.parameters(at: base)["licenseURL"]
                ?? KeyURI(service.keyURI(for: key, at: String(host))).replacingScheme(with: "http")
            var generator = SeededGenerator(seed: 11)
            for type in ["application/json", "application/octet-stream", "application/x-www-form-urlencoded", "text/x"]
            {
                for body in [Data(), Data(generator.bytes(300)), Data("secret-in-the-body".utf8)] {
                    var request = URLRequest(url: try #require(URL(string: address)))
                    request.httpMethod = "POST"
                    request.httpBody = body
                    request.setValue(type, forHTTPHeaderField: "Content-Type")
                    let (data, response) = try await URLSession.shared.data(for: request)
                    let status = (response as? HTTPURLResponse)?.statusCode ?? 0
                    #expect((400..<500).contains(status))
                    #expect(!String(decoding: data, as: UTF8.self).contains("secret-in-the-body"))
                }
            }
        }
    }

    @Test(arguments: names)
    func `the fault switch truncates each certificate`(_ name: ServiceIdentifier) async throws {
        try await with(name) { service, base in
            service.faults.set(.truncatedPayload, at: .certificate)
            let url = try #require(service.parameters(at: base)["certificateURL"])
            let (data, _) = try await URLSession.shared.data(from: try #require(URL(string: url)))
            #expect(data.count == Stage.certificate.count / 2)
        }
    }

    private func with(
        _ name: ServiceIdentifier, _ body: (any VendorService, String) async throws -> Void
    ) async throws {
        let services = VendorServices.all(authority: try Stage.authority(), time: ManualTimekeeper())
        let host = ServiceHost(services)
        let port = try host.start()
        let service = try #require(services.first { $0.identifier == name })
        do {
            try await body(service, "http://127.0.0.1:\(port)/\(name)")
        } catch {
            await host.stop(within: .zero)
            throw error
        }
        await host.stop(within: .zero)
    }
}
