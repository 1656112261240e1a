package import LatchkeyCore
package import LatchkeyForms
package import LatchkeyHTTP

/// A tenant's settings for a vendor's API whose tokens its customers make.
package protocol VendorAPISettings: Sendable {
    associatedtype API: VendorAPI
    /// Its form in the configuration.
    static var form: ObjectForm<Self> { get }
    /// The secrets that it names.
    var secrets: [VendorSecret] { get }

    /// The vendor's wire.
    /// - Parameter secrets: the secrets' texts by their members' names.
    /// - Throws: `Diagnosis` for an invalid secret.
    func api(_ secrets: [String: Secret]) throws -> API
}

/// A secret that a tenant's settings name.
package struct VendorSecret: Sendable, Equatable {
    /// The member that names its file.
    package let member: String
    package let file: String
    /// The number of bytes in its text.
    package let bytes: ClosedRange<Int>

    init(_ member: String, _ file: String, _ bytes: ClosedRange<Int>) {
        (self.member, self.file, self.bytes) = (member, file, bytes)
    }
}

/// A tenant's settings of one vendor's API.
package struct VendorAPISetting: Sendable, Equatable {
    package let name: VendorAPIName
    package let secrets: [VendorSecret]
    /// The wire, made of the secrets' texts by their members' names.
    package let api: @Sendable ([String: Secret]) throws -> any VendorAPI
    fileprivate let written: JSONValue

    package static func == (one: Self, other: Self) -> Bool {
        (one.name, one.written) == (other.name, other.written)
    }
}

/// A vendor whose wire the license server speaks.
package struct VendorAPIKind: Sendable {
    package let name: VendorAPIName
    /// The header fields in which the vendor's players send their tokens.
    package let tokenFields: [HTTPHeaderName]
    /// All vendor-specific header fields that players in web pages send.
    package let pageFields: [HTTPHeaderName]
    /// Whether players send the tenant's own tokens in place of the vendor's, because only the vendor makes those.
    package let takesTenantTokens: Bool
    /// A tenant's settings for it.
    package let form: JSONForm<VendorAPISetting>

    /// A vendor whose customers make tokens, which the wire reads and checks.
    private init<Settings: VendorAPISettings>(_ settings: Settings.Type) {
        let name = Settings.API.name
        self.init(Settings.API.self, takesTenantTokens: false, Settings.form) { settings, written in
            VendorAPISetting(name: name, secrets: settings.secrets, api: settings.api, written: written)
        }
    }

    /// A vendor whose tokens only the vendor can make.
    private init<API: VendorAPI>(_ api: API) {
        self.init(API.self, takesTenantTokens: true, ObjectForm(empty: NoSettings(), members: [])) { _, written in
            VendorAPISetting(name: API.name, secrets: [], api: { _ in api }, written: written)
        }
    }

    private init<API: VendorAPI, Settings: Sendable>(
        _ api: API.Type, takesTenantTokens: Bool, _ form: ObjectForm<Settings>,
        _ setting: @escaping @Sendable (Settings, JSONValue) -> VendorAPISetting
    ) {
        (name, tokenFields, self.takesTenantTokens) = (API.name, API.tokenFields, takesTenantTokens)
        pageFields = API.tokenFields + API.otherFields
        self.form = form.form.mapped({ setting($0, form.write($0)) }, write: \.written)
    }

    private struct NoSettings: Sendable {}
}

extension VendorAPIKind {
    /// All vendors whose wire differs from the server's own.
    package static let all: [VendorAPIKind] = [
        VendorAPIKind(VuDRMSettings.self), VendorAPIKind(AxinomSettings.self), VendorAPIKind(DoveRunnerSettings.self),
        VendorAPIKind(DRMtodaySettings.self),
        VendorAPIKind(AnvatoAPI()), VendorAPIKind(AppleSampleAPI()), VendorAPIKind(AzureAPI()),
        VendorAPIKind(BrightcoveAPI()), VendorAPIKind(BunnyStreamAPI()), VendorAPIKind(CloudDRMAPI()),
        VendorAPIKind(ComcastAPI()), VendorAPIKind(ConaxAPI()), VendorAPIKind(ExpressPlayAPI()),
        VendorAPIKind(EZDRMAPI()), VendorAPIKind(GenericAPI()), VendorAPIKind(GumletAPI()), VendorAPIKind(IrdetoAPI()),
        VendorAPIKind(JWPlatformAPI()), VendorAPIKind(KalturaAPI()), VendorAPIKind(KeyOSAPI()), VendorAPIKind(MuxAPI()),
        VendorAPIKind(NAGRAAPI()), VendorAPIKind(NAVERAPI()), VendorAPIKind(SigmaAPI()), VendorAPIKind(TitaniumAPI()),
        VendorAPIKind(UplynkAPI()), VendorAPIKind(VerimatrixAPI()),
    ]
}

extension Diagnosis {
    /// A file without the required secret.
    package static func secretUnfit(_ reason: String) -> Diagnosis {
        Diagnosis(
            code: "secretUnfit", reason: reason,
            remedy: "Write the secret, as the vendor's console showed it, to the file.")
    }
}
