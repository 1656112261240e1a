package import Foundation
import LatchkeyCore
package import LatchkeyDecision
package import LatchkeyForms
import LatchkeyHTTP

extension VendorRequest {
    /// A body that is the SPC itself.
    ///
    /// The type is `application/octet-stream` or missing. A form's type leaves a warning: URLSession sends it if an app sets none.
    package func rawSPC() throws(LicenseRefusal) -> Data {
        try checkType("application/octet-stream", of: "a raw SPC")
        return request.body
    }

    /// A body that is a JSON object. A form's type leaves a warning, as for a raw SPC.
    package func json() throws(LicenseRefusal) -> JSONValue {
        try checkType("application/json", of: "a JSON body")
        let body: JSONValue
        do { body = try JSONReader.value(of: request.body) } catch { throw .malformed("The body \(error.reason)") }
        guard case .object = body else { throw .malformed("The body is not a JSON object.") }
        return body
    }

    /// A body that is a form, with its type or without one.
    package func form() throws(LicenseRefusal) -> FormBody {
        switch request.headers.mediaType {
        case nil, "application/x-www-form-urlencoded": break
        case let type: throw .mediaType(type)
        }
        guard let form = FormBody(request.body) else {
            throw .malformed("The body is not a form of UTF-8 and at most \(FormBody.limit) fields.")
        }
        return form
    }

    /// The SPC in a form's field `spc`. Base64 that was not percent-encoded leaves a warning.
    package func spc(in form: FormBody) throws(LicenseRefusal) -> Data {
        let text = try form.required("spc")
        guard text.contains(" ") else { return try base64(text, in: "spc") }
        warn("formEscaping", "the base64 of “spc” is not percent-encoded")
        let blank = UInt8(ascii: " ")
        return try base64(
            String(decoding: text.utf8.map { $0 == blank ? UInt8(ascii: "+") : $0 }, as: UTF8.self), in: "spc")
    }

    /// The SPC in a member of a JSON object. The name defaults to `spc`.
    package func spc(in body: JSONValue, _ name: String = "spc") throws(LicenseRefusal) -> Data {
        try base64(try body.required(name), in: name)
    }

    /// The bytes of a base64 text. Anything but standard base64 with padding leaves a warning.
    package func base64(_ text: String, in field: String) throws(LicenseRefusal) -> Data {
        if let bytes = Data(base64Encoded: text), !bytes.isEmpty { return bytes }
        guard let bytes = Data(lenientBase64: text) else { throw .malformed("“\(field)” is not base64.") }
        warn("base64", "“\(field)” is not standard base64 with padding")
        return bytes
    }

    private func checkType(_ wanted: String, of body: String) throws(LicenseRefusal) {
        switch request.headers.mediaType {
        case nil, wanted: return
        case "application/x-www-form-urlencoded":
            warn("contentType", "the content type of \(body) is that of a form")
        case let type: throw .mediaType(type)
        }
    }
}

extension FormBody {
    /// The value of a required field, which must not be empty.
    package func required(_ name: String) throws(LicenseRefusal) -> String {
        guard let text = self[name], !text.isEmpty else { throw .malformed("There is no field “\(name)”.") }
        return text
    }
}

extension JSONValue {
    /// The text of a required member, which must not be empty.
    package func required(_ name: String) throws(LicenseRefusal) -> String {
        guard let text = self[name]?.text, !text.isEmpty else { throw .malformed("“\(name)” is missing.") }
        return text
    }
}
