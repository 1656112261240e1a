import Foundation
import LatchkeyCore
import LatchkeyForms
import LatchkeyHTTP
import LatchkeyLicensing

/// An operator's identity as a trusted proxy states it.
///
/// Source: `Documentation/Server/Operators.md`.
struct ProxyIdentity: Sendable {
    let settings: ServerSettings.IdentityProxy

    /// - Returns: `nil` for a request without the header.
    /// - Throws: `AdminRefusal` for a header from elsewhere, a repeated header, a header together with a key, a request of another page,
    ///   and a person without a role.
    func person(of request: HTTPRequest) throws(AdminRefusal) -> Operator? {
        let users = request.headers.values(of: HTTPHeaderName(settings.userHeader))
        let groups = request.headers.values(of: HTTPHeaderName(settings.groupsHeader))
        guard !users.isEmpty || !groups.isEmpty else { return nil }
        guard let peer = AddressRange(address: request.remoteAddress),
            settings.addresses.contains(where: { $0.contains(peer) })
        else { throw .proxyHeader }
        guard request.headers[.authorization] == nil else { throw .twoIdentities }
        let user = users.first?.trimmingCharacters(in: .whitespaces) ?? ""
        guard users.count == 1, groups.count <= 1, (1...255).contains(user.utf8.count) else { throw .proxyWords }
        guard request.isOfConsole else { throw .crossSite }
        let names = (groups.first ?? "").split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        guard
            let grant = settings.grants.first(where: { grant in names.contains(where: grant.value.equalsByteForByte) })
        else { throw .noRole }
        return Operator(
            name: "proxy:\(user.onOneLine)", role: grant.role, tenants: grant.tenants,
            shownName: String(user.prefix(80)).onOneLine, proof: .proxy)
    }
}

extension AdminRefusal {
    fileprivate static let proxyHeader = Self(
        403, "adminProxyHeader",
        "The request states an operator's identity in a header that only the operators' proxy may send.",
        "Send the request through the proxy, or add its address to operators.identityProxy.addresses.")
    fileprivate static let twoIdentities = Self(
        400, "adminTwoIdentities", "The request has both an Authorization field and the proxy's identity headers.",
        "Configure the proxy not to forward Authorization.")
    fileprivate static let proxyWords = Self(
        400, "adminProxyWords", "The proxy's headers do not identify exactly one person.",
        "Configure the proxy to set each header once and to replace any that a client sends.")
    static let crossSite = Self(
        403, "adminCrossSite", "The request may come from another page: it has no X-Latchkey-Console.",
        "Send the header X-Latchkey-Console, or use an operator's key.")
    static let noRole = Self(
        403, "adminNoRole", "The server does not grant you a role.", "Ask the server's administrator for a role.")

    init(_ refusal: SignOnRefusal) { self.init(refusal.status, refusal.code, refusal.reason, refusal.remedy) }
}
