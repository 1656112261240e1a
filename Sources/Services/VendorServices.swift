public import LatchkeyCore
public import LatchkeyServer

/// All emulated services, each as it comes.
public enum VendorServices {
    /// Makes one service of each vendor.
    ///
    /// - Parameters:
    ///   - authority: decides about licenses and makes them; shared by all.
    ///   - time: the clocks for tokens and delays; the machine's unless given.
    ///   - log: takes one line per warning, without secrets; dropped unless given.
    public static func all(
        authority: LicenseAuthority, time: any Timekeeper = SystemTimekeeper(),
        log: @escaping @Sendable (String) -> Void = { _ in }
    ) -> [any VendorService] {
        // Faults and warnings belong to one service, so each gets an environment of its own.
        let environment = { ServiceEnvironment(authority: authority, time: time, log: log) }
        return [
            VuDRMService(environment()),
            CloudDRMService(environment()),
            AzureService(environment()),
            UplynkService(environment()),
            EZDRMService(environment()),
            VerimatrixService(environment()),
            TitaniumService(environment()),
            ExpressPlayService(environment()),
            NAGRAService(environment()),
            AxinomService(environment()),
            KeyOSService(environment()),
            DRMtodayService(environment()),
            DoveRunnerService(environment()),
            IrdetoService(environment()),
            MuxService(environment()),
            BrightcoveService(environment()),
            JWPlatformService(environment()),
            ConaxService(environment()),
            ComcastService(environment()),
            AnvatoService(environment()),
            KalturaService(environment()),
            GumletService(environment()),
            AppleSampleService(environment()),
            GenericService(environment()),
        ]
    }
}
