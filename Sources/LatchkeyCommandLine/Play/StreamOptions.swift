import Latchkey
import LatchkeyCore
import LatchkeyPlayback
import LatchkeyTerminal

/// The arguments for the stream to play and the device.
struct StreamOptions: Sendable {
    let playlist = Positional(
        "PLAYLIST", "a file, folder or URL; else a demo stream at the strict emulator of --vendor or --source", .files,
        .optional)
    let vendor = VendorOptions()
    let credentials = Option(
        "credentials", .path("DIR"), "the device's certificate and ASk, for tests only; if PLAYLIST has keys")

    /// - Parameters:
    ///   - terms: the license terms of the service in this process.
    ///   - reference: the hashes of the clear stream of PLAYLIST; `nil` if unknown.
    func setting(
        _ arguments: Arguments, terms: LicenseTerms = LicenseTerms(.unlimited), _ console: Console,
        reference: () throws -> ReferenceHashes? = { nil }
    ) throws -> PlaySetting {
        let transport = try vendor.transport(arguments, console)
        guard let address = try arguments.given(playlist).map(StreamFolder.playlist) else {
            if arguments.values[credentials.name] != nil {
                throw UsageError("--credentials goes with PLAYLIST; the service in this process makes its own.")
            }
            let profile = try vendor.plainProfile(arguments, console)
            let own = try vendor.own(arguments, profile, console)
            return try .builtIn(profile, terms: terms, own: own, over: transport) {
                try vendor.configured(arguments, completedBy: $0, console)
            }
        }
        guard let folder = arguments[credentials] else { throw UsageError.missing(credentials) }
        let configured = try vendor.configured(arguments, console)
        let device = try DeviceCredentials(folder, console)
        return PlaySetting(
            address: address, vendor: configured,
            credentials: try vendor.credentials(arguments, for: configured.profile, console),
            configuration: LoaderConfiguration(hosts: try vendor.hosts(arguments)), transport: transport,
            applicationSecret: device.secret, certificate: device.certificate, reference: try reference())
    }
}
