package import LatchkeyDecision
package import LatchkeyHTTP

extension VendorRequest {
    /// The token in the header `Authorization: Bearer …`; `nil` without the header.
    /// - Throws: `tokenMalformed` for a header of another scheme.
    package func bearerToken() throws(LicenseRefusal) -> String? {
        guard let header = request.headers[.authorization], !header.isEmpty else { return nil }
        guard header.lowercased().hasPrefix("bearer ") else {
            throw .tokenMalformed("The header Authorization does not begin with “Bearer ”.")
        }
        return String(header.dropFirst(7))
    }

    /// The token in a header field.
    /// - Throws: `tokenMissing`.
    package func token(inHeader name: HTTPHeaderName) throws(LicenseRefusal) -> String {
        guard let token = request.headers[name], !token.isEmpty else { throw .tokenMissing("the header \(name)") }
        return token
    }

    /// The token in a query item.
    /// - Throws: `tokenMissing`.
    package func token(inQuery name: String) throws(LicenseRefusal) -> String {
        guard let token = request.queryValue(name), !token.isEmpty else {
            throw .tokenMissing("the query item \(name)")
        }
        return token
    }
}
