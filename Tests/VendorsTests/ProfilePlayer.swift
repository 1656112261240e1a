import Foundation
import LatchkeyCore
import LatchkeyTesting
@_spi(Integrations) import LatchkeyVendors
import WireTranscripts

/// Plays the client's end of a transcript: one profile, the app's settings and credentials, and no network.
struct ProfilePlayer {
    private var wire: ProfileWire
    private let steps: [WireStep]

    init(_ wire: WireCase) throws {
        let name = wire.value("profile") ?? ""
        guard let profile = VendorProfile.named(name) else { throw WireTrouble("no profile is named “\(name)”") }
        let settings = wire.values("set")
        let known = Set(profile.parameters.map(\.name)).union(["certificateURL", "licenseURL"])
        if let other = settings.keys.first(where: { !known.contains($0) }) {
            throw WireTrouble("\(name) has no setting “\(other)”")
        }
        let token = wire.value("token") ?? "TOKEN"
        self.wire = ProfileWire(
            profile, key: KeyURI(wire.value("key") ?? "skd://key"), token: token == "-" ? nil : token,
            settings.mapValues(Self.filled))
        for name in wire.settings where name.word == "unset" {
            self.wire.profile = self.wire.profile.setting(name.value, to: nil)
        }
        let secrets = { (word: String) in wire.values(word).mapValues { Secret($0) } }
        (self.wire.session, self.wire.lookup) = (secrets("session"), secrets("lookup"))
        self.wire.more = secrets("credential")
        steps = wire.steps
    }

    /// The differences, in words; empty if the profile does as the transcript shows.
    mutating func differences() async -> [String] {
        var differences: [String] = []
        for step in steps where step.isClients {
            let words = step.value.split(separator: " ").map(String.init)
            var actual: [String]
            do { actual = try await outcome(of: step, words) } catch { actual = Self.lines(error) }
            let isRequest = step.word == ">" && step.result.isEmpty
            let expected = (isRequest ? step.text : step.result.isEmpty ? ["= \(step.value)"] : step.result)
                .map(Self.filled).joined(separator: "\n")
            for word in ["reason ", "remedy "] where !step.result.contains(where: { $0.hasPrefix(word) }) {
                actual.removeAll { $0.hasPrefix(word) }
            }
            let found = actual.joined(separator: "\n")
            if found != expected {
                differences.append("line \(step.line), “\(step.word) \(step.value)”: not\n\(expected)\nbut\n\(found)")
            }
        }
        return differences
    }

    private mutating func outcome(of step: WireStep, _ words: [String]) async throws -> [String] {
        let body = try Self.reply(step)
        switch (step.word, words.first) {
        case (">", "certificate"): return [try await wire.certificateRequest() ?? "= none"]
        case (">", "lookup"): return [try await wire.lookupRequest() ?? "= none"]
        case (">", "license"):
            let purpose = words.dropFirst().first.map { KeyPurpose(rawValue: $0) } ?? .streaming
            return [try await wire.licenseRequest(try Self.known(purpose, step))]
        case (">", "session"): return [try await wire.sessionRequest(try Self.sessionStep(step, words))]
        case ("<", "certificate"):
            return [
                Self.shown(try wire.certificate(body.body, status: body.status), ProfileWire.certificate, "certificate")
            ]
        case ("<", "lookup"):
            wire.lookup = try wire.lookup(String(decoding: body.body, as: UTF8.self), status: body.status)
            return Self.lines(wire.lookup, "= ")
        case ("<", "license"):
            return lines(try wire.license(body.body, status: body.status, body.headers))
        case ("<", "session"):
            return Self.lines(try wire.session(Self.sessionStep(step, words), body.body, status: body.status))
        case ("id", _): return ["= \(try wire.contentIdentifier() ?? "")"]
        case ("bundled", _):
            let bytes = try wire.profile.unchecked.bundledCertificate()?.bytes
            return [bytes.map { Self.shown($0, ProfileWire.certificate, "certificate") } ?? "= none"]
        case ("scope", "session"): return ["= session \(wire.profile.unchecked.sessionScope)"]
        case ("scope", "lookup"): return ["= lookup \(wire.profile.unchecked.lookupScope)"]
        case ("secret", _): return try [isSecret(words) ? "= \(step.value)" : "= shown"]
        default: throw WireTrouble("“\(step.word) \(step.value)” is nothing that a client does")
        }
    }

    private func isSecret(_ words: [String]) throws -> Bool {
        let (redaction, name) = (wire.profile.redaction, words.last ?? "")
        switch words.first {
        case "header": return redaction.isSecret(header: name)
        case "field": return redaction.isSecret(field: name)
        case "query":
            return redaction.isSecret(queryItem: name)
                && !redaction.redacted(urlText: "https://h/?\(name)=s3cr3t").contains("s3cr3t")
        default: throw WireTrouble("a secret is a header, a query item or a field")
        }
    }

    private static func sessionStep(_ step: WireStep, _ words: [String]) throws -> SessionStep {
        try known(words.dropFirst().first.flatMap { SessionStep(rawValue: $0) }, step)
    }

    private static func known<Value>(_ value: Value?, _ step: WireStep) throws -> Value {
        guard let value else { throw WireTrouble("“\(step.word) \(step.value)” has an unknown word") }
        return value
    }
}

/// A transcript that this end cannot play.
struct WireTrouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}

// MARK: Text and bytes

extension ProfilePlayer {
    private typealias Reply = (status: Int, headers: ProfileWire.Headers, body: Data)

    /// A reply: its status behind the step's words, header fields, and behind a blank line the body.
    private static func reply(_ step: WireStep) throws -> Reply {
        guard step.word == "<" else { return (0, [], Data()) }
        guard let status = step.value.split(separator: " ").last.flatMap({ Int($0) }) else {
            throw WireTrouble("“< \(step.value)” has no status")
        }
        let end = step.text.firstIndex(of: "") ?? step.text.endIndex
        let headers = step.text[..<end].map { line in
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            return (name: parts[0], value: parts.dropFirst().first ?? "")
        }
        let text = step.text[end...].dropFirst().joined(separator: "\n")
        return (
            status, headers,
            ["{ckc}": ProfileWire.ckc, "{certificate}": ProfileWire.certificate][text] ?? Data(filled(text).utf8)
        )
    }

    /// With the bytes that the tests use, in the encoding that the transcript names.
    private static func filled(_ text: String) -> String {
        let lines = ProfileWire.certificate.base64EncodedString(options: .lineLength64Characters)
        return [
            ("{spc}", SampleBytes.spc.hexString), ("{spc base64}", "+/8AAQ=="), ("{spc form}", "%2B%2F8AAQ%3D%3D"),
            ("{spc base64url}", "-_8AAQ=="), ("{ckc base64}", ProfileWire.ckcText),
            ("{ckc base64url}", ProfileWire.ckcText.replacing("+", with: "-").replacing("/", with: "_")),
            ("{certificate base64}", ProfileWire.certificateText), ("{certificate lines}", lines),
            ("{certificate pem}", "-----BEGIN CERTIFICATE-----\n\(lines)\n-----END CERTIFICATE-----\n"),
        ].reduce(WireStep.filled(text, ["as base64": { Data($0.utf8).base64EncodedString() }])) {
            $0.replacing($1.0, with: $1.1)
        }
    }

    private static func shown(_ bytes: Data, _ expected: Data, _ name: String) -> String {
        bytes == expected ? "= \(name)" : "= other bytes: \(bytes.hexString)"
    }

    private static func lines(_ values: [String: Secret], _ word: String) -> [String] {
        values.sorted { $0.key < $1.key }.map { "\(word)\($0.key)=\($0.value.revealedText)" }
    }

    private static func lines(_ reply: SessionReply) -> [String] {
        ["= session"] + lines(reply.values, "value ") + [reply.period.map { "period \($0)" }].compactMap { $0 }
    }

    private func lines(_ license: License) -> [String] {
        let vendor = wire.profile.unchecked
        let terms = license.terms.map { "terms \($0.validity)" + ($0.hdcp.map { ", \($0)" } ?? "") }
        let session = vendor.session(openedBy: license).map {
            "opens "
                + (Self.lines($0.values, "") + [$0.period.map { "\($0)" } ?? "no heartbeat"]).joined(separator: ", ")
        }
        let renewals = vendor.sessionRenewal(after: license) == .heartbeat ? nil : "renewals keep the session"
        return [Self.shown(license.ckc.revealed, ProfileWire.ckc, "ckc")]
            + [terms].compactMap { $0 } + Self.lines(license.sideValues, "value ")
            + license.warnings.map { "warning \($0.code)" } + [session, renewals].compactMap { $0 }
    }

    /// Kind, whether another try may help, and all of the service's words; then the sentences.
    private static func lines(_ error: any Error) -> [String] {
        guard let error = error as? IntegrationError else { return ["\(error)"] }
        let kind = error.kind.rawValue + (error.service.map { " \($0.status)" } ?? "")
        let said = [
            error.service?.code.map { "code \($0)" }, error.service?.message.map { "“\($0)”" },
            error.service?.requestID.map { "request \($0)" }, error.service?.retryAfter.map { "after \($0) s" },
        ]
        let parts = [kind, error.isRetryable ? "retry" : nil] + said
        return [
            "! " + parts.compactMap { $0 }.joined(separator: ", "), "reason \(error.reason)", "remedy \(error.remedy)",
        ]
    }
}
