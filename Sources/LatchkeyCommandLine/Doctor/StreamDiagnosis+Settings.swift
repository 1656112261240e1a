import Foundation
@_spi(Adapters) import Latchkey
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyTerminal
@_spi(Integrations) import LatchkeyVendors

// Checks that need no network: settings, content identifiers, the token and the recorded SPC.
extension StreamDiagnosis {
    /// The maximum number of keys checked one by one; a stream may have any number.
    static let mostKeysShown = 8

    var settings: [Checkup] {
        let missing = profile.parameters.filter { parameter in
            guard parameter.isRequired else { return false }
            return parameter.isCredential
                ? credentials.values[parameter.name, default: Secret("")].count == 0
                : profile.missingSettings.contains(parameter.name)
        }
        guard missing.isEmpty else {
            return missing.map {
                // The example of a credential looks like one, and would be hidden.
                let remedy = $0.isCredential ? "=@FILE', and put it into FILE." : "=\($0.example)'."
                return .error(
                    .settings, $0.isCredential ? "missingCredential" : "missingSetting",
                    "\(profile.identifier) needs \($0.name): \($0.meaning).", "Add --set '\($0.name)\(remedy)")
            }
        }
        let given = profile.parameters.map(\.name).filter {
            profile.settings[$0] != nil || credentials.values[$0] != nil
        }
        return [
            .ok(.settings, "\(profile.name) with \(given.isEmpty ? "no parameters" : given.joined(separator: ", "))")
        ]
    }

    func identifiers(of keys: [KeyURI], _ loader: ContentKeyLoader) -> [Checkup] {
        var names: [Data: Int] = [:]
        var checks: [Checkup] = []
        for key in keys {
            let result = Result { () throws(ContentKeyError) in try loader.contentIdentifier(for: key) }
            if case .success(let identifier) = result { names[identifier.bytes, default: 0] += 1 }
            if checks.count < Self.mostKeysShown { checks.append(check(result, of: key)) }
        }
        if keys.count > checks.count {
            checks.append(.skipped(.identifier, "\(keys.count - checks.count) more keys are not shown."))
        }
        checks += [droppedPart(of: keys, loader)].compactMap(\.self)
        guard let most = names.values.max(), most > 1 else { return checks }
        return checks + [
            .warning(
                .identifier, "identifiersNotDistinct", "\(most) keys have the same content identifier.",
                "Choose the profile's variant whose rule distinguishes the stream's keys; otherwise playback fails with -19152."
            )
        ]
    }

    /// A generic profile takes the host of a key URI; a path or query after it may be the part that names the key.
    private func droppedPart(of keys: [KeyURI], _ loader: ContentKeyLoader) -> Checkup? {
        guard profile.identifier.hasPrefix("generic") else { return nil }
        let found = keys.prefix(Self.mostKeysShown).lazy.compactMap { key -> (KeyURI, String)? in
            guard let identifier = try? loader.contentIdentifier(for: key), identifier.bytes == Data(key.host.utf8)
            else { return nil }
            let rest = key.remainder.dropFirst(key.host.count)
            return rest.count > 1 ? (key, String(rest)) : nil
        }.first
        guard let (key, rest) = found else { return nil }
        let part = profile.redaction.redacted(urlText: rest).prefix(120)
        return .warning(
            .identifier, "identifierDropsPart",
            "\(shown(key)): \(profile.identifier) takes its host as the content identifier, and leaves out \(quoted(String(part))).",
            "If that part names the key, set contentId, or describe the vendor's rule in a profile (--profile).")
    }

    private func check(_ result: Result<ContentIdentifier, ContentKeyError>, of key: KeyURI) -> Checkup {
        switch result {
        case .success(let identifier):
            let name = profile.redaction.redacted(urlText: "\(identifier)").prefix(200)
            return .ok(.identifier, "\(shown(key)) is \(name)")
        case .failure(let error): return Checkup(.identifier, Failure(error), about: shown(key))
        }
    }

    func tokens(for keys: [KeyURI], _ loader: ContentKeyLoader) -> [Checkup] {
        guard profile.parameters.contains(where: \.isCredential) else { return [.ok(.token, "None is needed.")] }
        guard credentials.values.contains(where: { $0.value.count > 0 }) else {
            return [.skipped(.token, "None was given.")]
        }
        guard !keys.isEmpty else { return [.skipped(.token, "There is no key to check it for.")] }
        let advice = keys.prefix(licenseLimit).flatMap { key -> [TokenInspection.Advice] in
            guard let identifier = try? loader.contentIdentifier(for: key) else { return [] }
            let context = LicenseContext(keyURI: key, contentIdentifier: identifier)
            return vendor.advice(on: credentials, context, at: timekeeper.date)
        }
        var seen: Set<TokenInspection.Advice> = []
        let checks = advice.filter { seen.insert($0).inserted }.map {
            Checkup($0 == .needsSession ? .session : .token, finding($0))
        }
        let isFine = !checks.contains { $0.step == .token }
        return (isFine ? [.ok(.token, "No problem was found; only its service can check it.")] : []) + checks
    }

    /// A finding about a token; one that is a day old and lives for seconds has certainly expired.
    private func finding(_ advice: TokenInspection.Advice) -> InspectionFinding {
        guard case .mayHaveExpired(let generated) = advice else { return InspectionFinding(advice) }
        let age = timekeeper.date.timeIntervalSince(generated)
        guard age > Self.longestTokenLife else { return InspectionFinding(advice) }
        return InspectionFinding(
            .error, "expired",
            "The token was generated at \(generated.formatted(.iso8601)), \(Int(min(age, 1e12) / 86_400).counted("day")) ago, and tokens like it live about 30 s.",
            "Get a fresh token right before the license request.")
    }

    /// In seconds; accounts may lengthen the usual 30 s, but never to a day.
    private static let longestTokenLife = 86_400.0

    /// Checks of the file given with `--spc`.
    var recordedSPC: [Checkup] {
        guard case .recorded(let bytes, _) = player else { return [] }
        if let mistaken = MistakenFile(bytes, takenFor: .spc) {
            return [Checkup(.spc, mistaken.finding).adding(mistaken.found.certificateWords)]
        }
        let report = SPCReport(bytes)
        guard let hash = report.certificateSHA1 else {
            // A future form with a low first number is passed on; anything else is not an SPC.
            guard let version = report.version, (1...9).contains(version) else {
                return [
                    .error(
                        .spc, "spcIsUnknown", "The file is not an SPC: its \(bytes.count) bytes have no known form.",
                        "Use the bytes that the device made for the license request.")
                ]
            }
            return [
                .warning(
                    .spc, "unknownSPCVersion",
                    "The SPC has container version \(version), which only its service can read.",
                    "Check that it is the device's SPC, unchanged.")
            ]
        }
        return [.ok(.spc, "\(bytes.count) bytes, made for the certificate with SHA-1 \(hash)")]
    }

    /// The SHA-1 of the recorded SPC's certificate; `nil` if unknown.
    var recordedCertificateSHA1: String? {
        guard case .recorded(let bytes, _) = player else { return nil }
        return SPCReport(bytes).certificateSHA1
    }
}

extension Recognition {
    /// The certificate of an SPC inside, or `nil`.
    fileprivate var certificateWords: String? {
        guard case .spc(let sha1) = core else { return nil }
        return "It was made for the certificate with SHA-1 \(sha1)."
    }
}
