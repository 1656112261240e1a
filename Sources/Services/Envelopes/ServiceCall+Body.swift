public import Foundation
import LatchkeyHTTP
public import LatchkeyServer

extension ServiceCall {
    /// A body that is the SPC itself.
    ///
    /// Taken as `application/octet-stream` or without a type; with a warning as a form, URLSession's own choice where an
    /// app sets no type.
    public func rawSPC() throws(LicenseRefusal) -> Data {
        try checkType("application/octet-stream", of: "a raw SPC")
        return request.body
    }

    /// A body that is a JSON object. A form's type passes with a warning, as for a raw SPC.
    func json() throws(LicenseRefusal) -> JSONValue {
        try checkType("application/json", of: "a JSON body")
        guard let body = JSONValue(request.body), case .object = body else {
            throw .malformed("The body is not a JSON object.")
        }
        return body
    }

    /// A body that is a form, with its type or without one.
    public func form() throws(LicenseRefusal) -> FormBody {
        switch request.headers.mediaType {
        case nil, "application/x-www-form-urlencoded": break
        case let type: throw .mediaType(type)
        }
        guard let form = FormBody(request.body) else { throw .malformed("The body is not a form.") }
        return form
    }

    /// The SPC in a form's field `spc`; base64 that was not percent-encoded passes with a warning.
    public func spc(in form: FormBody) throws(LicenseRefusal) -> Data {
        let text = try form.required("spc")
        guard text.contains(" ") else { return try base64(text, in: "spc") }
        warn("formEscaping", "the base64 of “spc” is not percent-encoded")
        return try base64(text.replacing(" ", with: "+"), in: "spc")
    }

    /// The SPC in a member of a JSON object, `spc` unless given.
    func spc(in body: JSONValue, _ name: String = "spc") throws(LicenseRefusal) -> Data {
        try base64(try body.required(name), in: name)
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
    /// The value of a field that has to be there and say something.
    func required(_ name: String) throws(LicenseRefusal) -> String {
        guard let text = self[name], !text.isEmpty else { throw .malformed("There is no field “\(name)”.") }
        return text
    }
}

extension JSONValue {
    /// The text of a member that has to be there and say something.
    func required(_ name: String) throws(LicenseRefusal) -> String {
        guard let text = self[name]?.text, !text.isEmpty else { throw .malformed("“\(name)” is missing.") }
        return text
    }
}
