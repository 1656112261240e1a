extension VendorProfile {
    /// All profiles that come with Latchkey, in the order in which to show them. A new vendor is one line here.
    public static let all: [VendorProfile] = [
        .vuDRM, .vuDRMTheo, .vuDRMRaw, .vuDRMJW4,
        .cloudDRM, .cloudDRMCertificateToken, .cloudDRMLegacy,
        .azure, .azureWeb, .azureHost,
        .uplynk, .uplynkWeb,
        .ezdrm, .ezdrmComplete, .ezdrmTemplate, .ezdrmCustomData, .ezdrmWeb,
        .verimatrix, .verimatrixQuery, .verimatrixLegacy,
        .titanium, .titaniumTheo, .titaniumWeb, .titaniumDevice,
        .expressPlay, .expressPlayEntitlement, .expressPlayTokenServer, .expressPlayOnPremise,
        .nagra, .nagraTheo,
        .axinom, .axinomQuery,
        .keyOS, .keyOSCustomData, .keyOSHost, .keyOSiOS,
        .drmToday, .drmTodayCustomData, .drmTodayQuery,
        .doveRunner, .doveRunnerQuery,
        .irdeto, .irdetoTheo,
        .mux, .muxWeb,
        .brightcove,
        .jwPlatform,
        .conax,
        .comcast,
        .anvato,
        .kaltura, .kalturaWeb,
        .gumlet,
        .bunnyStream,
        .sigma, .sigmaForm,
        .naver,
        .latchkey,
        .appleSample,
        .genericRaw, .genericBase64, .genericForm, .genericJSON,
    ]

    /// The tables of codes, for the test that reads every row.
    static let codeTables = [
        axinomCodes, brightcoveCodes, cloudDRMCodes, doveRunnerCodes, drmTodayCodes, expressPlayCodes, muxStatuses,
        nagraLicenseCodes, nagraSessionCodes, naverCodes, verimatrixCodes,
    ]

    /// The identifiers of the vendors, in order: of each its first profile's, with which those of its variants begin. The generic forms
    /// are one.
    package static let vendorIdentifiers: [String] = all.map(\.identifier).reduce(into: []) { found, identifier in
        let name = identifier.hasPrefix("generic-") ? "generic" : identifier
        if !found.contains(where: { name == $0 || name.hasPrefix("\($0)-") }) { found.append(name) }
    }

    /// The profile with an identifier, such as `kaltura`, or `nil`. For settings that come as text, and for THEOplayer, whose
    /// sources have them. An app that knows its vendor calls its factory, as `ConfiguredVendor.kaltura(certificate:license:)`.
    public static func named(_ identifier: String) -> VendorProfile? {
        all.first { $0.identifier == identifier }
    }
}
