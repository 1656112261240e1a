import LatchkeyHTTP
import LatchkeyServer

extension ServiceCall {
    /// The token in the header `Authorization: Bearer …`; nil without the header.
    /// - Throws: `tokenMalformed` for a header of another scheme.
    func bearerToken() throws(LicenseRefusal) -> String? {
        guard let header = request.headers["Authorization"], !header.isEmpty else { return nil }
        guard header.lowercased().hasPrefix("bearer ") else {
            throw .tokenMalformed("The header Authorization does not begin with “Bearer ”.")
        }
        return String(header.dropFirst(7))
    }
}
