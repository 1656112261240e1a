import Foundation
import LatchkeyCore
import LatchkeyServer

/// A demonstration's output: as JSON for programs, as text with commands for people.
struct DemoSheet: Encodable {
    let fairplay, certificate, clearkey, speke, commonEncryption, cpix, metrics, console: String
    /// The file of the operator's key.
    let adminKeyFile: String
    /// A stream to play, with keys from this server, and the page that plays it in a browser.
    let stream, player: String
    /// A fresh viewer's token.
    let token: String
    let packagerToken: String
    /// The folder of the test credentials, for a simulated device.
    let credentials: String

    init(_ addresses: ServerAddresses, _ folder: DemoFolder, token: Secret) {
        let tenant = "\(addresses.players.url)/t/demo"
        let packagers = "\(addresses.packagers.url)/t/demo"
        fairplay = "\(tenant)/fairplay"
        certificate = "\(tenant)/certificate"
        clearkey = "\(tenant)/clearkey"
        speke = "\(packagers)/speke"
        commonEncryption = "\(packagers)/keys/common-encryption"
        cpix = "\(packagers)/cpix"
        metrics = "\(addresses.operators.url)/metrics"
        console = "\(addresses.operators.url)/"
        adminKeyFile = folder.adminKeyFile
        stream = addresses.players.url + DemoMedia.stream
        player = addresses.players.url + DemoMedia.page
        self.token = token.revealedText
        packagerToken = folder.packagerKey.revealedText
        credentials = folder.credentials
    }

    /// The same for people.
    func text(folder: String) -> String {
        """
        A license server with test credentials, a tenant named demo and a database, all in \(folder).

        Play, in a browser and with a simulated device:
          \(player)
          latchkey play \(stream) --vendor latchkey \\
            --set licenseURL=\(fairplay) --set certificateURL=\(certificate) \\
            --set token=$(latchkey-server token --folder \(folder)) --credentials \(credentials) --loopback-http

        Package (SPEKE 2.0 and 2.1, or Shaka Packager's JSON):
          curl -H 'X-API-Key: \(packagerToken)' -H 'X-Speke-Version: 2.0' --data-binary @request.xml \(speke)
          packager … --enable_widevine_encryption --key_server_url \(commonEncryption)

        Look:
          curl \(metrics)
          \(console)
          Sign in with the key in \(adminKeyFile)
        """
    }
}
