import Foundation
import LatchkeyCore

#if canImport(FoundationNetworking)
    import FoundationNetworking
#endif

extension Redaction {
    /// The secrets that a request carries at the places that the redaction names: header fields, the address, JSON, form, raw body.
    ///
    /// For values that an app's own integration puts into a request, and for a request that a player sent.
    func secrets(in request: URLRequest) -> [Secret] {
        let headers = (request.allHTTPHeaderFields ?? [:]).filter { isSecret(header: $0.key) }.map(\.value)
        // `Bearer abc` is a secret, and so is `abc`.
        let bare = headers.compactMap { $0.split(separator: " ").last.map(String.init) }
        let address = secrets(inURL: request.url?.absoluteString ?? "")
        return (headers + bare).map { Secret($0) } + address + secrets(inBodyOf: request)
    }

    private func secrets(inBodyOf request: URLRequest) -> [Secret] {
        guard let body = request.httpBody, !body.isEmpty else { return [] }
        if let json = try? JSONSerialization.jsonObject(with: body) {
            return secretTexts(in: json, isSecret: false).map { Secret($0) }
        }
        guard request.value(forHTTPHeaderField: "Content-Type")?.hasPrefix("application/x-www-form") == true else {
            return [Secret(body)]
        }
        return items(of: String(decoding: body, as: UTF8.self)).filter { isSecret(field: $0.name) }
            .map { Secret($0.value) }
    }

    private func secretTexts(in json: Any, isSecret: Bool) -> [String] {
        switch json {
        case let text as String: isSecret ? [text] : []
        case let list as [Any]: list.flatMap { secretTexts(in: $0, isSecret: isSecret) }
        case let object as [String: Any]:
            object.flatMap { secretTexts(in: $0.value, isSecret: isSecret || self.isSecret(field: $0.key)) }
        default: []
        }
    }

    private func items(of text: String) -> [(name: String, value: String)] {
        text.split(separator: "&").map { item in
            let parts = item.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
            let value = parts.count > 1 ? String(parts[1]) : ""
            return (String(parts.first ?? ""), value.removingPercentEncoding ?? value)
        }
    }
}
