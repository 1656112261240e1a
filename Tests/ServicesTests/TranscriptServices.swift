import Foundation
import LatchkeyCore
import LatchkeyVendorWire

@testable import LatchkeyServices

/// The services that transcripts name, and the settings that they may change there: `with NAME=VALUE`.
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
        case let service as VuDRMService: service.token(policy: texts(claims)).revealedText
        case let service as NAVERService: service.token(texts(claims)).revealedText
        case let service as DoveRunnerService: service.token(claims: claims).revealedText
        case let service as ExpressPlayService:
            service.token(
                for: service.environment.authority.keys.keys[0].id, binding: .deviceBound(device: Data(count: 32))
            ).revealedText
        case let service as DRMtodayService: service.token(right: claims).revealedText
        case let service as AxinomService:
            service.message(for: service.environment.authority.keys.keys.map(\.id), dates: claims).revealedText
        case let service as any SignedTokenService: service.token(claims: claims).revealedText
        default: "no token"
        }
    }

    private static func texts(_ claims: String) -> [String: String] {
        (try? JSONDecoder().decode([String: String].self, from: Data(claims.utf8))) ?? [:]
    }

    private static let makers: [String: Maker] = [
        "anvato": made(AnvatoService.init),
        "apple-sample": made(AppleSampleService.init, ["ckc": { $0.api.ckc = try envelope($1) }]),
        "axinom": made(
            AxinomService.init,
            [
                "keyURIsHaveIV": { $0.keyURIsHaveIV = $1 == "true" },
                "communicationKey": { $0.communicationKey = Secret($1) },
                "communicationKeyID": { $0.communicationKeyID = KeyID($1) },
            ]),
        "azure": made(
            AzureService.init,
            [
                "ckc": { $0.api.ckc = try envelope($1) }, "requiresToken": { $0.requiresToken = $1 == "true" },
                "issuer": { $0.issuer = $1 }, "audience": { $0.audience = $1 },
                "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "brightcove": made(
            BrightcoveService.init,
            [
                "publisherID": { $0.api.publisherID = $1 }, "applicationID": { $0.api.applicationID = $1 },
                "token": { $0.token = Secret($1) }, "licenseStatus": { $0.api.licenseStatus = Int($1) ?? 0 },
            ]),
        "bunny-stream": made(BunnyStreamService.init, ["library": { $0.api.library = $1 }]),
        "cloud-drm": made(
            CloudDRMService.init,
            [
                "brandGuid": { $0.api.brandGuid = $1 },
                "certificateEncoding": { service, name in
                    let forms = CloudDRMAPI.CertificateEncoding.allCases
                    service.api.certificateEncoding = try named(name, forms)
                },
            ]),
        "comcast": made(ComcastService.init, ["account": { $0.api.account = $1 }, "token": { $0.token = Secret($1) }]),
        "conax": made(ConaxService.init, ["ckc": { $0.api.ckc = try envelope($1) }]),
        "doverunner": made(
            DoveRunnerService.init,
            [
                "siteID": { $0.siteID = $1 }, "nestsErrors": { $0.nestsErrors = $1 == "true" },
                "errorStatus": { $0.errorStatus = Int($1) ?? 0 },
            ]),
        "drmtoday": made(
            DRMtodayService.init,
            [
                "merchant": { $0.merchant = $1 }, "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "expressplay": made(
            ExpressPlayService.init,
            [
                "entitles": { $0.entitles = $1 == "true" }, "echoesMessageID": { $0.echoesMessageID = $1 == "true" },
                "answersJSON": { $0.answersJSON = $1 == "true" },
                "customerAuthenticator": { $0.customerAuthenticator = Secret($1) },
            ]),
        "ezdrm": made(EZDRMService.init, ["customData": { $0.customData = Secret($1) }]),
        "generic": made(
            GenericService.init,
            ["formReply": { $0.api.formReply = try envelope($1) }, "token": { $0.token = Secret($1) }]),
        "gumlet": made(GumletService.init, ["ckc": { $0.api.ckc = try envelope($1) }]),
        "irdeto": made(
            IrdetoService.init,
            [
                "customer": { $0.api.customer = $1 }, "applicationID": { $0.api.applicationID = $1 },
                "requiresToken": { $0.requiresToken = $1 == "true" }, "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "jw-platform": made(
            JWPlatformService.init,
            [
                "mediaID": { $0.mediaID = $1 }, "policyID": { $0.policyID = $1 },
                "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "kaltura": made(KalturaService.init, ["documentsErrors": { $0.api.documentsErrors = $1 == "true" }]),
        "keyos": made(
            KeyOSService.init,
            ["ckc": { $0.api.ckc = try envelope($1) }, "publicKeyID": { $0.api.publicKeyID = $1 }]),
        "latchkey": made(LatchkeyService.init, ["signingKey": { $0.signingKey = Secret($1) }]),
        "mux": made(
            MuxService.init,
            [
                "playbackID": { $0.playbackID = $1 }, "preparing": { $0.preparing = [$1] },
                "signingKey": { $0.signingKey = Secret($1) },
            ]),
        "nagra": made(NAGRAService.init, ["tenant": { $0.api.tenant = $1 }]),
        "naver": made(
            NAVERService.init,
            [
                "siteID": { $0.siteID = $1 }, "accessKey": { $0.accessKey = $1 }, "contentID": { $0.contentID = $1 },
                "secretKey": { $0.secretKey = Secret($1) },
            ]),
        "sigma": made(
            SigmaService.init, ["merchant": { $0.api.merchant = $1 }, "session": { $0.session = Secret($1) }]),
        "titanium": made(TitaniumService.init, ["customerName": { $0.customerName = $1 }]),
        "uplynk": made(UplynkService.init, ["owner": { $0.api.owner = $1 }]),
        "verimatrix": made(VerimatrixService.init, ["signingKey": { $0.signingKey = Secret($1) }]),
        "vudrm": made(VuDRMService.init, ["client": { $0.client = $1 }]),
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
