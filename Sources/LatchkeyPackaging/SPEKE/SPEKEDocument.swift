import Foundation
import LatchkeyCore
import LatchkeyVault

/// A SPEKE request that has been checked for consistency.
struct SPEKEDocument {
    /// A requested key.
    struct Key {
        let element: XMLTree.Element
        let kid: KeyID
        /// The IV that the encryptor chose; `nil` if it leaves that to the provider.
        let explicitIV: Secret?
        /// The indexes of its periods.
        let periods: [UInt32]
    }

    /// Requested signaling.
    struct System {
        let element: XMLTree.Element
        let kid: KeyID
        let system: DRMSystem
    }

    let version: SPEKEVersion
    let tree: XMLTree
    let content: ContentName
    /// The only scheme of the document; `nil` in version 1.
    let scheme: EncryptionScheme?
    let keys: [Key]
    let systems: [System]
    let contract: EncryptionContract
    /// The elements that name recipients; empty for keys in clear.
    let deliveries: [XMLTree.Element]

    /// The maximum number of keys, and of systems, in one request.
    static let limit = 256

    /// - Parameters:
    ///   - tree: the document.
    ///   - version: the version in the request's headers.
    init(_ tree: XMLTree, version: SPEKEVersion) throws(PackagingRefusal) {
        let root = tree.root
        guard root.isNamed("CPIX", in: .cpix) else { throw .noDocument }
        self.tree = tree
        self.version = version
        content = try Self.content(of: root, version)
        let keys = root.first("ContentKeyList", in: .cpix)?.elements("ContentKey", in: .cpix) ?? []
        let systems = root.first("DRMSystemList", in: .cpix)?.elements("DRMSystem", in: .cpix) ?? []
        guard !keys.isEmpty else { throw .missingKeys }
        guard !systems.isEmpty else { throw .missingSystems }
        guard keys.count <= Self.limit, systems.count <= Self.limit * 8 else { throw .tooManyKeys }
        scheme = try Self.scheme(of: keys, version)
        let periods = try Self.periods(of: root)
        let rules = root.first("ContentKeyUsageRuleList", in: .cpix)
        self.keys = try Self.keys(keys, rules?.elements ?? [], periods)
        let kids = Set(self.keys.map(\.kid))
        contract = try Self.contract(rules, kids, Set(periods.keys), version)
        self.systems = try Self.systems(systems, kids, scheme)
        deliveries = root.first("DeliveryDataList", in: .cpix)?.elements("DeliveryData", in: .cpix) ?? []
    }

    /// The scheme of a system's keys.
    func scheme(for system: DRMSystem) -> EncryptionScheme { scheme ?? system.customaryScheme }

    private static func content(
        of root: XMLTree.Element, _ version: SPEKEVersion
    ) throws(PackagingRefusal) -> ContentName {
        let name = root[version == .version1 ? "id" : "contentId"] ?? ""
        guard !name.isEmpty else {
            guard version == .version1 else { throw .missingContentID }
            throw root["contentId"] == nil ? .missingID : .missingHeader
        }
        if let expected = version.documentVersion {
            guard let found = root["version"], !found.isEmpty else { throw .missingVersion }
            guard found == expected else { throw .documentVersion }
        }
        guard let content = ContentName(name) else { throw .contentIDTooLong }
        return content
    }

    private static func scheme(
        of keys: [XMLTree.Element], _ version: SPEKEVersion
    ) throws(PackagingRefusal) -> EncryptionScheme? {
        guard version != .version1 else { return nil }
        var schemes: Set<String> = []
        for key in keys {
            guard let kid = key["kid"], KeyID(uuid: kid) != nil else { throw .kid("ContentKey") }
            guard let scheme = key["commonEncryptionScheme"], !scheme.isEmpty else { throw .schemeMissing(kid) }
            schemes.insert(scheme)
        }
        guard let scheme = schemes.first, schemes.count == 1, let known = EncryptionScheme(scheme, in: version) else {
            throw .schemes
        }
        return known
    }

    private static func periods(of root: XMLTree.Element) throws(PackagingRefusal) -> [String: UInt32] {
        var periods: [String: UInt32] = [:]
        for period in root.first("ContentKeyPeriodList", in: .cpix)?.elements("ContentKeyPeriod", in: .cpix) ?? [] {
            guard let id = period["id"], !id.isEmpty, let index = period["index"].flatMap({ UInt32($0) }),
                periods.updateValue(index, forKey: id) == nil
            else { throw .periods }
        }
        return periods
    }

    private static func keys(
        _ elements: [XMLTree.Element], _ rules: [XMLTree.Element], _ periods: [String: UInt32]
    ) throws(PackagingRefusal) -> [Key] {
        var indexes: [KeyID: Set<UInt32>] = [:]
        for rule in rules {
            guard let kid = rule["kid"].flatMap({ KeyID(uuid: $0) }) else { continue }
            let ids = rule.elements("KeyPeriodFilter", in: .cpix).compactMap { $0["periodId"] }
            indexes[kid, default: []].formUnion(ids.compactMap { periods[$0] })
        }
        var keys: [Key] = []
        var seen: Set<KeyID> = []
        for element in elements {
            guard let kid = element["kid"].flatMap({ KeyID(uuid: $0) }) else { throw .kid("ContentKey") }
            guard seen.insert(kid).inserted else { throw .doubleKey(kid) }
            var iv: Secret?
            if let text = element["explicitIV"], !text.isEmpty {
                guard let bytes = Data(base64InXML: text), bytes.count == 16 else { throw .explicitIV(kid) }
                let stated = Secret(bytes)
                guard stated.isStatedIV else { throw .zeroIV(kid) }
                iv = stated
            }
            keys.append(Key(element: element, kid: kid, explicitIV: iv, periods: indexes[kid, default: []].sorted()))
        }
        return keys
    }

    private static func contract(
        _ rules: XMLTree.Element?, _ kids: Set<KeyID>, _ periods: Set<String>, _ version: SPEKEVersion
    ) throws(PackagingRefusal) -> EncryptionContract {
        do { return try EncryptionContract(rules, kids: kids, periods: periods) } catch {
            // Version 1 has no contract.
            if version == .version1 { return EncryptionContract(rules: []) }
            throw error
        }
    }

    private static func systems(
        _ elements: [XMLTree.Element], _ kids: Set<KeyID>, _ scheme: EncryptionScheme?
    ) throws(PackagingRefusal) -> [System] {
        var systems: [System] = []
        var seen: [KeyID: Set<DRMSystem>] = [:]
        for element in elements {
            guard let kid = element["kid"].flatMap({ KeyID(uuid: $0) }) else { throw .kid("DRMSystem") }
            guard kids.contains(kid) else { throw .unknownKey(kid) }
            guard let written = element["systemId"], let id = KeyID(uuid: written) else { throw .systemID }
            guard let system = DRMSystem(id) else { throw .system(id) }
            if let scheme, !system.schemes.contains(scheme) { throw .scheme(written) }
            guard seen[kid, default: []].insert(system).inserted else { throw .doubleSystem(kid) }
            systems.append(System(element: element, kid: kid, system: system))
        }
        return systems
    }
}

extension Data {
    /// - Parameter text: base64 of at least one byte, with blanks and line ends anywhere.
    init?(base64InXML text: String) {
        let compact = text.utf8.filter { !" \t\r\n".utf8.contains($0) }
        guard !compact.isEmpty, let data = Data(base64Encoded: Data(compact)) else { return nil }
        self = data
    }

    /// - Parameter text: a certificate's DER in base64, with or without PEM's delimiter lines.
    init?(certificateInXML text: String) {
        let lines = text.split(whereSeparator: \.isNewline).map { $0.trimmingCharacters(in: .whitespaces) }
        guard lines.contains(where: { $0.hasPrefix("-----BEGIN CERTIFICATE-----") }) else {
            self.init(base64InXML: text)
            return
        }
        self.init(base64InXML: lines.filter { !$0.hasPrefix("-----") }.joined())
    }
}
