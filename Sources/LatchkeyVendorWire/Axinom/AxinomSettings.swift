import Foundation
package import LatchkeyCore
package import LatchkeyForms

/// A tenant's API of Axinom DRM, below `/t/{tenant}/axinom`.
///
/// Source: `Documentation/LicenseServer.md` §5.1.
package struct AxinomSettings: VendorAPISettings {
    var keyID = ""
    var key = ""

    package static let form: ObjectForm<Self> = ObjectForm(
        empty: Self(),
        members: [
            .required("keyId", \.keyID, JSONForm(text: "a UUID", read: { KeyID($0)?.description }, write: { $0 }))
                .explained("The communication key's identifier."),
            .required("key", \.key, .text).explained("The file of the communication key, 32 to 64 bytes in base64."),
        ])

    package var secrets: [VendorSecret] { [VendorSecret("key", key, 1...1_024)] }

    package func api(_ secrets: [String: Secret]) throws -> AxinomAPI {
        let text = secrets["key"]?.revealedText ?? ""
        guard let key = Data(lenientBase64: text), 32...64 ~= key.count else {
            throw Diagnosis.secretUnfit("A communication key has 32 to 64 bytes in base64.")
        }
        var api = AxinomAPI()
        (api.communicationKeyID, api.communicationKey) = (KeyID(keyID), Secret(key))
        return api
    }
}
