public import LatchkeyCore

/// A vendor's license service as a value: the same few building blocks for every vendor, and no code.
///
/// Take one of the profiles of this room and give it its settings, or write one in JSON.
///
///     let integration = VendorProfile.vuDRM(certificate: url)
///
/// Source: `vendors.md` §23.
public struct VendorProfile: Sendable, Hashable, Codable {
    /// A stable name in lower case, such as `vudrm-raw`.
    public var identifier: String
    /// The vendor's own name.
    public var name: String
    /// What the profile needs to be told, in the order to show it.
    public var parameters: [Parameter]
    /// How the SPC names a key.
    public var contentIdentifierRule: TextRule
    /// How the request names a key, where that differs from the SPC.
    public var requestContentID: TextRule?
    /// How the application certificate is got.
    public var certificate: CertificateRule
    /// What is asked for before everything else, such as an entitlement.
    public var lookup: LookupRule?
    /// Secure sessions, where licenses belong to one.
    public var session: SessionRule?
    /// The license request.
    public var license: RequestRule
    /// The license request that renews a key, where it differs.
    public var renewalRequest: RequestRule?
    /// How the CKC is taken out of the reply.
    public var decoder: CKCDecoder
    /// Further values of the license reply, by the name that they get and the JSON path where they stand.
    public var sideValues: [String: String]
    /// What the license reply, or a setting, says about the key's life.
    public var terms: TermsRule?
    /// When a key of this vendor is renewed.
    public var renewal: RenewalPolicy
    /// How the vendor says no.
    public var errors: ErrorRules
    /// What form the token has, to warn before it is sent.
    public var token: TokenFormat
    /// Hosts that belong to the vendor; a key URI may name them without the app's leave.
    public var hosts: [String]
    /// What must not be shown, beside the headers, query items and form fields that carry a credential.
    public var statedRedaction: Redaction
    /// The values of parameters that are no credentials.
    public var settings: [String: String]

    /// Makes a profile; see the files in `Profiles` for examples.
    public init(
        identifier: String, name: String, parameters: [Parameter], contentIdentifier: TextRule,
        requestContentID: TextRule? = nil, certificate: CertificateRule, lookup: LookupRule? = nil,
        session: SessionRule? = nil, license: RequestRule, renewalRequest: RequestRule? = nil, decoder: CKCDecoder,
        sideValues: [String: String] = [:],
        terms: TermsRule? = nil, renewal: RenewalPolicy = RenewalPolicy(), errors: ErrorRules = ErrorRules(),
        token: TokenFormat = .opaque,
        hosts: [String] = [], redaction: Redaction = .standard, settings: [String: String] = [:]
    ) {
        self.identifier = identifier
        self.name = name
        self.parameters = parameters
        self.contentIdentifierRule = contentIdentifier
        self.requestContentID = requestContentID
        self.certificate = certificate
        self.lookup = lookup
        self.session = session
        self.license = license
        self.renewalRequest = renewalRequest
        self.decoder = decoder
        self.sideValues = sideValues
        self.terms = terms
        self.renewal = renewal
        self.errors = errors
        self.token = token
        self.hosts = hosts
        self.statedRedaction = redaction
        self.settings = settings
    }

    /// Something that a profile needs to be told.
    public struct Parameter: Sendable, Hashable, Codable {
        /// The name, as in `--set NAME=VALUE`.
        public var name: String
        /// What it is, in a few words.
        public var meaning: String
        /// Whether it can be left out.
        public var isRequired: Bool
        /// Whether it is a credential, which the app gives per request, and not a setting.
        public var isCredential: Bool
        /// A value of the right form, that opens nothing.
        public var example: String

        /// Makes a setting.
        public static func setting(_ name: String, _ meaning: String, required: Bool = false, example: String) -> Self {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: false, example: example)
        }

        /// Makes a credential.
        public static func credential(_ name: String, _ meaning: String, required: Bool = true, example: String) -> Self
        {
            Self(name: name, meaning: meaning, isRequired: required, isCredential: true, example: example)
        }
    }

    /// Where the application certificate comes from.
    public enum CertificateRule: Sendable, Hashable {
        /// From a server, decoded as stated.
        case fetched(RequestRule, CertificateDecoder)
        /// From a setting that holds it in base64 or PEM.
        case inline(setting: String)
        /// From a setting that holds it where there is one, else from a server.
        case inlineOrFetched(setting: String, RequestRule, CertificateDecoder)

        var request: RequestRule? {
            switch self {
            case .fetched(let request, _), .inlineOrFetched(_, let request, _): request
            case .inline: nil
            }
        }

        var decoder: CertificateDecoder {
            switch self {
            case .fetched(_, let decoder), .inlineOrFetched(_, _, let decoder): decoder
            case .inline: .base64Text
            }
        }
    }
}

extension VendorProfile {
    /// The profile with a setting's value.
    public func setting(_ name: String, to value: String?) -> Self {
        var profile = self
        profile.settings[name] = value
        return profile
    }

    /// The names of required settings that have no value.
    public var missingSettings: [String] {
        parameters.filter { $0.isRequired && !$0.isCredential && settings[$0.name, default: ""].isEmpty }.map(\.name)
    }
}

extension VendorProfile: CustomStringConvertible {
    /// The identifier alone: settings may hold what is nobody's business.
    public var description: String { identifier }
}
