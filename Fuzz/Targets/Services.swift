import Foundation
import LatchkeyCore
import LatchkeyFairPlay

@testable import LatchkeyForms
@testable import LatchkeyVendorWire

private let date = Date(timeIntervalSince1970: 1_767_225_600)

/// Tokens of all kinds, each with any signature, and their terms.
func fuzzToken(_ data: Data) {
    let text = String(decoding: data, as: UTF8.self)
    let id = KeyID(bytes: Data(count: 16))
    if let token = try? JSONWebToken.checked(text, algorithms: ["HS256", "HS512", "RS256"], key: nil, date: date) {
        require(!token.isSigned(with: Secret("a key that nobody signs with")), "a signature out of nothing")
    }
    if let token = try? VuDRMToken(text) { _ = (token.terms, token.covers("id")) }
    if let token = try? CloudDRMToken(text, key: nil, date: date) { _ = (token.terms(at: date), id.map(token.covers)) }
    if let token = try? DoveRunnerToken(text, key: nil) { _ = try? token.terms(at: date) }
    if let token = try? DRMtodayToken(text, key: nil, date: date) { _ = token.objection(toAsset: "a", variant: nil) }
    if let token = try? NAGRAContentToken(text, key: nil, date: date) {
        _ = (token.objection(to: "c"), token.terms, token.sessionLimit)
    }
    if let token = try? MuxToken(text, for: "id", key: nil, date: date, breach: { _, _ in }) { _ = token.terms }
    if let token = try? AxinomMessage(text, key: nil, communicationKeyID: nil, date: date) { _ = token.terms }
    if let token = try? KeyOSAuthentication(data, key: nil, date: date) { _ = token.terms }
    _ = ExpressPlayToken(text, key: Secret("sealing key"))
}

/// JSON. Foundation must be able to read whatever is read here, and the value must be the same after writing and reading it
/// again.
func fuzzJSON(_ data: Data) {
    guard let value = try? JSONReader.value(of: data) else { return }
    let known = try? JSONSerialization.jsonObject(with: data, options: .fragmentsAllowed)
    require(known != nil, "read, though it is no JSON")
    guard let written = try? JSONEncoder().encode(value) else { return }
    require((try? JSONReader.value(of: written)) == value, "written, it is not what was read")
}

/// A form.
func fuzzForm(_ data: Data) {
    guard let form = FormBody(data) else { return }
    require(form.fields.count <= FormBody.limit, "more fields than the limit")
    _ = form["spc"]
}
