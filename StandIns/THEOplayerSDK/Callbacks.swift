import Foundation
import StandInEngine
import StandInPlayers

/// What a hook answers with.
enum HookAnswer: Sendable {
    /// Send this.
    case request(Message)
    /// This is it.
    case respond(Data?)
    /// There is none.
    case error(NSError)
}

/// A request's content; the object is the app's to change at any time.
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

/// The one way in which all callback objects answer.
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
