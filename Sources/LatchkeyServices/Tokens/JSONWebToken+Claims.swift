import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyVendorWire

extension JSONWebToken {
    /// Claims with an `exp` at the end of the service's token lifetime, which defaults to an hour, unless they have one.
    /// - Parameter json: a JSON object; any other text counts as no claims.
    static func claims(_ json: String, in environment: ServiceEnvironment) -> [String: JSONValue] {
        let lifetime = environment.tokenLifetime ?? .seconds(3_600)
        let expiry = JSONValue.number((environment.time.date.timeIntervalSince1970 + lifetime.inSeconds).rounded())
        guard case .object(let stated) = JSONValue(Data(json.utf8)) else { return ["exp": expiry] }
        return ["exp": expiry].merging(stated) { $1 }
    }
}
