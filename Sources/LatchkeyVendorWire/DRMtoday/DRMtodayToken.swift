package import Foundation
package import LatchkeyCore
package import LatchkeyDecision
import LatchkeyForms
package import LatchkeyHTTP

/// A DRMtoday authorization token: a JWT whose claims hold JSON as text.
///
/// Source: `Documentation/Vendors/DRMtoday.md`, token.
package struct DRMtodayToken: Sendable {
    /// The header field of the token.
    package static let field: HTTPHeaderName = "x-dt-auth-token"
    /// The header field of custom data, sent with or without a token.
    package static let customDataField: HTTPHeaderName = "x-dt-custom-data"

    /// The unique number of the token.
    package let number: String
    /// The customer.
    package let merchant: String
    /// The viewer; `nil` if the token names none.
    package let userID: String?
    /// The viewer's session; `nil` if the token names none.
    package let sessionID: String?
    /// When it was made; `nil` if it does not say.
    package let issued: Date?
    private let rights: [DRMtodayRight]

    /// - Parameters:
    ///   - text: the token.
    ///   - key: the key that signs tokens; `nil` accepts any signature.
    ///   - date: now.
    package init(_ text: String, key: Secret?, date: Date) throws(LicenseRefusal) {
        let token = try JSONWebToken.checked(text, algorithms: ["HS512"], key: key, date: date)
        let claims = token.claims
        guard let json = claims["crt"]?.text, case .array(let rights) = JSONValue(Data(json.utf8)), !rights.isEmpty
        else { throw .tokenMalformed("The token's “crt” is not the text of a JSON array.") }
        guard let options = claims["optData"]?.text.flatMap({ JSONValue(Data($0.utf8)) }),
            let merchant = options["merchant"]?.text
        else { throw .tokenMalformed("The token's “optData” is not the text of a JSON object with “merchant”.") }
        guard let number = claims["jti"]?.text else { throw .tokenMalformed("The token has no “jti”.") }
        self.rights = rights.enumerated().map { DRMtodayRight($1, at: "crt[\($0)]") }
        self.merchant = merchant
        userID = options["userId"]?.text
        sessionID = options["sessionId"]?.text
        issued = try token.date(of: "iat")
        self.number = number
    }

    /// Why the token does not cover an asset; `nil` if it does.
    package func objection(toAsset asset: String?, variant: String?) -> LicenseRefusal? {
        let isCovered = rights.contains { $0.covers(asset: asset) && $0.covers(variant: variant) }
        return isCovered ? nil : .notCovered("The token has no right to the asset.")
    }

    /// Whether the app may store licenses.
    package var storesLicenses: Bool { rights.contains(where: \.storesLicense) }

    /// The limits of each right, in their order.
    /// - Throws: `tokenMalformed` for rules that are not known.
    package func limits() throws(LicenseRefusal) -> [(right: DRMtodayRight, limits: DRMtodayRight.Limits)] {
        var all: [(right: DRMtodayRight, limits: DRMtodayRight.Limits)] = []
        for right in rights { all.append((right, try right.limits())) }
        return all
    }
}
