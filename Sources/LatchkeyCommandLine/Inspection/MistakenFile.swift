import Foundation
import LatchkeyFairPlay
import LatchkeyVendors

/// A file that differs from its expected kind.
struct MistakenFile: Sendable {
    /// The kind that was expected.
    let kind: Inspection.Kind
    let byteCount: Int
    let found: Recognition

    /// - Returns: `nil` if the file may be of the expected kind.
    init?(_ bytes: Data, takenFor kind: Inspection.Kind) {
        let found = Recognition(bytes)
        guard !kind.mayBe(found) else { return nil }
        (self.kind, self.found, byteCount) = (kind, found, bytes.count)
    }

    /// The mistake, for people and for tools.
    var finding: InspectionFinding {
        InspectionFinding(.error, code, "The file is \(found.noun), not \(kind.noun).", remedy)
    }

    /// `spcIsBase64`, `certificateIsPrivateKey`.
    private var code: String { "\(kind.rawValue)Is\(found.name)" }

    private var remedy: String {
        switch (kind, found) {
        case (_, .empty): return "Check the path, and whatever wrote the file."
        case (.certificate, .pem("CERTIFICATE")):
            return "Convert it: openssl x509 -in FILE -outform der -out certificate.der."
        case (.certificate, .pem) where found.holdsPrivateKey:
            return
                "Publish only the certificate, and withdraw this file: anyone who has the key can read every SPC."
        case (_, .pointer): return "Fetch the file before the build or the upload: git lfs pull."
        case (.certificate, .privateKey):
            return "Keep it on the key server only, and give the certificate that was issued for it."
        case (.certificate, .pkcs12):
            return "Take the certificate out of the PKCS#12 file and keep its private key on the key server only."
        case (_, .webPage), (_, .json(nil, _)), (_, .xml(nil, _)):
            return "Read it: it is an error or a sign-in page, or holds the value in a field."
        case (_, .otherSystem):
            return "Give \(kind.noun): a service for several systems selects one by the address or a header field."
        case (_, .gzip): return "Decompress it: gunzip < FILE > BYTES."
        case (_, .placeholder): return "Have the program write the bytes, or their base64, and not the object."
        case (_, .readAsText):
            return "Get it again, and have the program read it as bytes, not as text; lost bytes cannot be recovered."
        case (_, .damaged):
            return "Get the whole file again, as bytes; a text editor or a copy through a terminal changes it."
        default: break
        }
        if let unwrapping = found.unwrapping, kind.mayBe(found.core) { return unwrapping }
        if let right = Inspection.Kind.allCases.first(where: { $0.mayBe(found.core) && found.isTelling }) {
            return "Use the command for its kind: latchkey inspect \(right.rawValue) FILE."
        }
        return "Give \(kind.noun): \(kind.origin)."
    }
}

extension MistakenFile: Encodable {
    private enum CodingKeys: String, CodingKey { case bytes, found, problems }

    func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: CodingKeys.self)
        try container.encode(byteCount, forKey: .bytes)
        try container.encode(found.noun, forKey: .found)
        try container.encode([finding], forKey: .problems)
    }
}

extension Inspection {
    init(_ file: MistakenFile) {
        self.init(
            kind: file.kind, facts: [("File", "\(file.byteCount) bytes, \(file.found.noun)")], problems: [file.finding],
            report: file)
    }
}

extension Inspection.Kind {
    /// Whether the finding may be of this kind. An unknown form may, as future forms are not known.
    fileprivate func mayBe(_ found: Recognition) -> Bool {
        switch (self, found) {
        case (.spc, .spc), (.ckc, .ckc), (.certificate, .certificate), (.certificate, .bundle): true
        case (.certificate, .unknown), (.spc, .unknown), (.spc, .laterVersion): true
        // A token may be any text, and be encoded in any way.
        case (.token, .spc), (.token, .ckc), (.token, .certificate), (.token, .privateKey), (.token, .pem): false
        case (.token, _): !found.isTelling
        default: false
        }
    }

    var noun: String {
        switch self {
        case .spc: "an SPC"
        case .ckc: "a CKC"
        case .certificate: "a certificate"
        case .token: "a token"
        }
    }

    fileprivate var origin: String {
        switch self {
        case .spc: "the bytes that the device made for the license request"
        case .ckc: "the bytes of the license service's reply, without its envelope"
        case .certificate: "the .cer or .der file of the FairPlay application certificate"
        case .token: "the text from the app's token service"
        }
    }
}
