import Foundation
import LatchkeyCore
import LatchkeyTesting
import Testing

@testable import Latchkey
@testable import LatchkeyCommandLine
@testable import LatchkeyTerminal
@_spi(Integrations) @testable import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The app's error, `explain`, `wire response` and `doctor` agree about a vendor's code.
@Suite(.timeLimit(.minutes(5))) struct RefusalExplanationTests {
    /// A code at a stage of a profile, in a reply that the profile's own rules read.
    private struct Refusal: CustomStringConvertible {
        let profile: VendorProfile
        let stage: VendorProfile.RefusalStage
        let code: String
        let documented: DocumentedCode
        let reply: HTTPReply

        init?(_ profile: VendorProfile, _ stage: VendorProfile.RefusalStage, _ code: String, _ found: DocumentedCode) {
            guard let rules = profile.errors(at: stage) else { return nil }
            (self.profile, self.stage, self.code, documented) = (profile, stage, code, found)
            let isStatus = rules.code.isEmpty
            let status = found.status ?? (isStatus ? Int(code) ?? 0 : rules.refusesWithSuccess ? 200 : 403)
            var headers: [(name: String, value: String)] = []
            var body = ""
            switch rules.code.first {
            case .header(let name): headers.append((name, code))
            case .json(let path):
                body = path.split(separator: ".").reversed().reduce("\"\(code)\"") { inner, name in
                    Int(name) == nil ? "{\"\(name)\":\(inner)}" : "[\(inner)]"
                }
            case .word, .knownCode: body = "Refused: \(code) it is."
            case .text, nil: break
            }
            reply = HTTPReply(status: status, headers: headers, body: Data(body.utf8))
        }

        var description: String { "\(profile.identifier) \(stage) \(code)" }

        /// The app's error.
        var error: ContentKeyError? {
            let exchange = HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply)
            let vendor = profile.unchecked
            do {
                switch stage {
                case .session: _ = try vendor.session(from: exchange, .setup)
                case .lookup:
                    _ = try vendor.lookup(from: exchange, LookupContext(keyURI: "skd://k", messageID: "M") { .none })
                case .license:
                    _ = try vendor.license(
                        from: exchange, LicenseContext(keyURI: "skd://k", contentIdentifier: ContentIdentifier("k")))
                }
                return nil
            } catch let error as IntegrationError { return ContentKeyError(error, stage: .license) } catch {
                return nil
            }
        }
    }

    /// The profiles with codes, except variants with the same codes.
    static let profiles = VendorProfile.all.filter { profile in
        let rules = VendorProfile.RefusalStage.allCases.compactMap { profile.errors(at: $0)?.codes }
        let first = VendorProfile.all.first { other in
            VendorProfile.RefusalStage.allCases.compactMap { other.errors(at: $0)?.codes } == rules
        }
        return rules.contains { !$0.isEmpty } && first?.identifier == profile.identifier
    }

    private static func refusals(_ profile: VendorProfile) -> [Refusal] {
        VendorProfile.RefusalStage.allCases.flatMap { stage in
            (profile.errors(at: stage)?.codes ?? [:]).sorted { $0.key < $1.key }
                .compactMap { Refusal(profile, stage, $0.key, $0.value) }
        }
    }

    private func json(_ run: RecordedRun) -> Any? { try? JSONSerialization.jsonObject(with: Data(run.output.utf8)) }

    @Test(arguments: profiles) func `explain agrees with the app's error on each code`(_ profile: VendorProfile)
        async throws
    {
        for refusal in Self.refusals(profile) {
            let error = try #require(refusal.error, "\(refusal)")
            let found = RefusalExplanation.all(of: "\(profile.identifier) \(refusal.code)")
            let one = try #require(
                found.first { $0.stage == refusal.stage } ?? found.first { $0.stage == .license }, "\(refusal)")
            #expect(one.kind == error.code && one.retryable == error.isRetryable, "\(refusal)")
            #expect(one.newCredentials == error.wantsNewCredentials, "\(refusal)")
            #expect(one.remedy == error.remedy, "\(refusal)")
            let isSaid = refusal.documented.meaning.map { error.reason.hasSuffix(" \($0)") && one.meaning == $0 }
            #expect(isSaid != false, "\(refusal): \(error.reason)")
        }
    }

    @Test(arguments: ["NAGRA 4001", "Mux 412", "nagra 1007", "cloud-drm drm_3031"])
    func `a code on a vendor's page is not called unknown`(_ text: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .yes && !(run.output + run.error).contains("Nothing is known"), "\(run.error)")
    }

    @Test(arguments: ["drm_9999", "Foo 12"]) func `a code that no page has is called unknown`(_ text: String) async {
        let run = await RecordedRun("explain", text)
        #expect(run.status == .usage && run.error.contains("Nothing is known of \"\(text)\""), "\(run.error)")
    }

    @Test(arguments: profiles) func `wire response shows each code as the app's error`(_ profile: VendorProfile)
        async throws
    {
        for refusal in Self.refusals(profile) {
            let error = try #require(refusal.error, "\(refusal)")
            let stage = ["session": "setup", "lookup": "entitlement"][refusal.stage.rawValue] ?? "license"
            let headers = refusal.reply.headers.flatMap { ["--header", "\($0.name): \($0.value)"] }
            let run = await RecordedRun(
                ["wire", "response", "--vendor", profile.identifier, "--stage", stage, "--json", "--body", "-"]
                    + ["--status", "\(refusal.reply.status)"] + headers, tool: .standard, input: refusal.reply.body)
            let shown = (json(run) as? [String: Any])?["error"] as? [String: Any]
            #expect(shown?["code"] as? String == error.code, "\(refusal): \(run.output)\(run.error)")
            #expect(shown?["reason"] as? String == error.reason, "\(refusal)")
            #expect(shown?["remedy"] as? String == error.remedy, "\(refusal)")
            #expect(shown?["retryable"] as? Bool == error.isRetryable, "\(refusal)")
        }
    }

    @Test(arguments: profiles) func `doctor reads each recorded code as the app does`(_ profile: VendorProfile)
        async throws
    {
        let settings = profile.parameters.filter { !$0.isCredential }.map { ($0.name, $0.example) }
        let ready = profile.with(Dictionary(settings) { $1 }).with(profile.settings)
        let credentials = CredentialSet(
            Dictionary(
                profile.parameters.filter(\.isCredential).map { ($0.name, Secret($0.example)) }
            ) { $1 })
        let key: KeyURI = "skd://h.example/a?cid=c&contentId=c&assetId=a"
        let spc = SPCMessage(try await RecordedTraffic.parts.spc)
        let context = LicenseContext(
            keyURI: key, contentIdentifier: ContentIdentifier("k"), lookup: ["tokenURL": Secret("https://h.example/t")]
        ) { credentials }
        let request = try await ready.unchecked.licenseRequest(for: spc, context)
        for refusal in Self.refusals(profile) where refusal.stage == .license {
            let error = try #require(refusal.error, "\(refusal)")
            let run = try await RecordedTraffic().certificate().adding(
                request.httpMethod ?? "", request.url?.absoluteString ?? "", request.allHTTPHeaderFields ?? [:],
                request.httpBody.map { RecordedTraffic.Body.base64($0) } ?? .none, status: refusal.reply.status,
                Dictionary(refusal.reply.headers.map { ($0.name, $0.value) }) { $1 },
                .base64(refusal.reply.body)
            ).diagnosed("--vendor", profile.identifier)
            let checks = run.json["checks"] as? [[String: String]] ?? []
            let told = checks.first { $0["code"] == error.code && $0["reason"]?.contains(error.reason) == true }
            #expect(told != nil && run.status == .no, "\(refusal): \(run.output)\(run.error)")
            guard refusal.documented.meaning != nil, error.service?.code != nil else { continue }
            #expect(told?["remedy"] == error.remedy, "\(refusal): \(told ?? [:])")
        }
    }

    @Test func `one number in two stages is explained twice, and for each of several vendors`() async {
        let nagra = await RecordedRun("explain", "NAGRA", "4001")
        #expect(nagra.output.contains("4001 of NAGRA CONNECT\n") && nagra.output.contains("gets unauthenticated"))
        #expect(nagra.output.contains("4001 of NAGRA CONNECT, of a session\n"))
        #expect(nagra.output.contains("gets serverTransient; a retry may help, new credentials do not"))
        let everybody = await RecordedRun("explain", "3004")
        #expect(everybody.output.contains("3004 of NAGRA CONNECT, of a session"))
        let shared = await RecordedRun("explain", "1003")
        #expect(shared.output.contains("1003 of NAGRA CONNECT, of a session"))
        #expect(shared.output.contains("1003 of DoveRunner (PallyCon)"))
    }

    @Test func `a vendor's meaning of an HTTP status is shown if the vendor is named`() async {
        #expect(await RecordedRun("explain", "Mux", "412").output.contains("412 of Mux"))
        #expect(await !RecordedRun("explain", "403").output.contains("Mux"))
        #expect(await RecordedRun("explain", "Nobody", "drm_3031").status != .yes)
    }

    @Test func `a code's explanation has members for tools`() async throws {
        let run = await RecordedRun("explain", "--json", "drm_4005")
        let one = try #require((json(run) as? [[String: Any]])?.first)
        let refusal = try #require(one["refusal"] as? [String: Any])
        #expect(one["domain"] as? String == "cloud-drm" && one["number"] as? Int == 4005)
        #expect(refusal["kind"] as? String == "invalidRequest" && refusal["status"] as? Int == 403)
        #expect(refusal["stage"] as? String == "license" && refusal["newCredentials"] as? Bool == false)
    }
}
