import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeySimulation
@_spi(Integrations) import LatchkeyTHEOplayer
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import StandInEngine
import StandInPlayers
import THEOplayerSDK
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// How a source's configuration is converted.
@Suite(.timeLimit(.minutes(5))) struct THEOplayerSourceTests {
    /// The source that a factory sees of a configuration.
    private func source(_ configuration: any DRMConfiguration) throws -> THEOplayerSource {
        let seen = Locked<THEOplayerSource?>(nil)
        let factory = THEOplayerKeys(onFailure: unexpected) { source in
            seen.withLock { $0 = source }
            return ContentKeyLoader(
                VendorProfile.vuDRM.unchecked, configuration: LoaderConfiguration(certificateFetch: .withFirstKey))
        }
        _ = factory.build(configuration: configuration)
        return try #require(seen.withLock { $0 })
    }

    @Test func `a configuration gives settings, credentials, header fields and query items`() async throws {
        let source = try source(
            FairPlayDRMConfiguration(
                customIntegrationId: "x", licenseAcquisitionURL: "https://license.example/fps",
                certificateURL: "https://license.example/cer", headers: [["a": "1"], ["b": "2"]],
                licenseType: .persistent,
                integrationParameters: ["token": "secret", "leaseDuration": 600, "flag": true, "list": [1]],
                queryParameters: ["tenant": "t"]))
        #expect(
            source.settings(of: .verimatrix) == [
                "licenseURL": "https://license.example/fps", "certificateURL": "https://license.example/cer",
                "leaseDuration": "600", "flag": "true", "list": "[1]",
            ])
        #expect(source.headers == ["a": "1", "b": "2"])
        #expect(source.query == ["tenant": "t"])
        #expect(source.purpose == .persistable)
    }

    @Test func `encodable parameters are carried as JSON, and none is lost`() throws {
        struct Rights: Codable { let region: String, limit: Int }
        let source = try source(
            FairPlayDRMConfiguration(
                integrationParameters: [
                    "rights": Rights(region: "eu", limit: 2), "nested": ["b": 1, "a": [true]] as [String: Any],
                    "url": try #require(URL(string: "https://a.example/x")), "code": Region.north,
                    "opaque": NSObject(),
                ]))
        #expect(source.parameters["rights"] == #"{"limit":2,"region":"eu"}"#)
        #expect(source.parameters["nested"] == #"{"a":[true],"b":1}"#)
        #expect(source.parameters["url"] == "https://a.example/x")
        #expect(source.parameters["code"] == "north")
        #expect(source.unread == ["opaque"])
    }

    private enum Region: String, Codable { case north }

    @Test func `numbers from Objective-C stay numbers, and Booleans stay Booleans`() throws {
        let source = try source(
            FairPlayDRMConfiguration(
                integrationParameters: [
                    "zero": NSNumber(value: 0), "one": NSNumber(value: 1), "half": NSNumber(value: 0.5),
                    "yes": NSNumber(value: true), "swift": false, "text": NSString(string: "t"),
                ]))
        #expect(
            source.parameters == ["zero": "0", "one": "1", "half": "0.5", "yes": "true", "swift": "false", "text": "t"])
    }

    @Test func `every answer names a required parameter that cannot be written as text`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            THEOplayerKeys(.vuDRM, configuration: stage.configuration, onFailure: failures.add).register(as: "test")
            let player = THEOplayer()
            player.source = stage.source(parameters: ["token": NSObject()])
            player.play()
            do {
                _ = try await player.standIn.finished()
                Issue.record("It played.")
            } catch {
                let cause = try #require((error as? any ContentProtectionError)?.cause as? NSError)
                #expect(cause.localizedDescription.contains("\"token\""))
                #expect(failures.codes.first == "integrationFailed")
            }
        }
    }

    @Test func `a configuration for several systems gives FairPlay's addresses`() throws {
        let source = try source(
            MultiplatformDRMConfiguration(
                customIntegrationId: "x",
                keySystemConfigurations: KeySystemConfigurationCollection(
                    fairplay: KeySystemConfiguration(
                        licenseAcquisitionURL: "https://l.example/fps", certificateURL: "https://c.example/cer",
                        headers: ["a": "1"]),
                    widevine: KeySystemConfiguration(licenseAcquisitionURL: "https://w.example"))))
        #expect(
            source.parameters == ["licenseURL": "https://l.example/fps", "certificateURL": "https://c.example/cer"])
        #expect(source.headers == ["a": "1"])
    }

    @Test func `a stated parameter overrides the configuration's address`() throws {
        let source = try source(
            FairPlayDRMConfiguration(
                licenseAcquisitionURL: "https://one.example",
                integrationParameters: ["licenseURL": "https://two.example"]))
        #expect(source.parameters["licenseURL"] == "https://two.example")
    }

    @Test func `a configuration for several systems gives its parameters`() throws {
        let source = try source(
            MultiplatformDRMConfiguration(
                customIntegrationId: "x", integrationParameters: ["certificateURL": "https://c.example"],
                keySystemConfigurations: KeySystemConfigurationCollection(), queryParameters: ["q": "1"]))
        #expect(source.parameters == ["certificateURL": "https://c.example"])
        #expect(source.query == ["q": "1"])
    }

    @Test func `header fields and query items go only to the configured addresses`() async throws {
        let transport = FakeTransport(get: [.status(200)], post: [])
        var source = THEOplayerSource()
        source.parameters = ["licenseURL": "https://license.example/fps?x=%2F1"]
        source.headers = ["x-app": "1", "Accept": "mine"]
        source.query = ["tenant": "a&b", "x": "2"]
        let furnishing = source.transport(transport)
        var request = URLRequest(url: try #require(URL(string: "https://license.example/fps?x=%2F1")))
        request.setValue("theirs", forHTTPHeaderField: "Accept")
        _ = try? await furnishing.send(request, bodyLimit: 10)
        _ = try? await furnishing.send(
            URLRequest(url: try #require(URL(string: "https://other.example/"))), bodyLimit: 10)
        let sent = transport.requests
        #expect(sent.first?.url?.absoluteString == "https://license.example/fps?x=%2F1&tenant=a%26b")
        #expect(sent.first?.value(forHTTPHeaderField: "x-app") == "1")
        #expect(sent.first?.value(forHTTPHeaderField: "Accept") == "theirs")
        #expect(sent.last?.url?.absoluteString == "https://other.example/")
        #expect(sent.last?.value(forHTTPHeaderField: "x-app") == nil)
    }

    @Test func `a source without a loader gets the reason for every answer`() async throws {
        try await PlayerStage.with { stage in
            let failures = FailureLog()
            let factory = THEOplayerKeys(onFailure: failures.add) { _ in
                _ = try IntegrationRegistry().integration("nobody")
                return stage.loader()
            }
            let app = THEOApp({ _ in factory }, playing: stage.source())
            let error = await app.failure()
            let cause = try #require(error?.cause as? NSError)
            #expect(cause.localizedDescription.contains("nobody"))
            #expect(failures.codes.first == "integrationFailed")
            #expect(stage.log.violations.isEmpty)
        }
    }

    @Test func `a registered integration works like the player's own`() async throws {
        try await PlayerStage.with { stage in
            let registry = IntegrationRegistry()
            let factory = THEOplayerKeys(onFailure: unexpected) { source in
                ContentKeyLoader(
                    try registry.integration("vudrm", settings: source.parameters),
                    credentials: .fixed(CredentialSet(["token": stage.service(for: .vuDRM).issue(nil)])),
                    configuration: stage.configuration, timekeeper: stage.time)
            }
            let app = THEOApp({ _ in factory }, playing: stage.source())
            let played = try await app.play()
            #expect(played.isRight)
        }
    }
}
