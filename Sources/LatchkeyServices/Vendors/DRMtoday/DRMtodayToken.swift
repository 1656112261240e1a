import Foundation
import LatchkeyCore
import LatchkeyServer

/// A DRMtoday authorization token: a JWT whose claims hold JSON as text.
///
/// Source: `Documentation/Vendors/DRMtoday.md`, token.
struct DRMtodayToken: Sendable {
    /// The unique number of the token.
    let number: String
    /// The customer.
    let merchant: String
    private let rights: [JSONValue]

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the key that signs tokens; `nil` accepts any signature.
    ///   - date: now.
    init(_ text: String, key: Secret?, date: Date) throws(LicenseRefusal) {
        let claims = try JSONWebToken.checked(text, algorithms: ["HS512"], key: key, date: date).claims
        guard let json = claims["crt"]?.text, case .array(let rights) = JSONValue(Data(json.utf8)), !rights.isEmpty
        else { throw .tokenMalformed("The token's “crt” is not the text of a JSON array.") }
        guard let options = claims["optData"]?.text.flatMap({ JSONValue(Data($0.utf8)) }),
            let merchant = options["merchant"]?.text
        else { throw .tokenMalformed("The token's “optData” is not the text of a JSON object with “merchant”.") }
        guard let number = claims["jti"]?.text else { throw .tokenMalformed("The token has no “jti”.") }
        self.rights = rights
        self.merchant = merchant
        self.number = number
    }

    /// Why the token does not cover an asset; `nil` if it does.
    func objection(toAsset asset: String?, variant: String?) -> LicenseRefusal? {
        let isCovered = rights.contains { right in
            let (assetID, variantID) = (right["assetId"]?.text ?? "", right["variantId"]?.text ?? "")
            return (assetID.isEmpty || assetID == asset) && (variantID.isEmpty || variantID == variant ?? "")
        }
        return isCovered ? nil : .notCovered("The token has no right to the asset.")
    }

    /// Whether the app may store licenses.
    var storesLicenses: Bool { rights.contains { $0["storeLicense"]?.flag == true } }
}
