import Foundation
import Latchkey
import LatchkeyCore
import LatchkeyTesting
import LatchkeyVendors
import Testing

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// Remedies in the catalogue of errors are carried out, through an app's API, and help. For the other kinds a test makes the error, but its
/// remedy is not carried out yet: `Case.madeElsewhere`.
@Suite(.timeLimit(.minutes(1))) struct RemedyTests {
    @Test(arguments: Case.all)
    fileprivate func `an error's remedy makes the key come`(_ one: Case) async throws {
        var app = App()
        one.breaks(&app)
        let broken = try app.loader()
        let error = await app.ask(broken).error
        #expect(error?.userInfo["LatchkeyCode"] as? String == one.code, "\(error?.localizedDescription ?? "it played")")
        #expect(error?.localizedRecoverySuggestion?.isEmpty == false)
        guard let mends = one.mends else {
            // The remedy is to ask again.
            #expect(await app.ask(broken).ckc == SampleBytes.ckc())
            return
        }
        mends(&app)
        #expect(await app.ask(try app.loader()).ckc == SampleBytes.ckc())
    }

    @Test
    func `every kind of key request error has its remedy done here, or is made by a test named here`()
        throws
    {
        let page = try String(contentsOf: Self.root.appending(path: "Documentation/Errors.md"), encoding: .utf8)
        let rows = page.split(separator: "\n").filter { $0.hasPrefix("| ") }.map { $0.split(separator: "|") }
        let codes = rows.compactMap { row -> String? in
            guard row.count > 3, let number = Int(row[0].trimmingCharacters(in: .whitespaces)), number < 1_000 else {
                return nil
            }
            return row[1].split(separator: "`").dropFirst().first.map(String.init)
        }
        #expect(codes.count > 60)
        for code in codes where !Case.all.contains(where: { $0.code == code }) && !Case.beyondTheApp.contains(code) {
            let test = try #require(Case.madeElsewhere[code], "no test makes \(code)")
            let text = try String(contentsOf: Self.root.appending(path: "Tests/\(test).swift"), encoding: .utf8)
            #expect(text.contains(code), "\(test) names \(code)")
        }
        #expect(Set(Case.madeElsewhere.keys).union(Case.beyondTheApp).isSubset(of: codes))
    }

    private static let root = URL(filePath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()
}

/// An app, its vendor's service, and the player's SPC.
private struct App: Sendable {
    typealias Service = @Sendable (_ request: URLRequest, _ number: Int) -> FakeTransport.Step

    var profile = VendorProfile.vuDRM
    var settings = ["certificateURL": "https://vendor.test/certificate"]
    var key = "skd://vendor.test/license/movie-1"
    var token: @Sendable () throws -> CredentialSet = { CredentialSet(["token": Secret("good")]) }
    var configuration = LoaderConfiguration(
        retry: RetryPolicy(maximumAttempts: 1), hosts: HostPolicy(allowed: ["vendor.test"]),
        certificateFetch: .withFirstKey)
    var service: Service = Self.serving

    static let serving: Service = { request, _ in
        .ok(request.httpMethod == "POST" ? SampleBytes.ckc() : SampleBytes.certificate)
    }

    func loader() throws -> CompletionKeyLoader {
        CompletionKeyLoader(
            ContentKeyLoader(
                try profile.configured(settings), credentials: Credentials { [token] _ in try token() },
                configuration: configuration, transport: FakeTransport { [service] in service($0, $1) },
                timekeeper: ManualTimekeeper()), queue: DispatchQueue(label: "app"))
    }

    func ask(_ loader: CompletionKeyLoader) async -> (ckc: Data?, error: NSError?) {
        await withCheckedContinuation { continuation in
            loader.answer(keyURI: key) { certificate, _, done in
                // A player refuses a certificate that is not the service's.
                let isRight = certificate == SampleBytes.certificate
                done(isRight ? SampleBytes.spc : nil, isRight ? nil : NSError(domain: "Player", code: 1))
            } completion: { ckc, error in
                continuation.resume(returning: (ckc, error))
            }
        }
    }
}

private struct Case: Sendable, CustomTestStringConvertible {
    let code: String
    let breaks: @Sendable (inout App) -> Void
    /// `nil`: the remedy is to ask again.
    let mends: (@Sendable (inout App) -> Void)?

    var testDescription: String { code }

    init(
        _ code: String, _ breaks: @escaping @Sendable (inout App) -> Void,
        mendedBy mends: (@Sendable (inout App) -> Void)? = nil
    ) {
        (self.code, self.breaks, self.mends) = (code, breaks, mends)
    }

    /// The service fails until it is served right.
    private static func service(_ code: String, _ step: @escaping App.Service) -> Case {
        Case(code, { $0.service = step }, mendedBy: { $0.service = App.serving })
    }

    /// The license fails once.
    private static func once(_ code: String, _ step: FakeTransport.Step) -> Case {
        let isFirst = Locked(true)
        return Case(
            code,
            {
                isFirst.withLock { $0 = true }
                $0.service = { request, number in
                    guard request.httpMethod == "POST" else { return App.serving(request, number) }
                    return isFirst.withLock { isFirst in
                        defer { isFirst = false }
                        return isFirst ? step : .ok(SampleBytes.ckc())
                    }
                }
            })
    }

    static let all: [Case] =
        [
            Case(
                "hostRefused", { $0.key = "skd://other.test/license/movie-1" },
                mendedBy: { $0.configuration.hosts = HostPolicy(allowed: ["vendor.test", "other.test"]) }),
            Case(
                "insecureURL", { $0.settings["certificateURL"] = "http://vendor.test/certificate" },
                mendedBy: { $0.settings["certificateURL"] = "https://vendor.test/certificate" }),
            Case(
                "redirectRefused",
                {
                    // One redirect too many.
                    $0.configuration.hosts = HostPolicy(allowed: ["vendor.test", "moved.test"])
                    $0.configuration.redirectLimit = 0
                    $0.service = { request, number in
                        request.url?.host == "vendor.test" && request.httpMethod != "POST"
                            ? .status(302, [("Location", "https://moved.test/certificate")])
                            : App.serving(request, number)
                    }
                },
                mendedBy: { $0.settings["certificateURL"] = "https://moved.test/certificate" }),
            service("spcFailed") { request, number in
                request.httpMethod == "POST" ? App.serving(request, number) : .ok(SampleBytes.certificate + [0])
            },
            Case(
                "credentialsFailed", { $0.token = { throw CocoaError(.userCancelled) } },
                mendedBy: { $0.token = { CredentialSet(["token": Secret("good")]) } }),
            Case(
                "missingCredential", { $0.token = { CredentialSet([:]) } },
                mendedBy: { $0.token = { CredentialSet(["token": Secret("good")]) } }),
            Case(
                "contentIdentifierMissing",
                { app in
                    (app.profile, app.key) = (.vuDRMTheo, "skd://vendor.test/license/")
                },
                mendedBy: { app in
                    (app.profile, app.settings["licenseURL"]) = (.vuDRM, "https://vendor.test/license")
                }),
            service("certificateMalformed") { request, number in
                request.httpMethod == "POST" ? App.serving(request, number) : .ok(Data("<html>".utf8))
            },
            Case(
                "licenseMalformed",
                {
                    $0.service = { request, number in
                        request.httpMethod == "POST"
                            ? .ok(Data(#"{"ckc":"\#(SampleBytes.ckc().base64EncodedString())"}"#.utf8))
                            : App.serving(request, number)
                    }
                },
                mendedBy: {
                    $0.profile = .latchkey
                    $0.settings["licenseURL"] = "https://vendor.test/license"
                }),
            Case(
                "unauthenticated",
                { app in
                    app.token = { CredentialSet(["token": Secret("old")]) }
                    app.service = { request, number in
                        let body = String(decoding: request.httpBody ?? Data(), as: UTF8.self)
                        return body.contains("old") ? .status(401) : App.serving(request, number)
                    }
                }, mendedBy: { $0.token = { CredentialSet(["token": Secret("good")]) } }),
            Case(
                "notFound",
                { app in
                    app.settings["certificateURL"] = "https://vendor.test/nowhere"
                    app.service = { request, number in
                        request.url?.path == "/nowhere" ? .status(404) : App.serving(request, number)
                    }
                }, mendedBy: { $0.settings["certificateURL"] = "https://vendor.test/certificate" }),
            once("rateLimited", .status(429)), once("serverTransient", .status(503)),
            Case(
                "bodyTooLarge", { $0.configuration.bodyLimit = 100 }, mendedBy: { $0.configuration.bodyLimit = 1 << 20 }
            ),
        ]
        + [
            Diagnosis.Kind.timedOut, .hostNotFound, .cannotConnect, .connectionLost, .tlsFailed, .transportFailed,
            .serverCertificateUntrusted, .serverCertificateExpired, .serverNameMismatch, .serverWithoutTLS,
            .replyMalformed,
            .headTooLarge, .offline,
        ].map { kind in
            once(kind.rawValue, .failure(TransportError(kind, "The network failed.")))
        }

    /// The tests that make the other errors.
    static let madeElsewhere = [
        "cancelled": "ClientTests/AnswerTests", "certificateMissing": "ClientTests/CertificateCacheTests",
        "concurrencyLimit": "ClientTests/SessionFailureTests", "deadlineExceeded": "ClientTests/DeadlineTests",
        "dropped": "ClientTests/AnswerTests", "forbidden": "ClientTests/DiagnoseARefusalTests",
        "integrationFailed": "ClientTests/KeyExchangeTests", "invalidRequest": "ClientTests/KeyExchangeTests",
        "invalidURL": "VendorsTests/RequestRuleTests", "keyIndexDamaged": "ClientTests/Offline/OfflineIndexTests",
        "keyIndexTooNew": "ClientTests/Offline/OfflineIndexTests",
        "keyStoreMissing": "ClientTests/ContentKeyErrorBridgingTests",
        "keyStoreUnreadable": "ClientTests/Offline/OfflineChangesTests",
        "keyStoreUnwritable": "ClientTests/Offline/OfflineChangesTests",
        "keyUnnamed": "PlayersTests/AVFoundation/SessionOptionTests",
        "leaseEnded": "PlayersTests/AVFoundation/LiveDayTests", "lookupMalformed": "EndToEndTests/FaultCase",
        "notYetValid": "ClientTests/TokenAdviceTests",
        "offlineAssetWithoutKeys": "ClientTests/Offline/OfflineKeysTests",
        "offlineKeyNotRequested": "ClientTests/Offline/OfflineKeysTests",
        "persistableKeyFailed": "PlayersTests/AVFoundation/OfflineSessionTests",
        "playerDidNotRenew": "ClientTests/Lifecycle/LeaseTests", "playlistUnreadable": "ClientTests/StreamKeysTests",
        "redirected": "ClientTests/RedirectTests", "regionDenied": "EndToEndTests/RefusalCase",
        "requestMalformed": "ClientTests/CurlTransportTests", "serverPermanent": "ClientTests/KeyExchangeTests",
        "sessionEnded": "ClientTests/SessionTests", "sessionMalformed": "EndToEndTests/FaultCase",
        "sessionNotRenewed": "ClientTests/SessionFailureTests",
        "storedKeyRenewalUnsupported": "ClientTests/Offline/OfflineWindowTests",
        "storedKeyTooLarge": "ClientTests/Offline/OfflineKeysTests",
        "threadMustNotWait": "PlayersTests/OpenTV/OpenTVKeysTests",
        "tooManyOfflineAssets": "ClientTests/Offline/OfflineKeysTests",
        "tooManyOfflineKeys": "ClientTests/Offline/OfflineKeysTests",
        "unfitForPlayer": "PlayersTests/JWPlayer/JWPlayer3KeysTests",
        "unknownIntegration": "VendorsTests/Tokens/VuDRMAndJWTTests",
    ]
    /// Errors that no call of the app repairs: a device, a system, another player, or a setting without which a profile is refused.
    static let beyondTheApp: Set = ["downloadFailed", "keyNotStorable", "missingSetting", "playerUnsupported"]
}
