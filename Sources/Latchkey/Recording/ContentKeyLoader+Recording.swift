package import LatchkeyCore
@_spi(Integrations) package import LatchkeyVendors

/// What a record is read with.
extension ContentKeyLoader {
    /// What the loader remembers; `nil` if its configuration records nothing.
    package var record: (any LoaderRecord)? { caller.record }

    package var integration: any VendorIntegration { caller.integration }
    package var configuration: LoaderConfiguration { caller.configuration }
    package var timekeeper: any Timekeeper { caller.timekeeper }
}
