/// A refusal that a vendor's page documents, and that a service can be told to send.
public struct DocumentedRefusal: Sendable, Hashable {
    /// The vendor's code; the status where the page has no codes.
    public let code: String
    /// The status that the page gives the code.
    public let status: Int
    /// The endpoints that refuse so.
    public let endpoints: Set<ServiceEndpoint>
}

extension DocumentedRefusal {
    /// Several with one status.
    /// - Parameters:
    ///   - status: their status.
    ///   - endpoints: the endpoints that refuse so. Defaults to the license.
    ///   - codes: the codes, separated by blanks.
    static func all(_ status: Int, at endpoints: Set<ServiceEndpoint> = [.license], _ codes: String) -> [Self] {
        codes.split(separator: " ").map { Self(code: String($0), status: status, endpoints: endpoints) }
    }
}

extension VendorService {
    /// The status that the vendor's page gives a code at an endpoint, or else anywhere; 403 for a code that it does not have.
    func documentedStatus(of code: String, at endpoint: ServiceEndpoint) -> Int {
        let known = documentedRefusals.filter { $0.code == code }
        return (known.first { $0.endpoints.contains(endpoint) } ?? known.first)?.status ?? 403
    }
}
