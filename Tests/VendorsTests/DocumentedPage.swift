import Foundation
import LatchkeyCore
import Testing

@_spi(Integrations) @testable import LatchkeyVendors

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

/// The table of codes on a vendor's page, and the profile that has to know them.
struct DocumentedPage: Sendable, CustomTestStringConvertible {
    let name: String
    let profile: VendorProfile
    /// A refusal in the form that the page shows.
    let reply: @Sendable (Row) -> HTTPReply
    /// Whether that form has the service's own words, and the request's id.
    var hasWords = true
    var hasRequestID = false

    var testDescription: String { name }

    /// A row of the table.
    struct Row: Sendable, CustomTestStringConvertible {
        let code: String
        let stage: VendorProfile.RefusalStage
        let status: Int?
        let meaning: String
        let kind: Diagnosis.Kind
        let isRetryable, wantsNewCredentials: Bool

        var testDescription: String { "\(stage) \(code)" }
    }

    var rows: [Row] {
        get throws {
            let file = URL(filePath: #filePath).deletingLastPathComponent()
                .appending(path: "../../Documentation/Vendors/\(name).md")
            let lines = try String(contentsOf: file, encoding: .utf8).split(separator: "\n")
            return lines.compactMap { line in
                let cells = line.split(separator: "|").map { $0.trimmingCharacters(in: .whitespaces.union(["`"])) }
                guard cells.count == 7, let stage = VendorProfile.RefusalStage(rawValue: cells[1]) else { return nil }
                return Row(
                    code: cells[0], stage: stage, status: Int(cells[2]), meaning: cells[3],
                    kind: Diagnosis.Kind(rawValue: cells[4]), isRetryable: cells[5] == "yes",
                    wantsNewCredentials: cells[6] == "yes")
            }
        }
    }

    /// The error of a refusal at the row's stage; `nil` if the client accepts the reply.
    func error(_ row: Row) -> IntegrationError? {
        let vendor = profile.unchecked
        let exchange = HTTPExchange(request: URLRequest(url: URL(filePath: "/")), reply: reply(row))
        do {
            switch row.stage {
            case .session: _ = try vendor.session(from: exchange, .setup)
            case .license, .lookup:
                _ = try vendor.license(
                    from: exchange, LicenseContext(keyURI: "skd://k", contentIdentifier: ContentIdentifier("k")))
            }
            return nil
        } catch { return error as? IntegrationError }
    }

    private static func text(_ status: Int, _ body: String, _ headers: [(name: String, value: String)] = [])
        -> HTTPReply
    {
        HTTPReply(status: status, headers: headers, body: Data(body.utf8))
    }

    static let all: [Self] = [
        Self(
            name: "CloudDRM", profile: .cloudDRM,
            reply: {
                let status = $0.status ?? 0
                return text(
                    status,
                    #"{"code":"\#($0.code)","status":\#(status),"message":"no rights","requestId":"r-1"}"#)
            }, hasRequestID: true),
        Self(
            name: "NAGRA", profile: .nagra,
            reply: {
                text(400, #"{"errorCode":\#($0.code),"message":"no rights"}"#, [("x-correlation-id", "r-1")])
            },
            hasRequestID: true),
        Self(
            name: "Verimatrix", profile: .verimatrix,
            reply: { text($0.status ?? 0, #"{"code":"\#($0.code)","message":"no rights"}"#) }),
        Self(
            name: "DoveRunner", profile: .doveRunner,
            reply: { text(200, #"{"errorCode":"\#($0.code)","message":"no rights"}"#) }),
        Self(
            name: "ExpressPlay", profile: .expressPlay,
            reply: { text(400, "<html><body>Error \($0.code): no rights</body></html>") }, hasWords: false),
        Self(
            name: "DRMtoday", profile: .drmToday,
            reply: {
                text(403, "", [("x-dt-resp-code", $0.code), ("x-dt-error-message", "no rights")])
            }),
        Self(
            name: "Brightcove", profile: .brightcove,
            reply: {
                text(
                    $0.status ?? 0,
                    #"[{"error_code":"ACCESS_DENIED","error_subcode":"\#($0.code)","message":"no rights"}]"#)
            }),
        Self(
            name: "Naver", profile: .naver,
            reply: {
                // The gateway's codes have statuses, those of the service behind it have none.
                let name = $0.status == nil ? "code" : "errorCode"
                return text($0.status ?? 400, #"{"error":{"\#(name)":"\#($0.code)","message":"no rights"}}"#)
            }),
        Self(
            name: "Mux", profile: .mux,
            reply: { text(Int($0.code) ?? 0, #"{"error":{"type":"bad","messages":["no rights"]}}"#) }),
        Self(
            name: "Axinom", profile: .axinom,
            reply: {
                // The rows without a status are statuses.
                let code = $0.status == nil ? [] : [(name: "X-AxDRM-ErrorCode", value: $0.code)]
                return text($0.status ?? Int($0.code) ?? 0, "", [("X-AxDRM-ErrorMessage", "no rights")] + code)
            }),
    ]
}
