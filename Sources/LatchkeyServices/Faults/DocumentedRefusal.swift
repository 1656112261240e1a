/// A refusal that a vendor's page documents, and that a service can be made to send.
public struct DocumentedRefusal: Sendable, Hashable {
    /// The vendor's code; the status if the page has no codes.
    public let code: String
    /// The code's documented status.
    public let status: Int
    /// The endpoints with this refusal.
    public let endpoints: Set<ServiceEndpoint>
}

extension DocumentedRefusal {
    /// Several refusals with the same status.
    /// - Parameters:
    ///   - status: their status.
    ///   - endpoints: the endpoints with these refusals. Defaults to the license.
    ///   - codes: the codes, separated by blanks.
    static func all(_ status: Int, at endpoints: Set<ServiceEndpoint> = [.license], _ codes: String) -> [Self] {
        codes.split(separator: " ").map { Self(code: String($0), status: status, endpoints: endpoints) }
    }
}

extension VendorService {
    /// The documented status of a code at an endpoint, or else anywhere; 403 for an undocumented code.
    func documentedStatus(of code: String, at endpoint: ServiceEndpoint) -> Int {
        let known = documentedRefusals.filter { $0.code == code }
        return (known.first { $0.endpoints.contains(endpoint) } ?? known.first)?.status ?? 403
    }
}
