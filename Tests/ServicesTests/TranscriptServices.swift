import LatchkeyCore
import LatchkeyServices
import LatchkeyVendorWire

/// The services that transcripts name, and what they may set there: `with NAME=VALUE`.
enum TranscriptServices {
    private typealias Options = [String: String]
    private typealias Maker = @Sendable (ServiceEnvironment, Options) throws -> any VendorService

    static func service(
        _ name: String, _ options: [String: String], _ environment: ServiceEnvironment
    ) throws -> any VendorService {
        guard let make = makers[name] else { throw WireTrouble("no service is named “\(name)”") }
        return try make(environment, options)
    }

    /// A token with claims: signed as the service's own tokens are.
    static func token(of service: any VendorService, _ claims: String) -> String {
        switch service {
        case let service as NAGRAService: service.contentToken(claims: claims).revealedText
        case let service as KeyOSService: service.token(persistent: claims).revealedText
        case let service as any SignedTokenService: service.token(claims: claims).revealedText
        default: "no token"
        }
    }

    private static let makers: [String: Maker] = [
        "anvato": made(AnvatoService.init),
        "apple-sample": made(AppleSampleService.init, ["ckc": { $0.ckc = try envelope($1) }]),
        "azure": made(
            AzureService.init,
            [
                "ckc": { $0.ckc = try envelope($1) }, "requiresToken": { $0.requiresToken = $1 == "true" },
                "issuer": { $0.issuer = $1 }, "audience": { $0.audience = $1 },
                "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "brightcove": made(
            BrightcoveService.init,
            [
                "publisherID": { $0.publisherID = $1 }, "applicationID": { $0.applicationID = $1 },
                "token": { $0.token = Secret($1) }, "licenseStatus": { $0.licenseStatus = Int($1) ?? 0 },
            ]),
        "bunny-stream": made(BunnyStreamService.init, ["library": { $0.library = $1 }]),
        "cloud-drm": made(
            CloudDRMService.init,
            [
                "brandGuid": { $0.brandGuid = $1 }, "tokensAreSingleUse": { $0.tokensAreSingleUse = $1 == "true" },
                "certificateEncoding": { service, name in
                    let forms = CloudDRMService.CertificateEncoding.allCases
                    service.certificateEncoding = try named(name, forms)
                },
            ]),
        "comcast": made(ComcastService.init, ["account": { $0.account = $1 }, "token": { $0.token = Secret($1) }]),
        "conax": made(ConaxService.init, ["ckc": { $0.ckc = try envelope($1) }]),
        "ezdrm": made(EZDRMService.init, ["customData": { $0.customData = Secret($1) }]),
        "generic": made(
            GenericService.init, ["formReply": { $0.formReply = try envelope($1) }, "token": { $0.token = Secret($1) }]),
        "gumlet": made(GumletService.init, ["ckc": { $0.ckc = try envelope($1) }]),
        "irdeto": made(
            IrdetoService.init,
            [
                "customer": { $0.customer = $1 }, "applicationID": { $0.applicationID = $1 },
                "requiresToken": { $0.requiresToken = $1 == "true" }, "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "kaltura": made(KalturaService.init, ["documentsErrors": { $0.documentsErrors = $1 == "true" }]),
        "keyos": made(
            KeyOSService.init, ["ckc": { $0.ckc = try envelope($1) }, "publicKeyID": { $0.publicKeyID = $1 }]),
        "latchkey": made(LatchkeyService.init, ["signingKey": { $0.signingKey = Secret($1) }]),
        "mux": made(
            MuxService.init,
            [
                "playbackID": { $0.playbackID = $1 }, "preparing": { $0.preparing = [$1] },
                "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "nagra": made(NAGRAService.init, ["tenant": { $0.tenant = $1 }]),
        "sigma": made(SigmaService.init, ["merchant": { $0.merchant = $1 }, "session": { $0.session = Secret($1) }]),
        "titanium": made(TitaniumService.init, ["customerName": { $0.customerName = $1 }]),
        "uplynk": made(UplynkService.init, ["owner": { $0.owner = $1 }]),
        "verimatrix": made(VerimatrixService.init, ["signingKey": { $0.signingKey = Secret($1) }]),
    ]

    private static func made<Service: VendorService>(
        _ make: @escaping @Sendable (ServiceEnvironment) -> Service,
        _ known: [String: @Sendable (inout Service, String) throws -> Void] = [:]
    ) -> Maker {
        { environment, options in
            var service = make(environment)
            for (name, value) in options {
                guard let change = known[name] else { throw WireTrouble("\(service.identifier) has no “\(name)”") }
                try change(&service, value)
            }
            return service
        }
    }

    private static func envelope(_ name: String) throws -> CKCEnvelope { try named(name, CKCEnvelope.allCases) }

    private static func named<Value>(_ name: String, _ values: [Value]) throws -> Value {
        guard let found = values.first(where: { "\($0)" == name }) else { throw WireTrouble("“\(name)” is unknown") }
        return found
    }
}
