import Foundation
import LatchkeyCore
import LatchkeyHTTP
import LatchkeyLicensees
import LatchkeyLicensing

/// The faces of vendors, with their secrets out of the files that the configuration names.
extension ServerBuilder {
    /// The header fields that pages of a tenant's origins may send: the server's own, and those of the vendors.
    static let pageHeaders: [HTTPHeaderName] =
        ["X-Latchkey-Purpose", "X-Terminate"] + VendorFaceName.allCases.flatMap(\.tokenFields)

    func faces(
        of tenant: String, _ settings: VendorFaceSettings, _ problems: inout ServerProblems
    ) -> [any VendorFace] {
        let place = "tenants.\(tenant).faces"
        var faces: [(any VendorFace)?] = []
        if let vuDRM = settings.vuDRM {
            faces.append(
                problems.collecting("\(place).vudrm.secret") {
                    VuDRMFace(vuDRM, secret: try secret(vuDRM.secret, 16...1_024))
                })
        }
        if let axinom = settings.axinom, let id = KeyID(axinom.keyID) {
            faces.append(
                problems.collecting("\(place).axinom.key") {
                    let text = try secret(axinom.key, 1...1_024)
                    guard let key = Data(lenientBase64: text.revealedText), 32...64 ~= key.count else {
                        throw Diagnosis.secretUnfit("A communication key has 32 to 64 bytes in base64.")
                    }
                    return AxinomFace(keyID: id, key: Secret(key))
                })
        }
        if let doveRunner = settings.doveRunner {
            faces.append(
                problems.collecting("\(place).doverunner") {
                    DoveRunnerFace(
                        doveRunner, accessKey: try secret(doveRunner.accessKey, 16...1_024),
                        siteKey: try secret(doveRunner.siteKey, 32...32))
                })
        }
        if let drmToday = settings.drmToday {
            faces.append(
                problems.collecting("\(place).drmtoday.key") {
                    DRMtodayFace(drmToday, key: try secret(drmToday.key, 32...64))
                })
        }
        return faces.compactMap { $0 }
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
