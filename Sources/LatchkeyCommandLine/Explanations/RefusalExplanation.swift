import Foundation
import LatchkeyCore
@_spi(Integrations) import LatchkeyVendors

/// A vendor's code and the client's error for it: the same error that an app gets.
struct RefusalExplanation: Encodable, Sendable {
    let code: String
    /// The first of the vendor's profiles.
    let vendor: String
    let stage: VendorProfile.RefusalStage
    /// The documented status, or `nil`.
    let status: Int?
    /// The kind of the app's error.
    let kind: String
    /// Whether the same request may succeed later, and whether new credentials may help.
    let retryable, newCredentials: Bool
    let meaning, remedy: String
    /// Whether the vendor's profile is based on more than samples.
    let isDocumented: Bool
    private let name: String

    private enum CodingKeys: String, CodingKey { case code, vendor, stage, status, kind, retryable, newCredentials }

    private init(
        _ code: String, _ found: DocumentedCode, of profile: VendorProfile, at stage: VendorProfile.RefusalStage
    ) {
        (self.code, vendor, name, self.stage) = (code, profile.identifier, profile.name, stage)
        (status, kind, retryable) = (found.status, found.kind.rawValue, found.isRetryable)
        newCredentials = found.wantsNewCredentials
        (meaning, remedy) = (found.meaning ?? found.kind.meaning, found.remedy)
        isDocumented = found.meaning != nil || profile.evidence?.level != .sampleRead
    }

    /// The code's digits.
    var number: Int { Int(code) ?? Int(code.filter(\.isNumber)) ?? 0 }

    /// `drm_3031 of Cloud DRM, status 403`.
    var title: String {
        let place = stage == .license ? "" : ", of a \(stage == .session ? "session" : "lookup")"
        return "\(code) of \(name)\(place)" + (status.map { ", status \($0)" } ?? "")
    }

    /// The app's error, in few words.
    var client: String {
        "gets \(kind); a retry \(retryable ? "may help" : "does not help"), "
            + "new credentials \(newCredentials ? "may help" : "do not")"
    }

    /// The meanings of a code at every vendor and stage that has it, the vendors in the order in which they are shown.
    /// - Parameter text: a code, such as `drm_3031`, with or without the vendor's name before it: `NAGRA 1007`. A code that is an HTTP
    ///   status needs the name.
    static func all(of text: String) -> [Self] {
        let words = text.split(whereSeparator: \.isWhitespace).map(String.init)
        guard let code = words.last else { return [] }
        let vendor = words.dropLast().joined(separator: " ").lowercased()
        guard !vendor.isEmpty || Int(code).map({ (100..<600).contains($0) }) != true else { return [] }
        return VendorProfile.vendorIdentifiers.flatMap { identifier -> [Self] in
            let profiles = VendorProfile.all.filter {
                $0.identifier == identifier || $0.identifier.hasPrefix("\(identifier)-")
            }
            let names = profiles.flatMap { [$0.identifier, $0.name.lowercased()] }
            guard vendor.isEmpty || names.contains(where: { $0.hasPrefix(vendor) }) else { return [] }
            // A code with the same meaning at two stages is listed once.
            var said: Set<DocumentedCode> = []
            return VendorProfile.RefusalStage.allCases.compactMap { stage in
                let found = profiles.lazy.compactMap { profile in
                    profile.errors(at: stage)?.codes[code].map { (profile, $0) }
                }.first
                guard let (profile, meaning) = found, said.insert(meaning).inserted else { return nil }
                return Self(code, meaning, of: profile, at: stage)
            }
        }
    }
}
