import Foundation
import LatchkeyCore
import LatchkeyFairPlay
import LatchkeyHTTP
import LatchkeyServices
import LatchkeyTesting
import LatchkeyVendors
import Testing

// Faults between app and service: settings, token, SPC, certificate, clock, host, redirect, TLS, envelope, terms.
extension DoctorSetup {
    static let settings = [
        DoctorSetup("the app gives no token", "missingCredential", silent: true) { $0.settings["token"] = nil },
        DoctorSetup("the app does not say where the certificate is", "missingSetting", silent: true) {
            $0.settings["certificateURL"] = nil
        },
        DoctorSetup("there is neither an SPC nor a device", "licenseNotAsked", silent: true, words: ["--spc FILE"]) {
            $0.device = []
        },
    ]

    static let tokens = [
        DoctorSetup("the VuDRM token is a year old", "expired", silent: true) {
            let policy = Data(count: 16).base64EncodedString()
            $0.settings["token"] = "demo|2020-01-01T00:00:00Z|\(policy)|\(String(repeating: "ab", count: 20))"
        },
        DoctorSetup("the JSON Web Token's time is over", "expired", silent: true, .azure) {
            $0.settings["token"] = jwt(#"{"exp":1500000000,"iss":"i","aud":"a"}"#)
        },
        DoctorSetup("the JSON Web Token's time has not come", "notYetValid", silent: true, .azure) {
            $0.settings["token"] = jwt(#"{"exp":4200000000,"nbf":4100000000,"iss":"i","aud":"a"}"#)
        },
        DoctorSetup("half of the VuDRM token is missing", "malformed", silent: true) {
            $0.settings["token"] = "demo|2026-01-01T00:00:00Z"
        },
        DoctorSetup("the token is for another key", "keyNotCovered", silent: true, .azure) {
            let claim =
                #""urn:microsoft:azure:mediaservices:contentkeyidentifier":"00000000-0000-4000-8000-000000000000""#
            $0.settings["token"] = jwt(#"{"exp":4200000000,"iss":"i","aud":"a",\#(claim)}"#)
        },
        DoctorSetup("the service refuses the token", "forbidden") { $0.service.faults.set(.status(403), at: .license) },
        DoctorSetup("the service does not know the token's signer", "unauthenticated") {
            $0.service.faults.set(.status(401), at: .license)
        },
    ]

    private static func jwt(_ claims: String) -> String {
        "eyJhbGciOiJIUzI1NiJ9.\(Data(claims.utf8).base64EncodedString().prefix { $0 != "=" }).c2ln"
    }

    static let recordedSPCs = [
        DoctorSetup(
            "the SPC was made for another certificate", "spcForOtherCertificate", silent: true, words: [" ≠ "]
        ) { stage in
            _ = try stage.makeOtherCredentials()
            try await stage.recordSPC(with: "other")
        },
        DoctorSetup("--spc has a CKC", "spcIsCKC", silent: true) { stage in
            try await stage.recordSPC()
            let ckc = try await stage.recordedCKC()
            try ckc.write(to: stage.folder.file("given.spc"))
        },
        DoctorSetup("--spc has the certificate", "spcIsCertificate", silent: true) { stage in
            let certificate = try Data(contentsOf: stage.folder.file("c/certificate.der"))
            try await stage.recordSPC { _ in certificate }
        },
        DoctorSetup("--spc has a certificate as PEM", "spcIsPEM", silent: true) {
            try await $0.recordSPC { _ in Data("-----BEGIN CERTIFICATE-----\nMIIB\n-----END CERTIFICATE-----\n".utf8) }
        },
        DoctorSetup("--spc has a private key", "spcIsPrivateKey", silent: true) { stage in
            let key = try Data(contentsOf: stage.folder.file("c/private-key.pem"))
            try await stage.recordSPC { _ in key }
        },
        DoctorSetup("--spc has the SPC as base64", "spcIsBase64", silent: true, words: ["base64 -d"]) {
            try await $0.recordSPC { Data($0.base64EncodedString(options: .lineLength64Characters).utf8) }
        },
        DoctorSetup("--spc has the SPC as hexadecimal digits", "spcIsHexadecimal", silent: true) {
            try await $0.recordSPC { Data($0.hexString.utf8) }
        },
        DoctorSetup("--spc has the body of a form", "spcIsForm", silent: true, words: ["field “spc”"]) {
            try await $0.recordSPC { spc in
                let text = spc.base64EncodedString().addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? ""
                return Data("spc=\(text)&assetId=demo".utf8)
            }
        },
        DoctorSetup("--spc has a JSON body", "spcIsJSON", silent: true, words: ["member “payload”"]) {
            try await $0.recordSPC { Data(#"{"contentId":"video","payload":"\#($0.base64EncodedString())"}"#.utf8) }
        },
        DoctorSetup("--spc has half of the SPC", "spcIsCutShort", silent: true) {
            try await $0.recordSPC { $0.prefix($0.count / 2) }
        },
        DoctorSetup("--spc has an empty file", "spcIsEmpty", silent: true) { try await $0.recordSPC { _ in Data() } },
    ]

    static let certificates = [
        DoctorSetup("there is no certificate at its address", "notFound", words: ["certificate's URL"]) {
            $0.service.faults.set(.status(404), at: .certificate)
        },
        DoctorSetup("the certificate's address gives a web page", "certificateMalformed") {
            $0.service.faults.set(.htmlPage, at: .certificate)
        },
        DoctorSetup("the device's credentials are not the service's", "foreignCertificate", silent: true) { stage in
            _ = try stage.makeOtherCredentials()
            stage.device = ["--credentials", stage.folder.path("other")]
        },
        DoctorSetup(
            "the license service has another certificate than the app", "serviceHasOtherCertificate",
            words: ["Set certificateURL"], .genericRaw
        ) { stage in
            let other = try stage.makeOtherCredentials()
            let authority = LicenseAuthority(
                module: KeyServerModule(credentials: [other.credential], derivation: InsecureTestDerivation()),
                keys: stage.service.environment.authority.keys, pool: WorkerPool(threads: 1))
            let service = GenericService(ServiceEnvironment(authority: authority))
            stage.settings["licenseURL"] = try stage.serve { await service.respond(to: $0) } + "/license"
        },
    ]

    static let network = [
        DoctorSetup("this machine's clock is behind the service's", "clocksDiffer", .genericRaw) { stage in
            let date = "Fri, 01 Jan 2100 00:00:00 GMT"
            stage.settings["licenseURL"] = try stage.serve { _ in HTTPResponse(status: 401, headers: ["Date": date]) }
        },
        DoctorSetup("the playlist names a host that the app did not allow", "hostRefused") { stage in
            let host = stage.live.address.split(separator: "://").last.map(String.init) ?? ""
            try stage.rewritePlaylists { $1.replacing("skd://\(host)/", with: "skd://keys.example.com/") }
        },
        DoctorSetup("nothing listens where licenses are", "cannotConnect", words: ["127.0.0.1"], .genericRaw) {
            $0.settings["licenseURL"] = "http://127.0.0.1:1/license"
        },
        DoctorSetup("the license's host has no address", "hostNotFound", words: ["has no address"], .genericRaw) {
            $0.settings["licenseURL"] = "https://no-such-host.invalid/license"
        },
        DoctorSetup(
            "the content token needs a session, and no address of one is set", "needsSession", silent: true,
            words: ["Set sessionURL"], .nagra
        ) { $0.settings["sessionURL"] = nil },
        DoctorSetup("the license's address redirects with 302", "redirectRefused", words: ["/elsewhere"], .genericRaw) {
            $0.settings["licenseURL"] = try $0.serve { _ in
                HTTPResponse(status: 302, headers: ["Location": "/elsewhere?t=1"])
            }
        },
        DoctorSetup(
            "the license's address redirects to a stranger", "hostRefused",
            words: ["https://stranger.example/licenses"],
            .genericRaw
        ) {
            $0.settings["licenseURL"] = try $0.serve { _ in
                HTTPResponse(status: 307, headers: ["Location": "https://stranger.example/licenses?token=x"])
            }
        },
        DoctorSetup(
            "the certificate's server signed its TLS certificate itself", "serverCertificateUntrusted", silent: true
        ) { stage in
            let authority = try TestAuthority(in: stage.folder)
            let tls = HTTPServerConfiguration.TLS(
                certificate: try String(contentsOfFile: authority.server, encoding: .utf8),
                privateKey: try String(contentsOfFile: authority.serverKey, encoding: .utf8))
            stage.settings["certificateURL"] = try stage.serve(tls: tls) + "/certificate"
            stage.options = []
        },
        DoctorSetup("the certificate's port speaks http, not https", "serverWithoutTLS", silent: true) { stage in
            stage.settings["certificateURL"] = "https://127.0.0.1:\(try stage.servePlain())/certificate"
            stage.options = []
        },
        DoctorSetup("the service is down for half a minute", "serverTransient", words: ["come back in 30 s"]) {
            $0.service.faults.set(.unavailable(retryAfter: .seconds(30)), at: .license)
        },
        DoctorSetup("the service breaks the connection", "connectionLost") {
            $0.service.faults.set(.connectionReset, at: .license)
        },
    ]

    static let envelopes = [
        DoctorSetup("the license's address gives a web page", "licenseMalformed", words: ["an HTML page"]) {
            $0.service.faults.set(.htmlPage, at: .license)
        },
        DoctorSetup("the license is empty", "licenseMalformed") { $0.service.faults.set(.emptyBody, at: .license) },
        DoctorSetup(
            "the service wants JSON and gets the SPC's bytes", "invalidRequest", words: ["wire request"], .genericRaw
        ) {
            $0.settings["licenseURL"] = $0.settings["licenseURL"]?.replacing("/license", with: "/json")
        },
        DoctorSetup(
            "the service wraps the CKC in JSON of its own", "licenseMalformed", words: ["member “key”"], .genericRaw
        ) { stage in
            try await stage.recordSPC()
            let ckc = try await stage.recordedCKC().base64EncodedString()
            stage.device = ["--credentials", stage.folder.path("c")]
            stage.settings["licenseURL"] = try stage.serve { _ in
                HTTPResponse(contentType: "application/json", bytes: Data(#"{"status":1,"key":"\#(ckc)"}"#.utf8))
            }
        },
        DoctorSetup("the CKC arrives cut short", "licenseMalformed") {
            $0.service.faults.set(.truncatedPayload, at: .license)
        },
        DoctorSetup("the CKC arrives garbled", "licenseMalformed") {
            $0.service.faults.set(.garbagePayload, at: .license)
        },
        DoctorSetup("the CKC answers another SPC", "wrongSPC", .genericRaw) { stage in
            try await stage.recordSPC()
            let ckc = try await stage.recordedCKC()
            stage.device = ["--credentials", stage.folder.path("c")]
            stage.settings["licenseURL"] = try stage.serve { _ in
                HTTPResponse(contentType: "application/octet-stream", bytes: ckc)
            }
        },
        DoctorSetup("the lease ends before a renewal can come", "shortTerms") { stage in
            let service = try #require(stage.service.base as? VuDRMService)
            stage.settings["token"] = service.token(policy: ["type": "l", "duration_lease": "5"]).revealedText
        },
    ]
}
