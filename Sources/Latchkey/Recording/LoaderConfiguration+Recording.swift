@_spi(Integrations) package import LatchkeyVendors

extension LoaderConfiguration {
    /// Whether a loader keeps a record for support: its latest events, requests and replies, without secrets.
    ///
    /// The product `LatchkeySupport` has the record, and the pages made of it, so that an app without it carries neither the code nor the
    /// memory.
    public struct Recording: Sendable {
        /// Makes the record of one loader, from its integration and its own seed; `nil` for none.
        package let record: (@Sendable (any VendorIntegration, UInt64) -> any LoaderRecord)?

        /// Records nothing.
        public static let off = Self(record: nil)

        package init(record: (@Sendable (any VendorIntegration, UInt64) -> any LoaderRecord)?) { self.record = record }
    }
}
