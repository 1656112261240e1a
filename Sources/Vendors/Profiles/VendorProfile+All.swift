extension VendorProfile {
    /// Every profile that comes with Latchkey, in the order to show them. A new vendor is one line here.
    public static let all: [VendorProfile] = [
        .vuDRM, .vuDRMTheo, .vuDRMRaw,
        .cloudDRM, .cloudDRMLegacy,
        .azure, .azureWeb, .azureHost,
        .uplynk, .uplynkWeb,
        .ezdrm, .ezdrmComplete, .ezdrmTemplate, .ezdrmCustomData, .ezdrmWeb,
        .verimatrix, .verimatrixQuery, .verimatrixLegacy,
        .titanium, .titaniumWeb, .titaniumDevice,
        .expressPlay, .expressPlayEntitlement, .expressPlayOnPremise,
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
        .kaltura,
        .gumlet,
        .appleSample,
        .genericRaw, .genericBase64, .genericForm, .genericJSON,
    ]

    /// The profile of a name; nil where there is none.
    public static func named(_ identifier: String) -> VendorProfile? {
        all.first { $0.identifier == identifier }
    }
}
