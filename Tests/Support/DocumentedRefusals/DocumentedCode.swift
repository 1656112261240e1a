/// A refusal as a vendor's page documents it: the service's response, and where a client has to look.
public struct DocumentedCode: Sendable, Hashable, CustomTestStringConvertibleByName {
    /// The emulated service, which is the profile's name, too.
    public let service: String
    /// The vendor's code; the status if the page has no codes.
    public let code: String
    /// The status; inferred if `isStatusDocumented` is false.
    public let status: Int
    public let isStatusDocumented: Bool
    /// The endpoint, as `ServiceEndpoint` names it.
    public let endpoint: String
    public let form: Form

    /// The places of code, words and request identifier.
    public enum Form: Sendable, Hashable {
        /// JSON: the paths of the code, if the form has one, of the words, and of the request's identifier, if the body has it.
        case json(code: String?, words: String, requestID: String? = nil)
        /// Header fields: of the code, if there is one, and of the words.
        case headers(code: String?, words: String)
        /// HTML that contains the code and no words.
        case html
        /// A text that contains the words.
        case text
        /// JSON whose member `message` holds JSON with the code and the words.
        case nested(code: String, words: String)
    }

    public var name: String { "\(service) \(endpoint) \(code)" }
}

/// Shows rows of a table by their names.
public protocol CustomTestStringConvertibleByName: CustomStringConvertible {
    var name: String { get }
}

extension CustomTestStringConvertibleByName {
    public var description: String { name }
}

extension DocumentedCode {
    /// All rows.
    public static let all =
        cloudDRM + verimatrix + nagra + doveRunner + axinom + drmToday + expressPlay + mux + brightcove + naver

    private static func rows(
        _ service: String, _ status: Int, at endpoints: [String] = ["license"], _ form: Form, inferred: Bool = false,
        _ codes: String
    ) -> [DocumentedCode] {
        endpoints.flatMap { endpoint in
            codes.split(separator: " ").map { code in
                DocumentedCode(
                    service: service, code: String(code), status: status, isStatusDocumented: !inferred,
                    endpoint: endpoint, form: form)
            }
        }
    }

    // developers.drm.cloud/licence-acquisition/error-codes, also docs.videokit.cloud; read on 2026-11-27.
    private static let cloudDRM = [
        (
            403,
            "drm_4002 drm_4003 drm_4005 drm_3030 drm_3031 drm_3032 drm_3033 drm_3034 drm_3035 drm_3036 drm_3037 drm_3038 drm_3039 drm_3100"
        ), (500, "common_3"),
    ].flatMap { rows("cloud-drm", $0, .json(code: "code", words: "message", requestID: "requestId"), $1) }

    // docs.verimatrix.com/docs/client-status-codes-fairplay and …-authorization; read on 2026-11-27. The JSON around them is not public.
    private static let verimatrix = [
        (500, "MDRM-1000 MDRM-1009 MDRM-1010 MDRM-1012 MDRM-500 MDRM-507"), (404, "MDRM-1003 MDRM-1005 MDRM-1011"),
        (400, "MDRM-1004 MDRM-1006 MDRM-1007 MDRM-1008 MDRM-1013 MDRM-1014"), (503, "MDRM-1015"), (403, "MDRM-503"),
        (
            401,
            "MDRM-1001 MDRM-1002 MDRM-501 MDRM-502 MDRM-504 MDRM-505 MDRM-506 MDRM-508 MDRM-509 MDRM-510 MDRM-511 MDRM-512 MDRM-513"
        ),
    ].flatMap { rows("verimatrix", $0, .json(code: "code", words: "message"), $1) }

    // docs.nagra.com, CONNECT Player SDK 5 for Android: SSM (5.32), PRM (5.29), PlayReady (5.29, 5.36); read on 2026-11-27. 400 and 500 are
    // documented, which number has which is not.
    private static let nagra =
        rows(
            "nagra", 400, at: sessions, .json(code: "errorCode", words: "message"), inferred: true,
            "1000 1001 1003 1004 1005 1006 1007 1008 1009 1011 1012 1013 1017 1018 3001 3004")
        + rows(
            "nagra", 500, at: sessions, .json(code: "errorCode", words: "message"), inferred: true, "4000 4001")
        + rows(
            "nagra", 400, .json(code: "errorCode", words: "message"), inferred: true,
            "1001 1002 1003 1004 1005 1006 2001 2002 2102 2103 2104 3001 3002 3003 3004 3005 3006 3007 3008 3009 3011")
        + rows(
            "nagra", 400, .json(code: "errorCode", words: "message"), inferred: true,
            """
            4000 4001 4002 4003 4004 4005 4006 4007 4008 4009 4010 4011 4012 4013 4014 4015 4016 4017 4018 4019 4020 4021 4022 4024 4025 4027
            """)
    private static let sessions = ["sessionSetup", "sessionHeartbeat", "sessionTeardown"]

    // Documentation/Vendors/DoveRunner.md, P4. 200 is documented for certificates alone.
    private static let doveRunner =
        rows("doverunner", 200, at: ["certificate"], .json(code: "errorCode", words: "message"), "1003 7301")
        + rows(
            "doverunner", 200, .json(code: "errorCode", words: "message"), inferred: true,
            "1003 7001 7009 7011 7012 7016 7018 7019 7301 7304 7305 7308 7316 7317 8710 8711 9001 9999")
        + rows("doverunner", 200, .nested(code: "ERROR", words: "MESSAGE"), inferred: true, "8002")

    // docs.axinom.com/services/drm/quickstart/troubleshooting, read on 2026-11-27; the code is that of a public client.
    private static let axinom =
        [400, 403, 500].flatMap { rows("axinom", $0, .headers(code: nil, words: "X-AxDRM-ErrorMessage"), "\($0)") }
        + rows(
            "axinom", 403, .headers(code: "X-AxDRM-ErrorCode", words: "X-AxDRM-ErrorMessage"), inferred: true, "1")

    // Documentation/Vendors/DRMtoday.md, DT3 and DT4. The documentation says that the status is not 2xx.
    private static let drmToday = [
        (500, "1000"), (400, "2000 10001 30000 43000"),
        (403, "3000 20101 60000 60001 60100 70000 70001 80000 80001 90000 90001"),
    ].flatMap {
        rows("drmtoday", $0, .headers(code: "x-dt-resp-code", words: "x-dt-error-message"), inferred: true, $1)
    }

    // Documentation/Vendors/ExpressPlay.md, EP1: 400, 401, 404 and 5xx are documented, by kind and not by code.
    private static let expressPlay = [
        (
            400,
            """
            -2002 -2003 -2005 -2019 -2020 -2021 -2022 -2023 -2025 -2027 -2033 -2036 -2037 -3004 -4018 -4019 -4020 -4021 -4022 -4024 \
            -5003 -6001 -6002 -6003 -6005 -6007 -6008 -6009
            """
        ), (401, "-2017 -2018 -2031 -4001 -4010 -6006"), (500, "-6004"),
    ].flatMap { rows("expressplay", $0, at: ["license", "token", "onPremise"], .html, inferred: true, $1) }

    // Documentation/Vendors/Mux.md, M2.
    private static let mux = [400, 403, 404, 412, 500].flatMap {
        rows("mux", $0, at: ["certificate", "license"], .text, "\($0)")
    }

    // apis.support.brightcove.com/playback-restrictions/references/playback-rights-errors.html; read on 2026-11-27. The shape is inferred.
    private static let brightcove = [
        (400, "DUPLICATE_PARAMETERS"), (401, "TOKEN_REQUIRED TOKEN_VALIDATION"), (404, "VIDEO_NOT_FOUND"),
        (
            403,
            """
            ACCOUNT_ID CLIENT_GEO CLIENT_IP DOMAIN OFFERS TAGS VIDEO_NOT_PLAYABLE DENIED_BY_STREAM_LIMIT_CREATE \
            DENIED_BY_STREAM_LIMIT_RENEW DENIED_BY_STREAM_LIMIT DENIED_BY_DEVICE_LIMITING
            """
        ),
    ].flatMap { rows("brightcove", $0, .json(code: "0.error_subcode", words: "0.message"), $1) }

    // api.ncloud-docs.com/docs/en/one-click-multi-drm-error-code, of 2026-09-17; its column of statuses is empty.
    private static let naver = [
        (500, "280000 280002"), (400, "280001 280003 281003 281004 281005 2810011 2810012"),
    ].flatMap {
        rows(
            "naver", $0, at: ["certificate", "license"], .json(code: "error.code", words: "error.message"),
            inferred: true, $1)
    }
}
