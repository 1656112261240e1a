import Foundation
import LatchkeyCore
import LatchkeyServices
import LatchkeyVendorWire
import LatchkeyVendors

extension RefusalCase {
    /// Refusals that the services decide themselves: expired tokens, tokens for something else, unknown customers.
    static let own = expiredTokens + foreignTokens + unknownCustomers

    private static let expired = #"{"exp":1}"#
    private static let anotherID = "11111111-2222-3333-4444-555555555555"
    private static let keyClaim = "urn:microsoft:azure:mediaservices:contentkeyidentifier"

    private static let vuDRMExpired = SpecialService.tokens(of: VuDRMService.init) {
        $0.token(generated: Date(timeIntervalSinceNow: -60))
    }

    private static let expiredTokens = [
        RefusalCase("vudrm", "expired token", vuDRMExpired, at: .certificate, .unauthenticated, 401),
        RefusalCase("vudrm-raw", "expired token", vuDRMExpired, .unauthenticated, 401),
        RefusalCase(
            "cloud-drm", "expired token",
            SpecialService.tokens(of: CloudDRMService.init) { $0.token(claims: expired) },
            .unauthenticated, 403, code: "drm_3031"),
        RefusalCase(
            "azure", "expired token",
            SpecialService.tokens(of: AzureService.init) { $0.token(claims: expired) },
            .unauthenticated, 401),
        RefusalCase(
            "verimatrix", "expired token",
            SpecialService.tokens(of: VerimatrixService.init) { $0.token(claims: expired) }, .unauthenticated,
            401,
            code: "MDRM-508", words: "exp"),
        RefusalCase(
            "verimatrix-query", "expired token",
            SpecialService.tokens(of: VerimatrixService.init) { $0.token(claims: expired) }, .unauthenticated,
            401,
            code: "MDRM-508", words: "exp"),
        RefusalCase(
            "titanium", "expired token",
            SpecialService.tokens(of: TitaniumService.init) { $0.token(claims: expired) },
            .unauthenticated, 401),
        RefusalCase(
            "expressplay", "expired token URL",
            SpecialService(ExpressPlayService.init) { $0.tokenLifetime = .seconds(-60) }, .unauthenticated,
            401, code: "-4010"),
        RefusalCase(
            "nagra", "expired token",
            SpecialService.tokens(of: NAGRAService.init) { $0.contentToken(claims: expired) },
            at: .sessionSetup, .unauthenticated, 400, code: "1004", words: "exp"),
        RefusalCase(
            "axinom", "expired message",
            SpecialService.tokens(of: AxinomService.init) {
                $0.message(for: [], dates: #"{"expiration_date":"2020-01-01T00:00:00Z"}"#)
            }, .invalidRequest, 400, words: "tokenExpired"),
        RefusalCase(
            "keyos", "expired authentication",
            SpecialService.tokens(of: KeyOSService.init) { $0.token(lifetime: .seconds(-60)) },
            at: .certificate,
            .unauthenticated, 401),
        RefusalCase(
            "doverunner", "expired token",
            SpecialService.tokens(of: DoveRunnerService.init) {
                $0.token(claims: #"{"timestamp":"2020-01-01T00:00:00Z"}"#)
            }, .unauthenticated, 200, code: "7011", words: "600 s"),
        RefusalCase(
            "irdeto", "expired token",
            SpecialService.tokens(of: IrdetoService.init) { $0.token(claims: expired) },
            .unauthenticated, 401),
        RefusalCase(
            "mux", "expired token", SpecialService.tokens(of: MuxService.init) { $0.token(claims: expired) },
            at: .certificate, .unauthenticated, 403),
        RefusalCase(
            "jw-platform", "expired token",
            SpecialService.tokens(of: JWPlatformService.init) { $0.token(claims: expired) }, at: .delivery,
            .unauthenticated, 401),
        RefusalCase(
            "jw-platform", "expired address",
            SpecialService(JWPlatformService.init) { $0.addressLifetime = .seconds(-60) }, .unauthenticated,
            401),
    ]

    private static let foreignTokens = [
        RefusalCase(
            "vudrm", "policy for other content",
            SpecialService.tokens(of: VuDRMService.init) {
                $0.token(policy: ["match_content_id": "true", "content_id": "another"])
            }, .forbidden, 403),
        RefusalCase(
            "cloud-drm", "token for another key",
            SpecialService.tokens(of: CloudDRMService.init) {
                $0.token(claims: #"{"kid":["\#(anotherID)"]}"#)
            },
            .forbidden, 403, code: "drm_3033"),
        RefusalCase(
            "azure", "token for another key",
            SpecialService.tokens(of: AzureService.init) {
                $0.token(claims: #"{"\#(keyClaim)":"\#(anotherID)"}"#)
            },
            .forbidden, 403),
        RefusalCase(
            "azure", "no token where the policy is not open",
            SpecialService(AzureService.init) {
                $0.requiresToken = true
            } token: { _ in
                Secret("")
            }, .unauthenticated, 401),
        RefusalCase(
            "ezdrm-customdata", "the customer's callback says no",
            SpecialService(EZDRMService.init) {
                $0.customData = Secret("viewer-that-may-watch")
            } token: { _ in
                Secret("viewer-that-may-not-watch")
            }, .forbidden, 403),
        RefusalCase(
            "axinom", "message for no key",
            SpecialService.tokens(of: AxinomService.init) { $0.message(for: []) }, .forbidden, 403,
            words: "notCovered"),
        RefusalCase(
            "drmtoday", "token for another asset",
            SpecialService.tokens(of: DRMtodayService.init) { $0.token(right: #"{"assetId":"another"}"#) },
            .forbidden, 403, code: "20101", words: "not_granted"),
        RefusalCase(
            "doverunner", "token for other content",
            SpecialService.tokens(of: DoveRunnerService.init) { $0.token(claims: #"{"cid":"another"}"#) },
            .forbidden, 200, code: "7012", words: "cid"),
        RefusalCase(
            "mux", "token for another asset",
            SpecialService.tokens(of: MuxService.init) { $0.token(claims: #"{"sub":"another"}"#) },
            at: .certificate,
            .unauthenticated, 403),
        RefusalCase(
            "brightcove", "another token",
            SpecialService(BrightcoveService.init) {
                $0.token = Secret("token-of-the-account")
            } token: { _ in
                Secret("token-of-another-account")
            }, .unauthenticated, 401, code: "TOKEN_VALIDATION"),
        RefusalCase(
            "comcast", "another token",
            SpecialService(ComcastService.init) {
                $0.token = Secret("token-of-the-account")
            } token: { _ in
                Secret("token-of-another-account")
            }, .unauthenticated, 401),
        RefusalCase(
            "generic-raw", "another token",
            SpecialService(GenericService.init) {
                $0.token = Secret("token-of-the-account")
            } token: { _ in
                Secret("token-of-another-account")
            }, .forbidden, 403),
    ]

    private static let unknownCustomers = [
        RefusalCase(
            "cloud-drm", "another brand",
            SpecialService(CloudDRMService.init) { $0.api.brandGuid = anotherID },
            settings: ["brandGuid": "5f0c2a4e-7d1b-4c3e-9a86-0b1d2e3f4a5b"], .invalidRequest, 403, code: "drm_4005"),
        RefusalCase(
            "titanium-device", "another customer",
            SpecialService(TitaniumService.init) { $0.customerName = "Operator" },
            settings: ["customerName": "Another"], .forbidden, 403),
        RefusalCase(
            "expressplay-entitlement", "isAllowed is false",
            SpecialService(ExpressPlayService.init) { $0.entitles = false }, at: .entitlement, .forbidden,
            200, code: "-6006", words: "may not see"),
        RefusalCase(
            "expressplay-entitlement", "the echo is wrong",
            SpecialService(ExpressPlayService.init) { $0.echoesMessageID = false }, at: .entitlement,
            .lookupMalformed, 200),
        RefusalCase(
            "nagra", "too many sessions", SpecialService(NAGRAService.init) { $0.sessionLimit = 0 },
            at: .sessionSetup, .concurrencyLimit, 400, code: "1007", words: "too many concurrent sessions"),
        RefusalCase(
            "drmtoday-customdata", "another merchant",
            SpecialService(DRMtodayService.init) { $0.merchant = "known" },
            settings: ["merchant": "another"], .unauthenticated, 403, code: "3000"),
        RefusalCase(
            "doverunner", "another site",
            SpecialService(DoveRunnerService.init) {
                $0.siteID = "SITE"
            } token: {
                $0.token(claims: #"{"site_id":"ELSE"}"#)
            }, .notFound, 200, code: "1003", words: "ELSE"),
        RefusalCase(
            "doverunner", "another site, nested",
            SpecialService(DoveRunnerService.init) {
                $0.siteID = "SITE"
                $0.nestsErrors = true
            } token: {
                $0.token(claims: #"{"site_id":"ELSE"}"#)
            }, .forbidden, 200, code: "8002", words: "ELSE"),
        RefusalCase(
            "mux", "the asset is being prepared",
            SpecialService(MuxService.init) { $0.preparing = ["latchkey-demo"] }, at: .certificate,
            .serverTransient, 412),
    ]
}
