public import LatchkeyCore
import LatchkeyFairPlay

/// All emulated services, as strict as the vendors' pages: each accepts only tokens made with its `tokenKeys`, as its `demoToken` is, and
/// refuses requests that break a rule of its page.
public enum VendorServices {
    /// Makes one service of each vendor.
    ///
    /// - Parameters:
    ///   - authority: decides about licenses and makes them; shared by all.
    ///   - time: the clocks for tokens and delays. Defaults to the machine's.
    ///   - tokenLifetime: how long a token is valid after it was made. Defaults to each service's own lifetime.
    ///   - lenient: the rules whose breach passes with a warning, such as `vudrm/tokenOnce`. Defaults to none.
    ///   - log: takes one line per warning and refusal, without secrets. Defaults to nothing.
    public static func all(
        authority: LicenseAuthority, time: any Timekeeper = SystemTimekeeper(),
        tokenLifetime: Duration? = nil, lenient: Set<String> = [],
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> [any VendorService] {
        // Faults and warnings belong to one service, so each gets its own environment.
        makers.map { make in
            make(
                ServiceEnvironment(
                    authority: authority, time: time, tokenLifetime: tokenLifetime, lenient: lenient, log: log))
        }
    }

    /// Makes the service of one vendor.
    /// - Parameters:
    ///   - identifier: the service's name, such as `vudrm`.
    ///   - environment: the service's dependencies.
    /// - Returns: `nil` if no service has the name.
    public static func service(
        _ identifier: ServiceIdentifier, in environment: ServiceEnvironment
    ) -> (any VendorService)? {
        makers.lazy.map { $0(environment) }.first { $0.identifier == identifier }
    }

    private typealias Maker = @Sendable (ServiceEnvironment) -> any VendorService

    // The keys of these tokens are the same everywhere, so that a token service can be set up once. They protect nothing: anyone may read
    // them here, and `VendorService.tokenKeys` returns them.
    private static let makers: [Maker] = [
        { VuDRMService($0) },
        { signed(CloudDRMService($0), "clouddrm") },
        { signed(AzureService($0), "azure") },
        { UplynkService($0) },
        { EZDRMService($0) },
        { signed(VerimatrixService($0), "verimatrix") },
        { signed(TitaniumService($0), "titanium") },
        { ExpressPlayService($0) },
        { signed(NAGRAService($0), "nagra") },
        { with(AxinomService($0)) { $0.communicationKey = Secret("latchkey-demo-communication-key!") } },
        { with(KeyOSService($0)) { $0.signingKey = keyOSKey } },
        { with(DRMtodayService($0)) { $0.signingKey = demoKey("drmtoday") } },
        { with(DoveRunnerService($0)) { $0.accessKey = Secret("latchkey-demo-access-key-of-DEMO") } },
        { signed(IrdetoService($0), "irdeto") },
        { signed(MuxService($0), "mux") },
        { BrightcoveService($0) },
        { signed(JWPlatformService($0), "jwplatform") },
        { ConaxService($0) },
        { ComcastService($0) },
        { AnvatoService($0) },
        { KalturaService($0) },
        { GumletService($0) },
        { BunnyStreamService($0) },
        { SigmaService($0) },
        { NAVERService($0) },
        { signed(LatchkeyService($0), "latchkey") },
        { AppleSampleService($0) },
        { GenericService($0) },
    ]

    /// A new RSA key in every process, because a fixed one in the source would look like a secret.
    private static let keyOSKey = try? RSAPrivateKey(bits: 2_048).pem()

    private static func signed(_ service: some SignedTokenService, _ name: String) -> any VendorService {
        with(service) { $0.signingKey = demoKey(name) }
    }

    private static func demoKey(_ name: String) -> Secret { Secret("latchkey-demo-signing-key-\(name)") }

    private static func with<Service: VendorService>(_ service: Service, _ change: (inout Service) -> Void) -> Service {
        var service = service
        change(&service)
        return service
    }
}
