import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVault

/// Fills a request's holes: keys, IVs, signaling. Adds nothing to the document except IVs and the values that 2.1 takes from the policy.
struct SPEKEFilling {
    let version: SPEKEVersion
    let settings: SignalingSettings
    /// Encrypts keys to their recipients; `nil` writes them in clear.
    let delivery: KeyDelivery?

    /// Fills a `ContentKey`.
    func fill(
        _ element: XMLTree.Element, with key: PackagedKey, needsIV: Bool, policy: PackagingPolicy
    ) throws(OpenSSLError) {
        if element["explicitIV"]?.isEmpty ?? needsIV { element["explicitIV"] = key.content.iv.revealed.base64 }
        if version == .version2_1 { fillHDCP(element, policy) }
        for old in element.elements("Data", in: .cpix) { element.remove(old) }
        let secret = element.add("Data", in: .cpix).add("Secret", in: .pskc)
        if let delivery {
            try delivery.write(key.content.key, to: secret)
        } else {
            secret.add("PlainValue", in: .pskc).text = key.content.key.revealed.base64
        }
    }

    /// Fills a `DRMSystem`.
    func fill(
        _ element: XMLTree.Element, _ system: DRMSystem, with signaling: DRMSignaling, policy: PackagingPolicy
    ) throws(PackagingRefusal) {
        for child in element.elements {
            guard
                child.name.namespace == XMLTree.Vocabulary.cpix.namespace
                    || child.name.namespace == XMLTree.Vocabulary.speke.namespace
            else { continue }
            guard let value = try value(of: child, signaling) else { continue }
            if value.isEmpty { element.remove(child) } else { child.text = value }
        }
        guard version == .version2_1 else { return }
        fill("HLSAllowedCPC", of: element, with: policy.allowedCPC[system])
        for child in element.elements("ContentProtectionData", in: .cpix) {
            fill("robustness", of: child, with: policy.robustness[system])
        }
    }

    /// The base64 of the value for an element; empty if the system has no such value, `nil` for elements that stay as they are.
    private func value(of element: XMLTree.Element, _ signaling: DRMSignaling) throws(PackagingRefusal) -> String? {
        switch element.name.local {
        case "PSSH": return signaling.box?.base64 ?? ""
        case "ContentProtectionData": return signaling.contentProtection?.utf8.base64 ?? ""
        case "SmoothStreamingProtectionHeaderData", "ProtectionHeader": return signaling.playReadyObject?.base64 ?? ""
        case "URIExtXKey": return signaling.uri.utf8.base64
        case "KeyFormat": return signaling.keyFormat.utf8.base64
        case "KeyFormatVersions": return "1".utf8.base64
        case "HLSSignalingData":
            // CPIX omits the attribute if there is only one element.
            guard let playlist = DRMSignaling.Playlist(element["playlist"] ?? "") else { throw .playlist }
            return signaling.tag(in: playlist).utf8.base64
        default: return nil
        }
    }

    /// Sets an attribute to the policy's value. An attribute sent without a value is removed if there is none.
    private func fill(_ attribute: String, of element: XMLTree.Element, with value: String?) {
        if let value {
            element[attribute] = value
        } else if element[attribute]?.isEmpty == true {
            element[attribute] = nil
        }
    }

    private func fillHDCP(_ key: XMLTree.Element, _ policy: PackagingPolicy) {
        let sent = key.first("HDCPData", in: .cpix)
        guard sent != nil || policy.hdcp != nil else { return }
        let element = sent ?? key.add("HDCPData", in: .cpix, before: key.elements.first)
        element["HLSHDCPLevel"] = policy.hdcpLevel
        let protection = element.first("HDCPOutputProtectionData", in: .cpix)
        if let xml = policy.outputProtection {
            (protection ?? element.add("HDCPOutputProtectionData", in: .cpix)).text = xml.utf8.base64
        } else if let protection {
            element.remove(protection)
        }
    }
}
