package import LatchkeyCore
@_spi(Integrations) package import LatchkeyVendors

/// Access to a record.
extension ContentKeyLoader {
    /// The loader's record; `nil` if its configuration records nothing.
    package var record: (any LoaderRecord)? { caller.record }

    package var integration: any VendorIntegration { caller.integration }
    package var configuration: LoaderConfiguration { caller.configuration }
    package var timekeeper: any Timekeeper { caller.timekeeper }
}
