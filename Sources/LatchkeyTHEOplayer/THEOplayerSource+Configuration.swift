#if canImport(THEOplayerSDK)
    import Foundation
    import Latchkey
    import THEOplayerSDK

    nonisolated extension THEOplayerSource {
        init(_ configuration: any DRMConfiguration) {
            for (name, value) in configuration.integrationParameters ?? [:] {
                if let text = Self.text(value) { parameters[name] = text } else { unread.insert(name) }
            }
            for fields in configuration.headers ?? [] { headers.merge(fields) { $1 } }
            query = configuration.queryParameters ?? [:]
            if let system = (configuration as? any FairPlayDRMConfigurationProtocol)?.fairplay {
                take(system.licenseAcquisitionURL?.absoluteString, system.certificateURL?.absoluteString)
                headers.merge(system.headers ?? [:]) { stated, _ in stated }
                if system.licenseType == .persistent { purpose = .persistable }
            } else if let system = EncodedSystem(in: configuration) {
                take(system.text("licenseAcquisitionURL"), system.text("certificateURL"))
                headers.merge(system.members["headers"] as? [String: String] ?? [:]) { stated, _ in stated }
            }
        }

        private mutating func take(_ license: String?, _ certificate: String?) {
            let addresses = ["licenseURL": license, "certificateURL": certificate].compactMapValues { $0 }
            parameters.merge(addresses) { stated, _ in stated }
        }

        /// A value as text; `nil` if it cannot be written as text. Values that passed through Objective-C are `NSNumber`s, whose 0 and 1 also
        /// cast to `Bool`.
        private static func text(_ given: Any) -> String? {
            switch given {
            case let text as String: text
            case let url as URL: url.absoluteString
            case let flag as Bool where type(of: given) == Bool.self: "\(flag)"
            case let number as NSNumber: number.isTruthValue ? "\(number.boolValue)" : number.stringValue
            case let value as any BinaryInteger: "\(value)"
            case let value as any BinaryFloatingPoint: "\(value)"
            case let value as any Encodable: (try? JSONEncoder.sorted.encode(value)).flatMap(text(json:))
            default: JSONSerialization.isValidJSONObject(given) ? text(object: given) : nil
            }
        }

        /// The content of JSON that is a single string; otherwise the JSON itself.
        private static func text(json: Data) -> String? {
            let value = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
            return value as? String ?? String(data: json, encoding: .utf8)
        }

        private static func text(object: Any) -> String? {
            let options: JSONSerialization.WritingOptions = [.sortedKeys, .withoutEscapingSlashes]
            return (try? JSONSerialization.data(withJSONObject: object, options: options))
                .flatMap { String(data: $0, encoding: .utf8) }
        }
    }

    /// The FairPlay part of a configuration for several systems. These members are not public, but THEOplayer encodes them.
    private nonisolated struct EncodedSystem {
        let members: [String: Any]

        init?(in configuration: any DRMConfiguration) {
            guard let json = try? JSONEncoder().encode(configuration),
                let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any],
                let system = Self.fairPlay(in: members)
            else { return nil }
            self.members = system
        }

        func text(_ name: String) -> String? { members[name] as? String }

        private static func fairPlay(in members: [String: Any]) -> [String: Any]? {
            if let system = members["fairplay"] as? [String: Any] { return system }
            return members.values.lazy.compactMap { ($0 as? [String: Any])?["fairplay"] as? [String: Any] }.first
        }
    }

    nonisolated extension NSNumber {
        /// Whether it was made from a `Bool`: no other value here is a one-byte number in Objective-C.
        fileprivate var isTruthValue: Bool { ["c", "B"].contains(String(cString: objCType)) }
    }

    nonisolated extension JSONEncoder {
        fileprivate static var sorted: JSONEncoder {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
            return encoder
        }
    }

    nonisolated extension LicenseRequest {
        /// Whether the source enables cookies for the request. The property is not public, but the SDK encodes it.
        var wantsCookies: Bool {
            guard let json = try? JSONEncoder().encode(self),
                let members = try? JSONSerialization.jsonObject(with: json) as? [String: Any]
            else { return false }
            return members["useCredentials"] as? Bool == true
        }
    }
#endif
