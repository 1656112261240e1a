import Foundation
import LatchkeyCore
import LatchkeyVendors

/// Features of one vendor, or of few: hosts, paths and header fields, and the form of key URIs.
struct VendorBrand: Sendable {
    /// The identifier of the vendor's profile, a prefix of its variants' identifiers; `nil` if there is no profile.
    let profile: String?
    /// The vendor's own name.
    let name: String
    /// Domains of the vendor.
    var hosts: [String] = []
    /// Parts of its services' paths.
    var paths: [String] = []
    /// Header fields of requests and replies that no profile's rule names.
    var headers: [String] = []
    /// Items of a request's query that no other vendor has.
    var queryItems: [String] = []
    /// Forms of key URIs.
    var keyURIs: [KeyURIForm] = []

    /// A form that a key URI may have.
    struct KeyURIForm: Sendable {
        let weight: Int
        /// The form, to end the sentence "The key URI …".
        let words: String
        let matches: @Sendable (KeyURI) -> Bool

        init(_ weight: Int, _ words: String, _ matches: @escaping @Sendable (KeyURI) -> Bool) {
            (self.weight, self.words, self.matches) = (weight, words, matches)
        }
    }
}

extension VendorBrand {
    /// Whether a profile is the vendor's, or a variant.
    func owns(_ candidate: VendorProfile) -> Bool {
        guard let profile else { return false }
        return candidate.identifier == profile || candidate.identifier.hasPrefix("\(profile)-")
    }

    func evidence(in uri: KeyURI) -> [VendorMatch.Evidence] {
        let host = uri.host.hostName
        let ofHost = hosts.first { host.isHost(in: $0) }.map {
            VendorMatch.Evidence(weight: 60, sentence: "The host \($0) in the key URI is the vendor's.")
        }
        let path = Array(("/" + uri.pathComponents.joined(separator: "/")).lowercased().utf8)
        return [ofHost].compactMap { $0 }
            + pathEvidence { path.place(of: $0) != nil }
            + keyURIs.filter { $0.matches(uri) }
            .map { .init(weight: $0.weight, sentence: "The key URI \($0.words).") }
    }

    func evidence(in facts: RequestFacts) -> [VendorMatch.Evidence] {
        let host = facts.host ?? ""
        let ofHost = hosts.first { host.isHost(in: $0) }.map {
            VendorMatch.Evidence(weight: 60, sentence: "The host \($0) is the vendor's.")
        }
        return [ofHost].compactMap { $0 } + pathEvidence { facts.pathHolds($0) }
            + headerEvidence { facts.header($0) != nil }
            + queryItems.filter { facts.queryNames.contains($0.lowercased()) }.prefix(1).map {
                .init(weight: 40, sentence: "The query item \($0) is the vendor's.")
            }
    }

    func evidence(in seen: ReplyShape) -> [VendorMatch.Evidence] { headerEvidence { seen.header($0) != nil } }

    /// - Parameter holds: whether a path holds a part, in lowercase.
    private func pathEvidence(_ holds: ([UInt8]) -> Bool) -> [VendorMatch.Evidence] {
        paths.first { holds(Array($0.lowercased().utf8)) }
            .map { [.init(weight: 35, sentence: "The path \($0) is the vendor's.")] } ?? []
    }

    private func headerEvidence(_ isThere: (String) -> Bool) -> [VendorMatch.Evidence] {
        headers.filter { isThere($0.lowercased()) }.prefix(1).map {
            .init(weight: 50, sentence: "The header field \($0) is the vendor's.")
        }
    }
}

extension VendorBrand.KeyURIForm {
    /// `skd://ID`, the most common form.
    static let oneComponent = Self(4, "is one identifier behind skd://, as with many vendors") { uri in
        !uri.remainder.isEmpty && !uri.remainder.contains { "/?;:".contains($0) }
    }

    /// A query item with a name that few vendors use.
    static func query(_ name: String, _ weight: Int) -> Self {
        Self(weight, "has the query item \(name)") { $0.queryValue(name) != nil }
    }

    static func host(_ name: String, _ weight: Int) -> Self {
        Self(weight, "names the host \(name)") { $0.host.caseInsensitiveEquals(name) }
    }
}

extension String {
    /// A host with user and port cut off, in lower case.
    var hostName: String {
        let host = split(separator: "@").last.map(String.init) ?? self
        return String(host.prefix { $0 != ":" }).lowercased()
    }

    /// Whether a host is a domain or belongs to it.
    func isHost(in domain: String) -> Bool { self == domain || hasSuffix(".\(domain)") }
}
