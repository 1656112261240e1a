import Foundation
import LatchkeyCore
import LatchkeyDevice
import LatchkeyFairPlay
import LatchkeyServices
import LatchkeyTesting
import WireTranscripts

/// Plays the service's end of a transcript over HTTP, with the device, keys and clock of `Stage`.
struct ServicePlayer {
    private let wire: WireCase
    private let service: any VendorService
    private let time: ManualTimekeeper
    private let exchange: KeyExchange
    private let base: String
    /// The value of `{kept}` in the last reply that has it.
    private var kept = ""

    /// The status of the last reply.
    private var status: Int?

    /// The differences, in words; empty if the service does as the transcript shows.
    static func differences(_ wire: WireCase) async throws -> [String] {
        try await play(wire) { try await $0.differences() }
    }

    /// Whether a lenient service accepts a broken rule, with a warning of the rule's name.
    static func passes(_ wire: WireCase, lenientOn rule: String) async throws -> Bool {
        try await play(wire, lenientOn: rule) { player in
            _ = try await player.differences()
            return player.status == 200 && player.service.warnings.map(\.code).contains(rule)
        }
    }

    private static func play<Value: Sendable>(
        _ wire: WireCase, lenientOn rule: String = "", _ body: (inout ServicePlayer) async throws -> Value
    ) async throws -> Value {
        let time = ManualTimekeeper()
        let terms = wire.value("policy").flatMap(LicenseTerms.init(transcript:)) ?? LicenseTerms()
        let authority = try Stage.authority(LicensePolicy(standard: terms))
        let name = wire.value("service") ?? ""
        let environment = ServiceEnvironment(authority: authority, time: time, lenient: ["\(name)/\(rule)"])
        let service = try TranscriptServices.service(name, wire.values("with"), environment)
        for fault in wire.settings where fault.word == "fault" { try set(fault.value, at: service) }
        let device = try SimulatedDevice(
            certificate: Stage.credentials.credential.certificate,
            applicationSecret: Stage.credentials.applicationSecret, timekeeper: time)
        var generator = SeededGenerator(seed: 7)
        let identifier = ContentIdentifier(
            wire.value("spc")?.replacing("{id}", with: Stage.videoKeyID) ?? wire.steps.first { $0.word == "id" }?.value
                ?? Stage.videoKeyID)
        let exchange = try device.exchange(for: identifier, using: &generator)
        let host = ServiceHost([service], configuration: Stage.patientServer, time: time)
        let base = "http://127.0.0.1:\(try host.start())/\(name)"
        var player = ServicePlayer(wire: wire, service: service, time: time, exchange: exchange, base: base)
        do {
            let value = try await body(&player)
            await host.stop(within: .zero)
            return value
        } catch {
            await host.stop(within: .zero)
            throw error
        }
    }

    /// `license refusal 4711 503`, `certificate emptyBody`.
    private static func set(_ fault: String, at service: any VendorService) throws {
        let words = fault.split(separator: " ").map(String.init)
        let endpoint = ServiceEndpoint(rawValue: words.first ?? "")
        switch words.dropFirst().first {
        case "emptyBody": service.faults.set(.emptyBody, at: endpoint)
        case "refusal" where words.count == 4:
            service.faults.set(.refusal(code: words[2], status: Int(words[3])), at: endpoint)
        default: throw WireTrouble("“\(fault)” is no fault")
        }
    }

    private mutating func differences() async throws -> [String] {
        var differences: [String] = []
        var reply: Reply?
        for step in wire.steps {
            switch (step.word, step.value) {
            case (">", _):
                reply = try await send(step)
                status = reply?.status
            case ("app", _): differences += told(step) + unnoticed(step, told)
            case ("wait", let seconds): time.advance(by: .seconds(Int(seconds) ?? 0))
            case ("<", _):
                guard let reply else { throw WireTrouble("a reply to no request") }
                let warnings = service.warnings.map { "= warning \($0.code)" }
                differences += try compare(reply, warnings, step)
                differences += try unnoticed(step) { try compare(reply, warnings, $0) }
                try keep(reply, step)
            default: continue
            }
        }
        return differences
    }

    /// A step's statements without effect: each part of it is damaged once, and should differ then.
    private func unnoticed(_ step: WireStep, _ differences: (WireStep) throws -> [String]) rethrows -> [String] {
        try WireStep.ReplyPart.allCases.compactMap { part in
            var damaged = step
            guard damaged.damageReply(part), try differences(damaged).isEmpty else { return nil }
            return "line \(step.line): nobody looks at the \(part)"
        }
    }

    private mutating func keep(_ reply: Reply, _ step: WireStep) throws {
        guard let line = step.text.last, let end = line.range(of: "{kept}")?.upperBound else { return }
        kept = try match(reply.text, filled(line[..<end] + "…"))?.last ?? ""
    }

    /// The key URI and the settings of a customer's app, as the service gives them.
    private func told(_ step: WireStep) -> [String] {
        let keys = service.environment.authority.keys.keys
        let settings = service.parameters(at: "http://h/\(service.identifier)").sorted { $0.key < $1.key }
        let found =
            ["= key \(keys.first.map { service.keyURI(for: $0, at: "h") } ?? "")"]
            + settings.map { "= \($0.key)=\($0.value)" }
        let expected = step.result.map(filled)
        return found == expected ? [] : ["line \(step.line): not\n\(expected)\nbut\n\(found)"]
    }

    private func send(_ step: WireStep) async throws -> Reply {
        let lines = step.text.map { filled($0.replacing("{kept}", with: kept)) }
        let end = lines.firstIndex(of: "") ?? lines.endIndex
        let first = lines.first?.split(separator: " ", maxSplits: 1).map(String.init) ?? []
        guard first.count == 2 else { throw WireTrouble("line \(step.line): no method and path") }
        var headers: [String: String] = [:]
        for line in lines[..<end].dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1, omittingEmptySubsequences: false)
            headers[String(parts[0])] = parts.dropFirst().first.map { $0.trimmingCharacters(in: .whitespaces) }
        }
        let isRaw = step.text.last == "{spc}"
        let text = lines[end...].dropFirst().joined(separator: "\n")
        let body = isRaw ? exchange.spc.revealed : first[0] == "GET" ? nil : Data(text.utf8)
        // The vendor's own host, which a profile's request has, is replaced by this one.
        let path = first[1].replacing(/^https:\/\/[^\/?]*/, with: "")
        return try await Reply(to: first[0], base + path, headers, body)
    }

    private func compare(_ reply: Reply, _ warnings: [String], _ step: WireStep) throws -> [String] {
        var found: [String] = []
        if "\(reply.status)" != step.value.split(separator: " ").last.map(String.init) {
            found.append("\(reply.status)")
        }
        let end = step.text.firstIndex(of: "") ?? step.text.endIndex
        for line in step.text[..<end] {
            let parts = line.split(separator: ":", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            let value = reply.headers[parts[0].lowercased()] ?? "-"
            if try match(value, filled(parts.dropFirst().first ?? "")) == nil { found.append("\(parts[0]): \(value)") }
        }
        let expected = step.text[end...].dropFirst().joined(separator: "\n")
        var opened: OpenedLicense?
        switch expected {
        case "": break
        case "{nothing}": if !reply.body.isEmpty { found.append(reply.text) }
        case "{certificate}": if reply.body != Stage.certificate { found.append(reply.text) }
        case "{ckc}": opened = try? OpenedLicense(reply.body, exchange, time)
        default:
            guard let ckc = try match(reply.text, filled(expected)) else {
                found.append(reply.text)
                break
            }
            opened = try? ckc.first.flatMap { Data(base64Encoded: $0) }.map { try OpenedLicense($0, exchange, time) }
        }
        if expected.contains("{ckc") {
            if opened?.isVideo != true { found.append("no CKC for the video key: \(reply.text.prefix(300))") }
            let terms = opened.map { "= terms \($0.terms.validity)" } ?? "-"
            if let stated = step.result.first(where: { $0.hasPrefix("= terms ") }), terms != stated {
                found.append(terms)
            }
        }
        let known = ["= warning ", "= terms "]
        if step.value.hasPrefix("reply"),
            let odd = step.result.first(where: { line in !known.contains { line.hasPrefix($0) } })
        {
            throw WireTrouble("line \(step.line): a service does not say “\(odd)”")
        }
        let stated = step.result.filter { $0.hasPrefix("= warning ") }
        if warnings != stated { found.append("\(warnings)") }
        return found.isEmpty ? [] : ["line \(step.line): not “\(step.value)” but\n\(found.joined(separator: "\n"))"]
    }

    /// The parts of a text at the places of the CKCs and kept values; `nil` if the text differs. `…` is any text.
    private func match(_ text: String, _ expected: String) throws -> [String]? {
        let pattern = NSRegularExpression.escapedPattern(for: expected)
            .replacing(#"\{ckc base64\}"#, with: "([A-Za-z0-9+/=]+)").replacing("…", with: #"[\s\S]*"#)
            .replacing(#"\{kept\}"#, with: #"([^\s"]+)"#)
        let expression = try NSRegularExpression(pattern: "^\(pattern)$")
        let range = NSRange(text.startIndex..., in: text)
        guard let found = expression.firstMatch(in: text, range: range) else { return nil }
        return (1..<found.numberOfRanges).compactMap { Range(found.range(at: $0), in: text).map { String(text[$0]) } }
    }

    private func filled(_ text: String) -> String {
        let base64 = exchange.spc.revealed.base64EncodedString()
        let spaced = exchange.spc.revealed.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
        let texts = [
            ("{spc base64}", base64), ("{spc form}", formEncoded(base64)), ("{spc lines}", spaced),
            ("{spc base64url}", base64.replacing("+", with: "-").replacing("/", with: "_")),
            ("{spc form lines}", formEncoded(spaced)),
            ("{spc unpadded}", exchange.spc.revealed.base64URL), ("{token}", service.demoToken().revealedText),
            ("{certificate base64}", Stage.certificate.base64EncodedString()), ("{id}", Stage.videoKeyID),
        ]
        let filled = texts.reduce(text) { $0.contains($1.0) ? $0.replacing($1.0, with: $1.1) : $0 }
        return WireStep.filled(
            filled,
            [
                "jwt": { jwt($0) }, "jwt512": { jwt($0, header: #"{"alg":"HS512"}"#) },
                "token": { TranscriptServices.token(of: service, $0) },
                "as base64": { Data($0.utf8).base64EncodedString() },
                "zeros": { String(repeating: "\0", count: Int($0) ?? 0) },
            ])
    }
}

/// The device's result of opening a CKC.
private struct OpenedLicense {
    let isVideo: Bool
    let terms: LicenseTerms

    init(_ ckc: Data, _ exchange: KeyExchange, _ time: ManualTimekeeper) throws {
        let opened = try exchange.open(ckc, at: time)
        (isVideo, terms) = (opened.contentKey == Stage.videoKey, opened.terms)
    }
}

extension LicenseTerms {
    /// The terms as a transcript writes them: `lease 600`.
    fileprivate init?(transcript text: String) {
        let parts = text.split(separator: " ")
        let seconds = parts.dropFirst().compactMap { Int64($0) }.map { Duration.seconds($0) }
        switch (parts.first, seconds.first) {
        case ("unlimited", nil): self.init()
        case ("lease", let time?): self.init(.lease(time))
        case ("persistent", nil): self.init(.persistent)
        case ("persistent", let time?): self.init(.persistentFor(time))
        case ("dual", let storage?): self.init(.dualExpiry(storage: storage, playback: seconds.last ?? storage))
        default: return nil
        }
    }
}

/// A transcript that this end cannot play.
struct WireTrouble: Error, CustomStringConvertible {
    let description: String
    init(_ description: String) { self.description = description }
}
