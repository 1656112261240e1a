#if canImport(AVFoundation)
    public import Foundation
    import Latchkey
    import LatchkeyAVFoundation

    /// An outcome of a key request, for code outside Swift. Contains no secret, except any in the key URI itself.
    #if canImport(ObjectiveC)
        @objcMembers @objc(LatchkeyOutcome)
    #endif
    public final class HostOutcome: NSObject, Sendable {
        /// `failure`, `notice` or `event`.
        public let kind: String
        /// The code: for a failure the error's code, such as `forbidden`, or `player` for the player's own error; for a notice
        /// its name, such as `succeeded` or `stuck`; for an event its name, such as `renewalPlanned`.
        public let code: String
        /// The app's name for the title; `nil` if unknown.
        public let title: String?
        /// The key's URI; `nil` if the outcome concerns all keys.
        public let keyURI: String?
        /// A notice's detail: the purpose of the accepted key, or the protection of the displays.
        public let detail: String?
        /// The error of a failure: domain, number, text and, if it is Latchkey's, a remedy (`localizedRecoverySuggestion`).
        public let error: NSError?
        /// Whether the same request may succeed later.
        public let mayRetry: Bool
        /// The key of an app's localized text for the viewer; `nil` if there is no text.
        public let viewerKey: String?
        /// The text for the viewer: the app's own, or an English one; `nil` if there is no text.
        public let viewerText: String?
        /// All properties as a flat JSON object: `kind`, `code`, and if known `title`, `key`, `detail`, `domain`, `number`,
        /// `message`, `remedy`, `mayRetry`, `viewerKey`, `viewerText`. An event also has the members of `KeyEvent`'s JSON.
        public let json: String

        private init(
            kind: String, code: String, title: AssetID?, key: String?, detail: String? = nil, error: NSError? = nil,
            mayRetry: Bool = false, viewer: ViewerMessage? = nil, members: [String: Any] = [:]
        ) {
            (self.kind, self.code, self.title, keyURI) = (kind, code, title?.rawValue, key)
            (self.detail, self.error, self.mayRetry) = (detail, error, mayRetry)
            (viewerKey, viewerText) = (viewer?.key, viewer?.localized())
            let texts = [
                "kind": kind, "code": code, "title": self.title, "key": key, "detail": detail, "domain": error?.domain,
                "message": error?.localizedDescription, "viewerKey": viewerKey, "viewerText": viewerText,
                "remedy": error?.userInfo[NSLocalizedRecoverySuggestionErrorKey] as? String,
            ]
            let failure: [String: Any] = error.map { ["number": $0.code, "mayRetry": mayRetry] } ?? [:]
            json = jsonText(members.merging(failure) { $1 }.merging(texts.compactMapValues { $0 }) { $1 })
        }
    }

    extension HostOutcome {
        convenience init(_ failure: KeyFailure) {
            let known = failure.loaderError
            self.init(
                kind: "failure", code: known?.code ?? "player", title: failure.asset, key: failure.key?.raw,
                error: failure.error,
                mayRetry: known?.isRetryable ?? false,
                viewer: known?.viewerMessage ?? (known == nil ? .unavailable : nil))
        }

        convenience init(_ notice: AVPlayerKeys.Notice) {
            let (code, key, detail): (String, KeyURI?, String?) =
                switch notice {
                case .succeeded(let key, let purpose): ("succeeded", key, purpose.rawValue)
                case .streamedInstead(let key): ("streamedInstead", key, nil)
                case .stuck: ("stuck", nil, nil)
                case .protectionChanged(let key, let protection): ("protectionChanged", key, protection.rawValue)
                case .sessionIdentifierChanged: ("sessionIdentifierChanged", nil, nil)
                case .reportsPending: ("reportsPending", nil, nil)
                }
            self.init(kind: "notice", code: code, title: nil, key: key?.raw, detail: detail)
        }

        convenience init(_ event: KeyEvent) {
            let object = (try? JSONEncoder().encode(event)).flatMap { try? JSONSerialization.jsonObject(with: $0) }
            let members = object as? [String: Any] ?? [:]
            self.init(
                kind: "event", code: members["event"] as? String ?? "", title: event.asset,
                key: event.key?.raw,
                members: members)
        }
    }

    /// An object as JSON, its members in order.
    func jsonText(_ members: [String: Any]) -> String {
        let data = try? JSONSerialization.data(
            withJSONObject: members, options: [.sortedKeys, .withoutEscapingSlashes])
        return data.map { String(decoding: $0, as: UTF8.self) } ?? "{}"
    }
#endif
