import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeySimulation
import LatchkeyVendors

/// The test server's answers besides services and media: a page that explains it, its health, certificates and new tokens.
struct ServeFront: Sendable {
    let services: [any VendorService]
    let certificates: [FairPlayCertificate]
    /// The credentials folders, in the order of the certificates.
    let folders: [String]
    let media: MediaFolder
    let scheme: String

    /// - `/`: the page.
    /// - `/health`: JSON, status 200 while the server runs.
    /// - `/certificates/N.der`, `.pem`: the certificate of the N-th credentials, from 1 on.
    /// - `/tokens/SERVICE`: a new token.
    func answer(_ request: HTTPRequest) -> HTTPResponse? {
        let parts = request.path.split(separator: "/").map(String.init)
        guard parts.count < 3, request.method == "GET" || request.method == "HEAD" else { return nil }
        switch (parts.first, parts.last) {
        case (nil, _):
            let page = Data(sheet(at: "\(scheme)://\(request.hostName)").page.utf8)
            return HTTPResponse(contentType: "text/html; charset=utf-8", bytes: page)
        case ("health", "health"):
            let json = #"{"status":"ok","services":\#(services.count)}"# + "\n"
            return HTTPResponse(contentType: "application/json", bytes: Data(json.utf8))
        case ("certificates", let name?): return certificate(name)
        case ("tokens", let name?): return token(name)
        default: return nil
        }
    }

    private func certificate(_ name: String) -> HTTPResponse? {
        let parts = name.split(separator: ".")
        guard parts.count == 2, let number = Int(parts[0]), certificates.indices.contains(number - 1) else {
            return nil
        }
        let der = certificates[number - 1].der
        switch parts[1] {
        case "der": return HTTPResponse(contentType: "application/pkix-cert", bytes: der)
        case "pem":
            let text = der.base64EncodedString(options: [.lineLength64Characters, .endLineWithLineFeed])
            return .text("-----BEGIN CERTIFICATE-----\n\(text)\n-----END CERTIFICATE-----\n")
        default: return nil
        }
    }

    private func token(_ name: String) -> HTTPResponse? {
        guard let service = services.first(where: { "\($0.identifier)" == name }) else { return nil }
        let token = service.demoToken()
        guard token.count > 0 else { return .text("\(name) takes no token.", status: 404) }
        var response = HTTPResponse.text(token.revealedText)
        response.headers["Cache-Control"] = "no-store"
        return response
    }
}

extension ServeFront {
    /// The facts for a client that reaches the server at an address.
    func sheet(at address: String) -> ServeSheet {
        ServeSheet(
            address: address,
            certificates: zip(certificates, folders).enumerated().map { index, pair in
                ServeSheet.Certificate(
                    url: "\(address)/certificates/\(index + 1).der", sha1: pair.0.fingerprint.hexString,
                    bits: pair.0.rsaBits, credentials: pair.1)
            },
            streams: media.streams, services: services.compactMap { entry($0, address) })
    }

    private func entry(_ service: any VendorService, _ address: String) -> ServeSheet.Service? {
        let profiles = VendorProfile.all.filter {
            services.serving($0.identifier)?.identifier == service.identifier
        }
        guard let profile = profiles.first(where: { $0.identifier == "\(service.identifier)" }) ?? profiles.first else {
            return nil
        }
        let mount = "\(address)/\(service.identifier)"
        var names = Set(profile.parameters.map(\.name))
        // The certificate's address serves as well, and is shorter.
        if names.contains("certificateURL") { names.remove("certificate") }
        let settings = service.parameters(at: mount, for: profile.identifier).filter { names.contains($0.key) }
            .mapValues { value in
                // A certificate in base64 is too long for a command line.
                value.count > 300 ? "@\(address)/certificates/1.pem" : value
            }
        let hasToken = names.contains("token") && service.demoToken().count > 0
        var isFixed = false
        if case .fixed = profile.contentIdentifierRule { isFixed = true }
        let stream = media.stream(namingKeys: !isFixed).map { "\(address)/media/\(service.identifier)/\($0.path)" }
        let tokens = hasToken ? "\(address)/tokens/\(service.identifier)" : nil
        return ServeSheet.Service(
            service: "\(service.identifier)", profile: profile.identifier, profiles: profiles.map(\.identifier),
            address: mount, settings: settings, tokens: tokens, tokenKeys: service.tokenKeys.mapValues(Self.text),
            stream: stream,
            play: stream.map { command($0, profile, settings, tokens, address) })
    }

    private func command(
        _ stream: String, _ profile: VendorProfile, _ settings: [String: String], _ tokens: String?, _ address: String
    ) -> String {
        var words = ["latchkey", "play", stream, "--vendor", profile.identifier]
        for (name, value) in settings.sorted(by: { $0.key < $1.key }) { words += ["--set", "\(name)=\(value)"] }
        if let tokens { words += ["--set", "token=@\(tokens)"] }
        words += ["--credentials", folders.first ?? "credentials"]
        // If no setting is an address of ours, only the playlist names the host.
        if !settings.values.contains(where: { $0.hasPrefix(address) }) {
            words += ["--allow-host", String(address.dropFirst(scheme.count + 3))]
        }
        if scheme == "http" { words.append("--loopback-http") }
        return words.map(Self.quotedForShell).joined(separator: " ")
    }

    private static func text(_ key: Secret) -> String {
        String(data: key.revealed, encoding: .utf8) ?? key.revealed.hexString
    }

    private static func quotedForShell(_ word: String) -> String {
        if word.wholeMatch(of: /[A-Za-z0-9_.,:=@%\/+-]+/) != nil { return word }
        return "'\(word.replacing("'", with: #"'\''"#))'"
    }
}

extension HTTPRequest {
    /// The host and port by which the client reached us; an invalid host is not repeated.
    fileprivate var hostName: String {
        let host = headers["Host"] ?? ""
        return host.wholeMatch(of: /[A-Za-z0-9.\-:\[\]]{1,255}/) == nil ? "127.0.0.1" : host
    }
}
