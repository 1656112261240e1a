import Foundation
import LatchkeyCore
import LatchkeyDecision
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyMedia
import LatchkeyVendorWire

/// The entitlement server and the token service, which issue token URLs.
extension ExpressPlayService {
    /// Source: `Documentation/Vendors/ExpressPlay.md`, entitlement request.
    func entitlement(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let body = try call.json()
        guard let message = body["messageID"]?.text, KeyID(message) != nil else {
            throw .malformed("“messageID” is not a GUID.")
        }
        guard case .number(let version) = body["version"], version >= 1 else {
            throw .malformed("“version” is not a number from 1.")
        }
        guard let content = body["contentID"]?.text.flatMap({ KeyID($0) }) else {
            throw .malformed("“contentID” is not a GUID.")
        }
        let binding = try binding(body, call)
        guard entitles else { throw .notCovered("The customer may not see the content.") }
        guard case .one = environment.keys.key(content) else {
            throw LicenseRefusal(.unknownKey, reason: "There is no such content.", remedy: "Check the contentID.")
        }
        return .json(
            reply(isAllowed: true, to: message)
                .merging(["epTokenURL": .text(url(token(for: content, binding: binding), call))]) { $1 })
    }

    /// The kind of token that a request asks for. Registration and binding need a cookie; binding also needs a device that is registered for it.
    private func binding(_ body: JSONValue, _ call: ServiceCall) throws(LicenseRefusal) -> ExpressPlayBinding {
        guard let cookie = (body["customerCookie"] ?? .text("")).text else {
            throw .malformed("“customerCookie” is not a text.")
        }
        if cookie.count > 32 {
            try call.breach(of: ExpressPlayAPI.cookieLength, "“customerCookie” is longer than 32 characters.")
        }
        let digest = ExpressPlayBinding.digest(Secret(cookie))
        switch body["requestType"] {
        case nil, .number(1): return .timeBased
        case .number(2):
            if cookie.isEmpty { try call.breach(of: ExpressPlayAPI.cookie, Self.cookieMissing) }
            return .registration(cookie: digest)
        case .number(3):
            if cookie.isEmpty { try call.breach(of: ExpressPlayAPI.cookie, Self.cookieMissing) }
            guard let device = devices.device(of: digest) else {
                throw Self.notAuthenticated("No device is registered for the customerCookie.")
            }
            return .deviceBound(device: device)
        default: throw .malformed("“requestType” is not 1, 2 or 3.")
        }
    }

    private static let cookieMissing = "Registering a device needs a customerCookie."

    /// The refusal of a device that differs from the token's.
    static func notAuthenticated(_ reason: String) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: "-4001", status: 401), reason: reason,
            remedy: "Register the device with a request of type 2, and play once with its token.")
    }

    /// A refusal of the entitlement server has status 200 and `isAllowed` false. Only a broken request has an error status.
    func denial(_ error: ExpressPlayError, _ reason: String, of call: ServiceCall) -> HTTPResponse {
        let members = reply(isAllowed: false, to: JSONValue(call.request.body)?["messageID"]?.text ?? "")
            .merging(["error": .number(Double(error.code)), "errorText": .text(reason)]) { $1 }
        return .json(members, status: error.isDenial ? 200 : error.status)
    }

    private func reply(isAllowed: Bool, to message: String) -> [String: JSONValue] {
        let echo = echoesMessageID ? message : "00000000-0000-0000-0000-000000000000"
        return ["messageID": .text(echo), "version": .number(1), "isAllowed": .flag(isAllowed)]
    }

    /// Source: `Documentation/Vendors/ExpressPlay.md`, token service.
    func tokenURL(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        let form = call.request.method == .post ? try call.form() : nil
        let value = { (name: String) in call.request.queryValue(name) ?? form?[name] }
        guard let authenticator = value("customerAuthenticator"), !authenticator.isEmpty else {
            throw .tokenMissing("customerAuthenticator")
        }
        if let wanted = customerAuthenticator, Secret(authenticator) != wanted {
            throw .tokenMalformed("The customerAuthenticator is wrong.")
        }
        let key = try storedKey(kid: value("kid"), contentKey: value("contentKey"))
        let lifetime = try lifetime(value("expirationTime"), call)
        let rental = try value("rentalDuration").map { text throws(LicenseRefusal) in try Self.rental(text) }
        let url = url(token(for: key.id, lifetime: lifetime, rental: rental), call)
        return HTTPResponse(status: 200, contentType: "text/uri-list", bytes: Data(url.utf8))
    }

    /// An app's own server, which asks the token service and passes on its list of one URL, or returns the URL in JSON.
    ///
    /// Source: `Documentation/Vendors/ExpressPlay.md`, the app's own server.
    func appTokenURL(_ call: ServiceCall) throws(LicenseRefusal) -> HTTPResponse {
        guard let content = call.request.queryValue("contentId"),
            case .one(let key) = environment.keys.key(named: content)
        else {
            throw LicenseRefusal(
                .vendor(code: "-4018", status: 404), reason: "There is no such content.", remedy: "Check the contentId."
            )
        }
        guard entitles else { throw .notCovered("The customer may not see the content.") }
        let url = url(token(for: key.id), call)
        let takesLists = call.request.headers[.accept]?.contains("text/uri-list") ?? true
        guard takesLists, !answersJSON else { return .json(["url": .text(url)]) }
        return HTTPResponse(status: 200, contentType: "text/uri-list", bytes: Data("\(url)\r\n".utf8))
    }

    private func storedKey(kid: String?, contentKey: String?) throws(LicenseRefusal) -> StoredKey {
        let keys = environment.keys
        if let kid {
            guard case .one(let key) = keys.key(named: kid.hasPrefix("^") ? String(kid.dropFirst()) : kid) else {
                throw Self.refusal(-4018, "The kid is not one of the server's.")
            }
            return key
        }
        guard let text = contentKey, let bytes = Data(hexString: text), bytes.count == 16 else {
            throw Self.refusal(-2027, "The content key is not 32 hexadecimal digits.")
        }
        // Real tokens contain the key; here it must be in the store.
        guard let key = keys.keys.first(where: { $0.content.key == Secret(bytes) }) else {
            throw Self.refusal(-2005, "The content key is not one of the server's.")
        }
        return key
    }

    /// `+seconds` or a date; `nil` without one.
    private func lifetime(_ text: String?, _ call: ServiceCall) throws(LicenseRefusal) -> Duration? {
        guard let text else { return nil }
        let seconds =
            text.hasPrefix("+")
            ? Double(text.dropFirst())
            : UTCTimestamp.date(text)?.timeIntervalSince(environment.time.date)
        guard let seconds, seconds > 0 else { throw Self.refusal(-2002, "The expirationTime is not in the future.") }
        if seconds > 30 * 86_400 {
            try call.breach(of: ExpressPlayAPI.tokenExpiry, "The expirationTime is more than 30 days ahead.")
        }
        return .seconds(seconds)
    }

    private static func rental(_ text: String) throws(LicenseRefusal) -> Duration {
        guard let seconds = UInt32(text), seconds > 0 else {
            throw refusal(-6007, "The rentalDuration is not a number of seconds.")
        }
        return .seconds(Int64(seconds))
    }

    private static func refusal(_ code: Int, _ reason: String) -> LicenseRefusal {
        LicenseRefusal(
            .vendor(code: "\(code)", status: 400), reason: reason,
            remedy: "Send the request as the vendor documents it.")
    }

    /// The token URL on the host by which the client found the service.
    private func url(_ token: Secret, _ call: ServiceCall) -> String {
        "\(call.origin)/\(identifier)/hms/fp/rights/?ExpressPlayToken=\(token.revealedText)"
    }
}
