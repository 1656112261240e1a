package import Foundation
import LatchkeyCore
package import LatchkeyVault

extension CPIXDocument {
    /// Reads a document.
    /// - Parameters:
    ///   - data: CPIX 2.3, 2.3.1 or 2.4 in UTF-8; at most 256 KiB.
    ///   - recipients: the recipients whose private keys open encrypted keys. Defaults to none: keys in clear only.
    ///   - content: the content of keys for which the document states no `contentId`. Defaults to `CPIX@id`, where documents of the SPEKE 1
    ///     age have it.
    /// - Throws: why it is refused, with the place. Then none of it counts.
    package init(
        _ data: Data, recipients: [CPIXRecipient] = [], content: ContentName? = nil
    ) throws(PackagingRefusal) {
        let tree: XMLTree
        do { tree = try XMLTree(data) } catch {
            throw PackagingRefusal(cpix: "XML", error.reason, status: error.status, remedy: error.remedy)
        }
        let root = tree.root
        guard root.isNamed("CPIX", in: .cpix) else { throw .cpixRoot }
        guard ["2.3", "2.3.1", "2.4"].contains(root["version"] ?? "2.3") else { throw .cpixVersion }
        let elements = root.first("ContentKeyList", in: .cpix)?.elements("ContentKey", in: .cpix) ?? []
        guard elements.count <= Self.keyLimit else { throw .cpixTooMany }
        let stated = { (name: String) in root[name].flatMap { $0.isEmpty ? nil : $0 }.map { ContentName($0) } }
        let fallback = stated("contentId") ?? content.map { .some($0) } ?? stated("id")
        let leaves = try Self.leaves(elements)
        guard !leaves.isEmpty else { throw .noKeys }
        let deliveries = root.first("DeliveryDataList", in: .cpix)?.elements("DeliveryData", in: .cpix) ?? []
        let opening = try CPIXOpening(deliveries, recipients: recipients)
        keys = []
        for leaf in leaves { keys.append(try Key(leaf, content: fallback, opening)) }
        periods = try Self.periods(root)
        let rules = root.first("ContentKeyUsageRuleList", in: .cpix)?.elements("ContentKeyUsageRule", in: .cpix) ?? []
        let kids = Set(keys.map(\.kid))
        let names = Set(periods.map(\.id))
        var read: [EncryptionContract.Rule] = []
        for (index, element) in rules.enumerated() {
            guard let rule = EncryptionContract.Rule(element, needsFilters: false), kids.contains(rule.kid),
                rule.periods.isSubset(of: names)
            else { throw .rule("ContentKeyUsageRule \(index + 1)") }
            read.append(rule)
        }
        contract = EncryptionContract(rules: read)
        try checkIVs()
    }

    /// A key's element, with its place in the document.
    fileprivate struct Leaf {
        let element: XMLTree.Element
        let kid: KeyID
        let place: String
    }

    /// The keys on which no other key depends: those encrypt media.
    private static func leaves(_ elements: [XMLTree.Element]) throws(PackagingRefusal) -> [Leaf] {
        var all: [KeyID: XMLTree.Element] = [:]
        var leaves: [Leaf] = []
        for (index, element) in elements.enumerated() {
            let place = "ContentKey \(index + 1)"
            guard let kid = element["kid"].flatMap({ KeyID(uuid: $0) }) else { throw .cpixKID(place) }
            guard all.updateValue(element, forKey: kid) == nil else { throw .twice(place) }
            leaves.append(Leaf(element: element, kid: kid, place: place))
        }
        var roots: Set<KeyID> = []
        for leaf in leaves {
            guard let written = leaf.element["dependsOnKey"] else { continue }
            guard let kid = KeyID(uuid: written), let root = all[kid], root["dependsOnKey"] == nil else {
                throw .root(leaf.place)
            }
            roots.insert(kid)
        }
        return leaves.filter { !roots.contains($0.kid) }
    }

    private static func periods(_ root: XMLTree.Element) throws(PackagingRefusal) -> [Period] {
        var periods: [Period] = []
        var ids: Set<String> = []
        for element in root.first("ContentKeyPeriodList", in: .cpix)?.elements("ContentKeyPeriod", in: .cpix) ?? [] {
            let index = element["index"].map { UInt32($0) }
            guard let id = element["id"], XMLNames.isName(id), index != .some(nil), ids.insert(id).inserted else {
                throw .cpixPeriods
            }
            let details = Period.detailNames(in: .version2_4).reduce(into: [:]) { $0[$1] = element[$1] }
            periods.append(Period(id: id, index: index ?? nil, details: details))
        }
        return periods
    }
}

extension CPIXDocument.Key {
    fileprivate init(
        _ leaf: CPIXDocument.Leaf, content: ContentName??, _ opening: CPIXOpening
    ) throws(PackagingRefusal) {
        let (element, place) = (leaf.element, leaf.place)
        let named = element["contentId"].map { ContentName($0) } ?? content
        guard let name = named ?? nil else { throw .content(place) }
        let scheme = element["commonEncryptionScheme"].map { EncryptionScheme(rawValue: $0) }
        guard scheme != .some(nil) else { throw .cpixScheme(place) }
        var iv: Secret?
        if let text = element["explicitIV"], !text.isEmpty {
            guard let bytes = Data(base64InXML: text), bytes.count == 16 else { throw .iv(place) }
            iv = Secret(bytes)
        }
        guard let secret = element.first(path: [("Data", .cpix), ("Secret", .pskc)]) else { throw .value(place) }
        let value: Secret
        if secret.first("EncryptedValue", in: .pskc) != nil {
            value = try opening.contentKey(leaf.kid, in: secret, at: place)
        } else {
            value = Secret(secret.first("PlainValue", in: .pskc).flatMap { Data(base64InXML: $0.text) } ?? Data())
        }
        guard value.count == 16 else { throw .value(place) }
        self.init(kid: leaf.kid, content: name, value: value, iv: iv, scheme: scheme ?? nil)
    }
}
