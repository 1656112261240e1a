import Foundation
import StandInEngine
import StandInPlayers

/// The answer of a hook.
enum HookAnswer: Sendable {
    /// Send this request.
    case request(Message)
    /// Use this response.
    case respond(Data?)
    /// There is no response.
    case error(NSError)
}

/// The content of a request. The app can change the request object at any time.
struct Message: Sendable {
    let url: String
    let method: String
    let headers: [String: String]
    let body: Data?

    init(_ request: Request) {
        url = request.url
        method = request.method
        headers = request.headers
        body = request.body
    }

    init(url: String, method: String, headers: [String: String], body: Data? = nil) {
        self.url = url
        self.method = method
        self.headers = headers
        self.body = body
    }
}

/// The common implementation of all callback objects.
struct HookCallback: Sendable {
    let answer: SingleAnswer<HookAnswer>
    let log: StandInLog

    func fail(_ error: any Error) {
        if !AppleError.isNSError(error) { log.note(.errorWithoutText, "\(type(of: error))") }
        answer.give(.error(AppleError.passedOn(error)))
    }
}

struct CertificateCallback: CertificateRequestCallback, Sendable {
    let hook: HookCallback

    func request(request: CertificateRequest) { hook.answer.give(.request(Message(request))) }
    func respond(certificate: Data) { hook.answer.give(.respond(certificate)) }
    func error(error: any Error) { hook.fail(error) }
}

struct LicenseCallback: LicenseRequestCallback, Sendable {
    let hook: HookCallback

    func request(request: LicenseRequest) { hook.answer.give(.request(Message(request))) }
    func respond(license: Data) { hook.answer.give(.respond(license)) }
    func error(error: any Error) { hook.fail(error) }
}

struct IdentifierCallback: ExtractContentIdCallback, Sendable {
    let hook: HookCallback

    func respond(contentID: Data?) { hook.answer.give(.respond(contentID)) }
    func error(error: any Error) { hook.fail(error) }
}
