package import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    package import FoundationNetworking
#endif

// Values that are available before there is a key, without waiting, for players that send requests themselves.
extension ConfiguredVendor {
    /// The license request with the given credentials.
    package func licenseRequest(
        for spc: SPCMessage, _ context: LicenseContext, credentials: CredentialSet
    ) throws -> URLRequest {
        let request = profile.licenseRule(for: context)
        try requireSettings(of: request)
        var rules = RuleContext(license: context, spc: spc)
        rules.settings = profile.settings
        rules.credentials = try checked(credentials, for: request)
        rules.contentID =
            try profile.requestContentID.map { rule throws(IntegrationError) in
                try rules.requiredText(rule, for: "content id of the request")
            } ?? rules.text(profile.contentIdentifierRule)
        return try request.request(rules)
    }

    /// The names of the required credentials of the license request that are not among the given ones.
    package func missingCredentials(in given: CredentialSet) -> [String] {
        missingCredentials(in: given, for: profile.license).map(\.name)
    }

    /// The address of the license request for a key that is played now, `nil` if it differs from key to key, and its header fields.
    /// - Throws: `IntegrationError` `invalidRequest` if a header field differs from key to key.
    package func fixedLicenseParts(credentials: CredentialSet) throws -> (url: URL?, headers: [String: String]) {
        let license = profile.license
        try requireSettings(of: license)
        if let header = license.headers.first(where: { !$0.value.isFixed(for: .streaming) }) {
            throw IntegrationError(
                .invalidRequest, "The header \(header.name) of \(profile.name) differs from key to key.",
                remedy: "Use a player that leaves the requests to the app.")
        }
        let rules = RuleContext(settings: profile.settings, credentials: try checked(credentials, for: license))
        let url = license.url.isFixed(for: .streaming) ? try license.url.url(rules, for: "license URL") : nil
        var headers: [String: String] = [:]
        headers["Content-Type"] = license.body?.contentType
        for header in license.headers {
            guard let value = rules.text(header.value), !value.isEmpty else { continue }
            headers[try header.fieldName(rules)] = value
        }
        return (url, headers)
    }
}
