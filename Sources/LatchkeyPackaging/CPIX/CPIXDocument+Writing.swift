package import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyVault

extension CPIXDocument {
    /// The options for writing a document.
    package struct Export: Sendable {
        /// The version.
        package var version: Version
        /// The certificates in DER to which keys are encrypted; none writes them in clear.
        package var recipients: [[UInt8]]
        /// The systems for which signaling is written, and how.
        package var signaling: (systems: Systems, settings: SignalingSettings)?

        /// - Parameters:
        ///   - version: the version. Defaults to 2.3.
        ///   - recipients: the certificates in DER to which keys are encrypted; none writes them in clear.
        ///   - signaling: the systems for which signaling is written, and how. Defaults to none.
        package init(
            version: Version = .version2_3, recipients: [[UInt8]],
            signaling: (systems: Systems, settings: SignalingSettings)? = nil
        ) {
            self.version = version
            self.recipients = recipients
            self.signaling = signaling
        }
    }

    /// The DRM systems of a document's signaling.
    package enum Systems: Sendable {
        /// These for every key; a key that is incompatible with one is refused.
        case each([DRMSystem])
        /// The systems among these that are compatible with a key's scheme and the tenant's settings.
        case fitting([DRMSystem])
    }

    /// Writes the document, in the order of the schema.
    /// - Parameters:
    ///   - export: the options.
    ///   - generator: the source of document keys, MAC keys and IVs. Defaults to libcrypto.
    /// - Throws: a refusal with its place, such as for keys of several contents in 2.3, and for a system incompatible with a scheme.
    package func data(
        _ export: Export, using generator: any RandomNumberGenerator = CryptographicGenerator()
    ) throws(PackagingRefusal) -> Data {
        guard !keys.isEmpty else { throw .noKeys }
        let root = XMLTree.Element("CPIX", in: .cpix, declaring: [.pskc, .enc, .ds])
        let contents = Set(keys.map(\.content))
        if contents.count == 1 {
            root["contentId"] = contents.first?.text
            guard root["contentId"] != nil else { throw .content("CPIX@contentId") }
        } else if export.version == .version2_3 {
            throw .cpixContents
        }
        root["version"] = export.version.rawValue
        let delivery = try Self.delivery(export.recipients, in: root, generator)
        let list = root.add("ContentKeyList", in: .cpix)
        for key in keys { try key.write(to: list, delivery, namesContent: contents.count > 1) }
        if let signaling = export.signaling {
            let list = root.add("DRMSystemList", in: .cpix)
            try write(signaling.systems, signaling.settings, export.version, to: list)
            // The schema does not allow an empty list.
            if list.elements.isEmpty { root.remove(list) }
        }
        writePeriods(export.version, to: root)
        writeRules(to: root)
        do { try delivery?.fill() } catch { throw PackagingRefusal(error) }
        return XMLTree(root: root).data
    }

    private static func delivery(
        _ recipients: [[UInt8]], in root: XMLTree.Element, _ generator: any RandomNumberGenerator
    ) throws(PackagingRefusal) -> KeyDelivery? {
        guard !recipients.isEmpty else { return nil }
        let list = root.add("DeliveryDataList", in: .cpix)
        let elements = recipients.map { certificate in
            let element = list.add("DeliveryData", in: .cpix)
            element.add("DeliveryKey", in: .cpix).add("X509Data", in: .ds).add("X509Certificate", in: .ds).text =
                certificate.base64
            return element
        }
        do { return try KeyDelivery(elements, registered: [], using: generator) } catch {
            throw PackagingRefusal(cpix: "Recipient", at: "DeliveryDataList", "\(error.reason).", remedy: error.remedy)
        }
    }

    private func write(
        _ systems: Systems, _ settings: SignalingSettings, _ version: Version, to list: XMLTree.Element
    ) throws(PackagingRefusal) {
        let (wanted, isStrict) =
            switch systems {
            case .each(let systems): (systems, true)
            case .fitting(let systems): (systems, false)
            }
        for (index, key) in keys.enumerated() {
            for system in wanted {
                let scheme = key.scheme ?? system.customaryScheme
                guard system.schemes.contains(scheme) else {
                    guard isStrict else { continue }
                    throw .cpixSystem(system, "ContentKey \(index + 1)")
                }
                guard let contentKey = key.contentKey else {
                    guard isStrict else { continue }
                    throw .ivMissing([key.kid])
                }
                let signaling: DRMSignaling?
                do {
                    signaling = try DRMSignaling(
                        system, kid: key.kid, key: contentKey, content: key.content, scheme: scheme, settings: settings)
                } catch { throw PackagingRefusal(error) }
                guard let signaling else {
                    guard isStrict else { continue }
                    throw .cpixSystem(system, "ContentKey \(index + 1)")
                }
                signaling.write(to: list.add("DRMSystem", in: .cpix), system, key.kid, version)
            }
        }
    }

    private func writePeriods(_ version: Version, to root: XMLTree.Element) {
        guard !periods.isEmpty else { return }
        let list = root.add("ContentKeyPeriodList", in: .cpix)
        for period in periods {
            let element = list.add("ContentKeyPeriod", in: .cpix)
            element["id"] = period.id
            element["index"] = period.index.map { "\($0)" }
            for name in Period.detailNames(in: version) { element[name] = period.details[name] }
        }
    }

    private func writeRules(to root: XMLTree.Element) {
        guard !contract.rules.isEmpty else { return }
        let list = root.add("ContentKeyUsageRuleList", in: .cpix)
        for rule in contract.rules { rule.write(to: list.add("ContentKeyUsageRule", in: .cpix)) }
    }
}

extension CPIXDocument.Key {
    fileprivate func write(
        to list: XMLTree.Element, _ delivery: KeyDelivery?, namesContent: Bool
    ) throws(PackagingRefusal) {
        let element = list.add("ContentKey", in: .cpix)
        element["kid"] = kid.description
        element["explicitIV"] = iv?.revealed.base64
        element["commonEncryptionScheme"] = scheme?.rawValue
        if namesContent {
            element["contentId"] = content.text
            guard content.text != nil else { throw .content("ContentKey@contentId") }
        }
        let secret = element.add("Data", in: .cpix).add("Secret", in: .pskc)
        guard let delivery else {
            secret.add("PlainValue", in: .pskc).text = value.revealed.base64
            return
        }
        do { try delivery.write(value, to: secret) } catch { throw PackagingRefusal(error) }
    }
}

extension DRMSignaling {
    fileprivate func write(
        to element: XMLTree.Element, _ system: DRMSystem, _ kid: KeyID, _ version: CPIXDocument.Version
    ) {
        element["systemId"] = system.rawValue
        element["kid"] = kid.description
        if let box { element.add("PSSH", in: .cpix).text = box.base64 }
        if let contentProtection {
            element.add("ContentProtectionData", in: .cpix).text = contentProtection.utf8.base64
        }
        for (name, playlist) in [
            ("media", Playlist.media), (version == .version2_3 ? "master" : "multiVariant", .multivariant),
        ] {
            let data = element.add("HLSSignalingData", in: .cpix)
            data["playlist"] = name
            data.text = tag(in: playlist).utf8.base64
        }
        if let playReadyObject {
            element.add("SmoothStreamingProtectionHeaderData", in: .cpix).text = playReadyObject.base64
        }
    }
}

extension EncryptionContract.Rule {
    fileprivate func write(to element: XMLTree.Element) {
        element["kid"] = kid.description
        element["intendedTrackType"] = trackType.isEmpty ? nil : trackType
        for period in periods.sorted() { element.add("KeyPeriodFilter", in: .cpix)["periodId"] = period }
        for filter in video {
            let written = element.add("VideoFilter", in: .cpix)
            written["minPixels"] = filter.pixels.least.map { "\($0)" }
            written["maxPixels"] = filter.pixels.most.map { "\($0)" }
            written["hdr"] = filter.isHDR.map { "\($0)" }
            written["minFps"] = filter.framesPerSecond.least.map { "\($0)" }
            written["maxFps"] = filter.framesPerSecond.most.map { "\($0)" }
        }
        for filter in audio {
            let written = element.add("AudioFilter", in: .cpix)
            written["minChannels"] = filter.channels.least.map { "\($0)" }
            written["maxChannels"] = filter.channels.most.map { "\($0)" }
        }
    }
}

extension PackagingRefusal {
    fileprivate static let cpixContents = Self(
        cpix: "Content", at: "ContentKeyList", "CPIX 2.3 allows one content per document.",
        remedy: "Use 2.4, or one document per content.")

    fileprivate static func cpixSystem(_ system: DRMSystem, _ place: String) -> Self {
        Self(
            cpix: "System", at: place,
            "Its scheme is incompatible with DRM system \(system.rawValue), or the tenant has no URI for it.",
            remedy: "Omit the system.")
    }
}
