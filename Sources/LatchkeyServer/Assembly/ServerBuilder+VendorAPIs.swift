import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing
import LatchkeyVendorWire

/// The APIs of vendors, with their secrets out of the files that the configuration names.
extension ServerBuilder {
    /// The header fields that pages of a tenant's origins may send: the server's own, and those of the vendors.
    static let pageHeaders: [HTTPHeaderName] =
        ["X-Latchkey-Purpose", "X-Terminate"] + VendorAPIName.allCases.flatMap(\.tokenFields)

    func apis(
        of tenant: String, _ settings: VendorAPISettings, _ problems: inout ServerProblems
    ) -> [any VendorAPI] {
        let place = "tenants.\(tenant).vendors"
        var apis: [(any VendorAPI)?] = []
        if let vuDRM = settings.vuDRM {
            apis.append(
                problems.collecting("\(place).vudrm.secret") {
                    var api = VuDRMAPI()
                    (api.client, api.secret) = (vuDRM.client, try secret(vuDRM.secret, 16...1_024))
                    (api.tokenLifetime, api.tokensAreSingleUse) = (vuDRM.tokenLife, vuDRM.isSingleUse)
                    return api
                })
        }
        if let axinom = settings.axinom, let id = KeyID(axinom.keyID) {
            apis.append(
                problems.collecting("\(place).axinom.key") {
                    let text = try secret(axinom.key, 1...1_024)
                    guard let key = Data(lenientBase64: text.revealedText), 32...64 ~= key.count else {
                        throw Diagnosis.secretUnfit("A communication key has 32 to 64 bytes in base64.")
                    }
                    var api = AxinomAPI()
                    (api.communicationKeyID, api.communicationKey) = (id, Secret(key))
                    return api
                })
        }
        if let doveRunner = settings.doveRunner {
            apis.append(
                problems.collecting("\(place).doverunner") {
                    var api = DoveRunnerAPI()
                    (api.siteID, api.accessKey) = (doveRunner.site, try secret(doveRunner.accessKey, 16...1_024))
                    api.siteKey = try secret(doveRunner.siteKey, 32...32)
                    (api.tokenLifetime, api.tokensAreSingleUse) = (doveRunner.tokenLife, doveRunner.isSingleUse)
                    return api
                })
        }
        if let drmToday = settings.drmToday {
            apis.append(
                problems.collecting("\(place).drmtoday.key") {
                    var api = DRMtodayAPI()
                    (api.merchant, api.signingKey) = (drmToday.merchant, try secret(drmToday.key, 32...64))
                    (api.tokenLifetime, api.tokensAreSingleUse) = (drmToday.tokenLife, drmToday.isSingleUse)
                    return api
                })
        }
        return apis.compactMap { $0 }
    }

    /// A file's text without white space around it.
    private func secret(_ name: String, _ bytes: ClosedRange<Int>) throws -> Secret {
        let text = try file.secrets.text(name)
        guard bytes ~= text.count else {
            let size = bytes.count == 1 ? "\(bytes.lowerBound)" : "\(bytes.lowerBound) to \(bytes.upperBound)"
            throw Diagnosis.secretUnfit("A secret of this kind has \(size) bytes, and the file has \(text.count).")
        }
        return text
    }
}

extension Diagnosis {
    fileprivate static func secretUnfit(_ reason: String) -> Diagnosis {
        Diagnosis(
            code: "secretUnfit", reason: reason,
            remedy: "Write the secret, as the vendor's console showed it, to the file.")
    }
}
